package dev.unhang.collector;

import dev.unhang.collector.sample.HostFacts;
import dev.unhang.collector.sample.NodeIdentity;
import dev.unhang.collector.serve.CollectorMetrics;
import dev.unhang.collector.serve.CollectorServer;
import dev.unhang.collector.serve.LocalCommands;
import dev.unhang.settings.BadSettingsException;
import dev.unhang.settings.Settings;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The collector's command line. Exit: 0 well, 1 something is wrong, 2 usage or configuration. Reads the real clocks and
 * hands them to everything below.
 */
@Command(
        name = "unhang collector",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Reads this node's counters once a second and publishes them to Kafka.")
public final class Main implements Callable<Integer> {

    @Option(names = "--config", paramLabel = "FILE", description = "The settings, a YAML file.")
    private @Nullable Path config;

    @Option(names = "--check", description = "Check the settings and end.")
    private boolean check;

    @Option(names = "--print-sample", description = "Read every source, print what was read as text, and end.")
    private boolean printSample;

    private final PrintStream out;
    private final PrintStream err;
    private final Map<String, String> environment;

    Main(PrintStream out, PrintStream err, Map<String, String> environment) {
        this.out = out;
        this.err = err;
        this.environment = environment;
    }

    public static void main(String[] args) {
        System.exit(run(System.out, System.err, System.getenv(), args));
    }

    static int run(PrintStream out, PrintStream err, Map<String, String> environment, String... args) {
        CommandLine line = new CommandLine(new Main(out, err, environment));
        line.setOut(new java.io.PrintWriter(out, true, java.nio.charset.StandardCharsets.UTF_8));
        line.setErr(new java.io.PrintWriter(err, true, java.nio.charset.StandardCharsets.UTF_8));
        return line.execute(args);
    }

    @Override
    public Integer call() throws InterruptedException {
        Path file = config;
        HostFacts host = new HostFacts(Path.of("/"));
        CollectorConfig read;
        try {
            if (file == null && !printSample) {
                err.println("unhang collector: --config FILE must be given; --help tells more");
                return 2;
            }
            Settings settings = file == null ? Settings.none(environment) : Settings.read(file, environment);
            read = CollectorConfig.read(settings, host.hostname(), !printSample);
        } catch (BadSettingsException e) {
            err.println(e.getMessage());
            return 2;
        } catch (IOException e) {
            err.println("the settings " + file + " cannot be read: " + e);
            return 2;
        }
        if (check) {
            out.println(file + " is well: node " + read.node() + " publishes to "
                    + read.kafka().bootstrapServers());
            return 0;
        }
        try {
            return printSample ? print(read, host) : serve(read, host);
        } catch (IOException e) {
            err.println("unhang collector: " + e.getMessage());
            return 1;
        }
    }

    private int print(CollectorConfig read, HostFacts host) throws IOException, InterruptedException {
        Sources sources = Sources.of(read, Clock.systemUTC(), System::nanoTime);
        OnePrint print = new OnePrint(identity(read, host), host.inventory(), read, sources);
        out.print(print.read(Clock.systemUTC(), System::nanoTime));
        return 0;
    }

    private static int serve(CollectorConfig read, HostFacts host) throws IOException, InterruptedException {
        Sources sources = Sources.of(read, Clock.systemUTC(), System::nanoTime);
        Collector collector = new Collector(
                read, identity(read, host), host.inventory(), sources.all(), Clock.systemUTC(), System::nanoTime);
        LocalCommands commands = new LocalCommands(collector, sources.lease());
        CollectorServer server = new CollectorServer(commands, new CollectorMetrics(collector));
        CountDownLatch ended = new CountDownLatch(1);
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            collector.close("the collector was told to end");
                            server.close();
                            ended.countDown();
                        },
                        "goodbye"));
        collector.start();
        if (read.serve().enabled()) {
            server.listen(read.serve().listen().host(), read.serve().listen().port());
        }
        Path socket = read.serve().socket();
        if (socket != null) {
            server.listen(socket);
        }
        ended.await();
        return 0;
    }

    private static NodeIdentity identity(CollectorConfig read, HostFacts host) throws IOException {
        String version = Main.class.getPackage().getImplementationVersion();
        return new NodeIdentity(
                read.node(),
                host.bootId(),
                System.currentTimeMillis(),
                host.machineId(),
                version == null ? "development" : version);
    }
}

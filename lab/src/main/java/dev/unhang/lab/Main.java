package dev.unhang.lab;

import dev.unhang.lab.bench.BenchCommand;
import dev.unhang.lab.compose.ComposeCommand;
import dev.unhang.lab.local.LocalCommand;
import dev.unhang.lab.simulate.SimulateCommand;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Where the lab's commands start. Exit: 0 well, 1 something is wrong, 2 usage or configuration. */
public final class Main {

    @Command(name = "unhang", mixinStandardHelpOptions = true, description = "The lab's commands.")
    private static final class Root {}

    @Command(
            name = "broker",
            mixinStandardHelpOptions = true,
            sortOptions = false,
            description = "The embedded Kafka broker alone, until Ctrl-C. For development: one replica, no passwords.")
    private static final class Broker implements Callable<Integer> {

        @Option(names = "--host", defaultValue = "127.0.0.1", description = "Where it listens (${DEFAULT-VALUE}).")
        private String host = "127.0.0.1";

        @Option(names = "--port", defaultValue = "9719", description = "${DEFAULT-VALUE} unless given.")
        private int port;

        @Option(names = "--data", required = true, paramLabel = "DIR", description = "Where the log lives.")
        private Path data = Path.of("");

        private final PrintStream out;
        private final PrintStream err;

        Broker(PrintStream out, PrintStream err) {
            this.out = out;
            this.err = err;
        }

        @Override
        public Integer call() throws InterruptedException {
            try {
                EmbeddedKafka kafka = new EmbeddedKafka(data, host, port);
                kafka.start();
                Runtime.getRuntime().addShutdownHook(new Thread(kafka::stop, "broker-stop"));
                out.println("broker on " + kafka.bootstrapServers() + ", its log in " + data.toAbsolutePath());
                new CountDownLatch(1).await();
                return 0;
            } catch (IOException e) {
                err.println("unhang broker: " + e.getMessage());
                return 2;
            }
        }
    }

    private Main() {}

    public static void main(String[] arguments) {
        PrintStream out = utf8(FileDescriptor.out);
        PrintStream err = utf8(FileDescriptor.err);
        Path home = Path.of(System.getProperty("unhang.home", "")).toAbsolutePath();
        CommandLine root = new CommandLine(new Root())
                .addSubcommand(new LocalCommand(home, out, err, System.getenv()))
                .addSubcommand(new Broker(out, err))
                .addSubcommand(new BenchCommand(home, out, err))
                .addSubcommand(new ComposeCommand(home, out, err))
                .addSubcommand(new SimulateCommand(out, err));
        root.setOut(new PrintWriter(out, true, StandardCharsets.UTF_8));
        root.setErr(new PrintWriter(err, true, StandardCharsets.UTF_8));
        System.exit(root.execute(arguments));
    }

    /** Java 17 would print in the locale's charset. */
    private static PrintStream utf8(FileDescriptor descriptor) {
        return new PrintStream(new FileOutputStream(descriptor), true, StandardCharsets.UTF_8);
    }
}

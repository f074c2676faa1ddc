package dev.unhang.lab.cost;

import com.google.protobuf.ByteString;
import dev.unhang.collector.Collector;
import dev.unhang.collector.CollectorConfig;
import dev.unhang.collector.Sources;
import dev.unhang.collector.sample.HostFacts;
import dev.unhang.collector.sample.NodeIdentity;
import dev.unhang.collector.serve.CollectorMetrics;
import dev.unhang.collector.serve.CollectorServer;
import dev.unhang.collector.serve.LocalCommands;
import dev.unhang.events.Topics;
import dev.unhang.lab.EmbeddedKafka;
import dev.unhang.settings.Settings;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;

/**
 * Measures what the collector costs: a process of its own with the launcher's JVM flags, at 1 Hz, with 8 scripted GPUs,
 * NICs and ranks beside this machine's own sources, publishing to a real broker and scraped each 15 s. CPU and resident
 * memory are the kernel's, read from {@code /proc} of that process.
 *
 * <pre>CollectorCost [SECONDS]</pre>
 *
 * Exit 1 when it needs 2 % of one core or more, or 120 MiB or more.
 */
public final class CollectorCost {

    private static final int DEVICES = 8;
    private static final int WARM_UP_SECONDS = 30;
    private static final int SCRAPE_SECONDS = 15;
    private static final int TICKS_PER_SECOND = 100;
    private static final double MAX_PERCENT = 2;
    private static final double MAX_MIB = 120;

    private CollectorCost() {}

    /** What was measured; {@code percent} of one core, {@code mib} resident, at most. */
    public record Cost(double percent, double mib, int seconds) {
        public boolean within() {
            return percent < MAX_PERCENT && mib < MAX_MIB;
        }
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        if (arguments.length == 3 && "--collector".equals(arguments[0])) {
            collect(arguments[1], Integer.parseInt(arguments[2]));
            return;
        }
        int seconds = arguments.length == 0 ? 60 : Integer.parseInt(arguments[0]);
        Path home = Path.of(System.getProperty("unhang.home", "")).toAbsolutePath();
        Cost cost = measure(home, seconds);
        out.printf(
                "the collector needs %.2f %% of one core and %.1f MiB resident (%d s at 1 Hz, %d GPUs, %d NICs, %d ranks)%n",
                cost.percent(), cost.mib(), cost.seconds(), DEVICES, DEVICES, DEVICES);
        System.exit(cost.within() ? 0 : 1);
    }

    /** {@code home}: the checkout, for the collector's JVM flags. */
    public static Cost measure(Path home, int seconds) throws Exception {
        Path data = Files.createTempDirectory("unhang-cost");
        int port = EmbeddedKafka.freePort("127.0.0.1");
        try (EmbeddedKafka kafka = new EmbeddedKafka(data, 0)) {
            kafka.start();
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()))) {
                new Topics(admin, "unhang.").ensure();
            }
            Process collector = new ProcessBuilder(List.of(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "@" + home.resolve("collector/src/main/launch/jvm.options"),
                            "-cp",
                            System.getProperty("java.class.path"),
                            CollectorCost.class.getName(),
                            "--collector",
                            kafka.bootstrapServers(),
                            Integer.toString(port)))
                    .inheritIO()
                    .start();
            try {
                watch(collector, port, WARM_UP_SECONDS);
                long before = ticks(collector);
                long began = System.nanoTime();
                double mib = watch(collector, port, seconds);
                double used = (double) (ticks(collector) - before) / TICKS_PER_SECOND;
                double passed = (System.nanoTime() - began) / 1e9;
                return new Cost(100 * used / passed, mib, seconds);
            } finally {
                collector.destroy();
                if (!collector.waitFor(10, TimeUnit.SECONDS)) {
                    collector.destroyForcibly();
                }
            }
        }
    }

    /** Scrapes as Prometheus would; the most that was resident, in MiB. */
    private static double watch(Process collector, int port, int seconds) throws Exception {
        HttpRequest scrape = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"))
                .build();
        HttpClient client = HttpClient.newHttpClient();
        double most = 0;
        for (int second = 1; second <= seconds; second++) {
            Thread.sleep(1000);
            if (!collector.isAlive()) {
                throw new IllegalStateException("the collector ended with " + collector.exitValue());
            }
            if (second % SCRAPE_SECONDS == 0) {
                HttpResponse<String> answer = client.send(scrape, HttpResponse.BodyHandlers.ofString());
                if (!answer.body().contains("unhang_gpu_energy_joules_total")) {
                    throw new IllegalStateException("no GPUs are served: " + answer.statusCode());
                }
            }
            most = Math.max(most, residentKib(collector) / 1024.0);
        }
        return most;
    }

    private static long ticks(Process process) throws Exception {
        String stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
        List<String> fields = List.of(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1));
        // utime and stime are the 14th and 15th; the first two are cut off.
        return Long.parseLong(fields.get(11)) + Long.parseLong(fields.get(12));
    }

    private static long residentKib(Process process) throws Exception {
        return Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }

    /** The measured process: as the collector's own main, with a scripted node beside the sources of this machine. */
    private static void collect(String servers, int port) throws Exception {
        Settings settings = Settings.none(Map.of(
                "UNHANG_KAFKA_BOOTSTRAP_SERVERS",
                servers,
                "UNHANG_HEARTBEAT_LISTEN",
                "127.0.0.1:" + EmbeddedKafka.freePort("127.0.0.1"),
                "UNHANG_SERVE_SOCKET",
                "none"));
        CollectorConfig config = CollectorConfig.read(settings, "cost", true);
        HostFacts host = new HostFacts(Path.of("/"));
        NodeIdentity identity =
                new NodeIdentity("cost", host.bootId(), System.currentTimeMillis(), ByteString.EMPTY, "cost");
        List<Collector.Paced> sources = new ArrayList<>(
                Sources.of(config, Clock.systemUTC(), System::nanoTime).all());
        sources.add(new Collector.Paced(new ScriptedNode(DEVICES), config.interval()));
        Collector collector =
                new Collector(config, identity, host.inventory(), sources, Clock.systemUTC(), System::nanoTime);
        CollectorServer server = new CollectorServer(
                new LocalCommands(collector, dev.unhang.collector.serve.GpuLease.none()),
                new CollectorMetrics(collector));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            collector.close("measured");
            server.close();
        }));
        collector.start();
        server.listen("127.0.0.1", port);
        new CountDownLatch(1).await();
    }
}

package dev.unhang.lab.local;

import dev.unhang.lab.EmbeddedKafka;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * `unhang local`: this machine, watched. The broker runs in this process, the collector and the healer are children with
 * their own options. Nothing is restarted: when one of them ends, all end, and its last lines are told. Stops in order,
 * the collector first, so that its goodbye is in the log. Exit: 0 stopped by the user, 1 something ended, 2 it could not
 * start as asked.
 */
@Command(
        name = "local",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = "Watches this machine: a Kafka broker, a collector and a healer, until Ctrl-C.")
public final class LocalCommand implements Callable<Integer> {

    private static final Duration READY_WITHIN = Duration.ofSeconds(90);
    private static final Duration SEEN_WITHIN = Duration.ofSeconds(20);
    private static final int STOP_SECONDS = 10;
    private static final int CLOSED_SECONDS = 5;

    /** What the settings that we write say; the user's environment must not say otherwise. */
    private static final Set<String> OURS = Set.of(
            "UNHANG_KAFKA_BOOTSTRAP_SERVERS",
            "UNHANG_KAFKA_TOPIC_PREFIX",
            "UNHANG_HEARTBEAT_LISTEN",
            "UNHANG_SERVE_LISTEN",
            "UNHANG_SERVE_SOCKET",
            "UNHANG_HTTP_HOST",
            "UNHANG_HTTP_PORT",
            "UNHANG_HTTP_TOKEN_FILE",
            "UNHANG_URL",
            "UNHANG_TOKEN");

    @Option(
            names = "--port",
            defaultValue = "8080",
            description = "Of the healer and its dashboard (${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "--data", paramLabel = "DIR", description = "Where the log lives (~/.local/state/unhang/local).")
    private @Nullable Path data;

    @Option(names = "--demo", paramLabel = "TRACE", description = "Also play a recorded trace, as its nodes would.")
    private @Nullable Path demo;

    @Option(names = "--kafka-port", defaultValue = "9719", description = "Of the broker (${DEFAULT-VALUE}).")
    private int kafkaPort;

    @Option(names = "--metrics-port", defaultValue = "9720", description = "Of the collector (${DEFAULT-VALUE}).")
    private int metricsPort;

    @Option(names = "--heartbeat-port", defaultValue = "9721", description = "UDP (${DEFAULT-VALUE}).")
    private int heartbeatPort;

    private final Path home;
    private final PrintStream out;
    private final PrintStream err;
    private final Map<String, String> environment;
    private final CountDownLatch over = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final List<Child> children = Collections.synchronizedList(new ArrayList<>());
    private @Nullable EmbeddedKafka broker;
    private @Nullable DemoThread player;
    private boolean stopping;

    /** {@code home} is the folder of the launcher. */
    public LocalCommand(Path home, PrintStream out, PrintStream err, Map<String, String> environment) {
        this.home = home;
        this.out = out;
        this.err = err;
        this.environment = environment;
    }

    @Override
    public Integer call() throws InterruptedException {
        LocalPorts ports = new LocalPorts(port, kafkaPort, metricsPort, heartbeatPort);
        Path state = LocalFolder.state(environment);
        Path trace = demo;
        if (trace != null && !Files.isReadable(trace)) {
            err.println("unhang local: --demo " + trace + " cannot be read: give the path of a trace");
            return 2;
        }
        List<String> busy = ports.busy();
        if (!busy.isEmpty()) {
            err.println("unhang local: " + String.join("\nunhang local: ", busy));
            return 2;
        }
        try (LocalFolder folder =
                LocalFolder.open(data == null ? state.resolve("local") : data.toAbsolutePath(), state)) {
            Runtime.getRuntime().addShutdownHook(new Thread(this::stoppedByUser, "local-stop"));
            try {
                return run(folder, ports, trace);
            } finally {
                stop();
            }
        } catch (IOException e) {
            err.println("unhang local: " + e.getMessage());
            return 2;
        } finally {
            closed.countDown();
        }
    }

    private int run(LocalFolder folder, LocalPorts ports, @Nullable Path trace)
            throws IOException, InterruptedException {
        HealerProbe healer = new HealerProbe(ports.healer(), folder.token());
        folder.writeSettings(ports);
        say("starting the broker on " + LocalPorts.HOST + ":" + ports.broker() + ", its log in " + folder.brokerData());
        if (!startBroker(folder.brokerData(), ports.broker())) {
            return 0;
        }
        start("healer", folder.healerConfig());
        start("collector", folder.collectorConfig());
        if (!waitFor(healer::ready, READY_WITHIN)) {
            return explain("the healer is not ready after " + READY_WITHIN.toSeconds() + " s");
        }
        if (!waitFor(healer::watches, SEEN_WITHIN)) {
            if (!allAlive()) {
                return explain("");
            }
            say("no node is seen yet; `./unhang status` tells when there is one");
        }
        if (trace != null) {
            play(trace, ports);
        }
        tell(ports);
        over.await();
        return explain("");
    }

    private synchronized boolean startBroker(Path folder, int brokerPort) throws IOException {
        if (stopping) {
            return false;
        }
        EmbeddedKafka starting = new EmbeddedKafka(folder, brokerPort);
        starting.start();
        broker = starting;
        return true;
    }

    private synchronized void start(String daemon, Path config) throws IOException {
        if (stopping) {
            return;
        }
        say("starting the " + daemon);
        Child child = Child.start(
                daemon, List.of(home.resolve("unhang").toString(), daemon, "--config", config.toString()), OURS, out);
        children.add(child);
        child.onEnd(ended -> over.countDown());
    }

    private synchronized void play(Path trace, LocalPorts ports) {
        if (stopping) {
            return;
        }
        player = new DemoThread(trace, LocalPorts.HOST + ":" + ports.broker(), this::say);
        player.start();
    }

    /** False when the time is over, or a child is. */
    private boolean waitFor(BooleanSupplier reached, Duration within) throws InterruptedException {
        long deadline = System.nanoTime() + within.toNanos();
        while (System.nanoTime() < deadline) {
            if (reached.getAsBoolean()) {
                return true;
            }
            if (over.await(200, TimeUnit.MILLISECONDS)) {
                return false;
            }
        }
        return false;
    }

    private void tell(LocalPorts ports) throws IOException, InterruptedException {
        Process status = new ProcessBuilder(home.resolve("unhang").toString(), "status")
                .redirectErrorStream(true)
                .start();
        status.getOutputStream().close();
        String shown = new String(status.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        status.waitFor();
        out.println();
        out.print(shown);
        out.println("""

                This machine is watched. In another terminal:
                  %1$s status              what is watched, and how it is
                  %1$s incidents           what is wrong
                  %1$s explain ID          why, with the evidence
                The healer is on http://%2$s:%3$d, the collector's metrics on http://%2$s:%4$d/metrics,
                heartbeats of training loops go to %2$s:%5$d/udp. Ctrl-C ends all of it; the log stays.
                """.formatted(
                        home.resolve("unhang"), LocalPorts.HOST, ports.healer(), ports.metrics(), ports.heartbeats()));
    }

    private boolean allAlive() {
        return children.stream().allMatch(Child::isAlive);
    }

    /** What ended, or {@code otherwise}. */
    private int explain(String otherwise) throws InterruptedException {
        synchronized (this) {
            if (stopping) {
                return 0;
            }
        }
        String said = otherwise;
        for (Child child : List.copyOf(children)) {
            if (!child.isAlive()) {
                said = child.lastWords();
                break;
            }
        }
        err.println("unhang local: " + said);
        err.println("unhang local: stopping the rest");
        return 1;
    }

    /**
     * Ctrl-C is the usual end and no failure, but a JVM that a signal ends says 130: so the hook ends it itself. Does
     * nothing when the main thread ends by itself, since its exit code says more.
     */
    private void stoppedByUser() {
        if (!stop()) {
            return;
        }
        try {
            closed.await(CLOSED_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** Once: on Ctrl-C by the hook, else by the main thread. The second caller waits for the first and gets false. */
    private synchronized boolean stop() {
        if (stopping) {
            return false;
        }
        stopping = true;
        try {
            if (player != null) {
                player.end();
            }
            List<Child> order = new ArrayList<>(children);
            Collections.reverse(order);
            for (Child child : order) {
                if (child.isAlive()) {
                    say("stopping the " + child.name());
                    if (!child.stop(STOP_SECONDS)) {
                        say("the " + child.name() + " did not end within " + STOP_SECONDS + " s and was killed");
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (broker != null) {
            say("stopping the broker");
            broker.close();
        }
        over.countDown();
        return true;
    }

    private void say(String sentence) {
        out.println("local | " + sentence);
    }
}

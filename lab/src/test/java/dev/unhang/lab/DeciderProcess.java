package dev.unhang.lab;

import dev.unhang.healer.Daemon;
import dev.unhang.healer.HealerConfig;
import dev.unhang.healer.intake.Brokers;
import dev.unhang.healer.intake.IntakeMetrics;
import dev.unhang.settings.Kafka;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;

/** A healer without HTTP in a process of its own, for tests that kill it. */
final class DeciderProcess {

    private DeciderProcess() {}

    /** Runs until it is killed: BOOTSTRAP PREFIX ID JUDGES DECIDES. */
    public static void main(String[] arguments) throws InterruptedException {
        Brokers brokers = new Brokers(new Kafka(arguments[0], arguments[1], Map.of()));
        HealerConfig config = new HealerConfig(
                arguments[2], brokers, Boolean.parseBoolean(arguments[3]), Boolean.parseBoolean(arguments[4]));
        try (Daemon daemon = Daemon.start(config, IntakeMetrics.NONE, Clock.systemUTC(), System::nanoTime)) {
            if (!daemon.awaitEnd()) {
                System.exit(1);
            }
        }
    }

    static Process start(String bootstrap, String prefix, String id, boolean judges, boolean decides, Path log)
            throws IOException {
        return new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx96m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Dorg.slf4j.simpleLogger.log.org.apache.kafka=error",
                        "-cp",
                        System.getProperty("java.class.path"),
                        DeciderProcess.class.getName(),
                        bootstrap,
                        prefix,
                        id,
                        Boolean.toString(judges),
                        Boolean.toString(decides)))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
    }
}

package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.Topic;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.Watch;
import dev.unhang.healer.Daemon;
import dev.unhang.healer.HealerConfig;
import dev.unhang.healer.intake.IntakeMetrics;
import dev.unhang.lab.fleet.SimulatedFleet;
import dev.unhang.settings.Settings;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Twenty healthy nodes with real collectors, a real broker in a process of its own, a healer: whatever happens to the
 * broker and to its clock, and when all collectors are upgraded, nothing is found. Then a rank stops while the broker is
 * away, and is suspected within 5 s after it is back.
 */
class LogTimeIT {

    private static final int NODES = 20;
    private static final Duration SETTLE = Duration.ofSeconds(12);

    @TempDir
    Path data;

    @Test
    void aBrokerThatStopsDiesOrJumpsInTimeIsNoFindingAndAStallThatItHidIsSeenAtOnce() throws Exception {
        try (KafkaProcess broker = new KafkaProcess(data, "127.0.0.1", 0)) {
            broker.start();
            String brokers = broker.bootstrapServers();
            Settings settings =
                    Settings.none(Map.of("UNHANG_KAFKA_BOOTSTRAP_SERVERS", brokers, "UNHANG_HEALER_ID", "healer-1"));
            HealerConfig config = HealerConfig.read(settings, "healer-1");
            try (Daemon healer = Daemon.start(config, IntakeMetrics.NONE, Clock.systemUTC(), System::nanoTime);
                    SimulatedFleet fleet = new SimulatedFleet(brokers, Topic.DEFAULT_PREFIX, NODES, 2, true, 7);
                    LogTail log = started(brokers, fleet)) {
                assertThat(log.readUntil(() -> watched(log) == NODES, Duration.ofSeconds(60)))
                        .as("all nodes are watched")
                        .isTrue();
                log.readFor(SETTLE);
                nothingFound(log, "at peace");

                for (long hours : List.of(1L, -1L, 0L)) {
                    broker.shiftStamps(hours * 3_600_000);
                    log.readFor(SETTLE);
                    nothingFound(log, "the broker's clock stepped to " + hours + " h");
                }

                for (int i = 0; i < NODES; i++) {
                    fleet.upgrade(i);
                }
                log.readFor(SETTLE);
                nothingFound(log, "all collectors were upgraded");

                broker.stop();
                log.readFor(Duration.ofSeconds(60));
                broker.start();
                log.readFor(SETTLE);
                nothingFound(log, "the broker was stopped for 60 s");

                broker.kill();
                broker.start();
                log.readFor(SETTLE);
                nothingFound(log, "the broker was killed and restarted");

                broker.stop();
                fleet.job().stop(11, fleet.now());
                log.readFor(Duration.ofSeconds(20));
                int before = log.decisions().size();
                broker.start();
                long back = System.nanoTime();
                assertThat(log.readUntil(() -> log.decisions().size() > before, Duration.ofSeconds(30)))
                        .as("the stopped rank is suspected")
                        .isTrue();
                double seconds = (System.nanoTime() - back) / 1e9;
                System.out.printf("suspected %.1f s after the broker was back%n", seconds);
                JournalEntry first = log.decisions().get(before);
                assertThat(first.getTo()).isEqualTo(IncidentState.INCIDENT_SUSPECTED);
                assertThat(first.getIncident()).startsWith("job-hang-");
                assertThat(seconds).isLessThan(5);
                assertThat(healer.trouble()).isEmpty();
                assertThat(log.decisions())
                        .extracting(JournalEntry::getIncident)
                        .containsOnly(first.getIncident());
            }
        }
    }

    private static LogTail started(String brokers, SimulatedFleet fleet) throws Exception {
        fleet.start();
        return new LogTail(brokers, Topic.DEFAULT_PREFIX);
    }

    private static long watched(LogTail log) {
        return log.of(NodeReport.class).stream()
                .filter(report -> report.getWatch() == Watch.WATCH_WATCHED)
                .map(NodeReport::getNode)
                .distinct()
                .count();
    }

    private static void nothingFound(LogTail log, String when) {
        assertThat(log.findings()).as("findings: %s", when).isEmpty();
        assertThat(log.decisions()).as("decisions: %s", when).isEmpty();
        assertThat(log.of(NodeReport.class).stream()
                        .collect(Collectors.toMap(NodeReport::getNode, NodeReport::getWatch, (a, b) -> b)))
                .as("nodes: %s", when)
                .hasSize(NODES)
                .allSatisfy((node, watch) -> assertThat(watch).isEqualTo(Watch.WATCH_WATCHED));
        assertThat(log.of(Covered.class)).as("covered: %s", when).isNotEmpty();
    }
}

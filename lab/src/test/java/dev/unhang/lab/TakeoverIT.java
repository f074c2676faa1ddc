package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.Topic;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.Position;
import dev.unhang.events.v1.StateChange;
import dev.unhang.events.v1.StateValue;
import dev.unhang.healer.journal.StateReader;
import dev.unhang.lab.fleet.SimulatedFleet;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two healers, each able to decide and to own partitions. The one that decides is killed (-9) again and again, each time
 * with a fault on its way, so also in the middle of incidents. It goes on: every fault has exactly one incident, none is
 * lost, none flaps, the journal applied from its start is the state, and decisions come again within 10 s.
 */
class TakeoverIT {

    private static final int NODES = 40;
    private static final int KILLS = Integer.getInteger("unhang.takeover.kills", 3);
    private static final Duration AGAIN = Duration.ofSeconds(10);

    @TempDir
    Path folder;

    @Test
    void aKilledDeciderIsFollowedWithoutDoubleLossOrFlap() throws Exception {
        try (KafkaProcess broker = new KafkaProcess(folder.resolve("kafka"), "127.0.0.1", 0)) {
            broker.start();
            String brokers = broker.bootstrapServers();
            try (HealerProcess a = new HealerProcess("healer-a", folder, brokers);
                    HealerProcess b = new HealerProcess("healer-b", folder, brokers)) {
                a.start();
                b.start();
                try (SimulatedFleet fleet = new SimulatedFleet(brokers, Topic.DEFAULT_PREFIX, NODES, 1, true, 3)) {
                    fleet.start();
                    run(brokers, fleet, List.of(a, b));
                }
            }
        }
    }

    private static void run(String brokers, SimulatedFleet fleet, List<HealerProcess> healers) throws Exception {
        try (LogTail log = new LogTail(brokers, Topic.DEFAULT_PREFIX)) {
            assertThat(log.readUntil(() -> nodes(log) == NODES, Duration.ofSeconds(90)))
                    .as("all nodes are reported")
                    .isTrue();
            log.readFor(Duration.ofSeconds(12));
            assertThat(log.decisions()).isEmpty();

            List<Double> again = new ArrayList<>();
            for (int kill = 0; kill < KILLS; kill++) {
                Position position = position(brokers);
                HealerProcess decider = healers.stream()
                        .filter(healer -> healer.id().equals(position.getDecider()))
                        .findFirst()
                        .orElseThrow();
                String subject = "nic:sim-" + kill + "/0000:5c:00.0/0";
                fleet.node(kill).nicUp(false);
                if (kill % 2 == 1) {
                    // In the middle of an incident: it is suspected and not yet confirmed.
                    assertThat(log.readUntil(() -> opened(log, subject) == 1, AGAIN))
                            .isTrue();
                }
                int before = log.of(JournalEntry.class).size();
                decider.kill();
                long killed = System.nanoTime();
                assertThat(log.readUntil(() -> log.of(JournalEntry.class).size() > before, AGAIN))
                        .as("decisions again within 10 s of kill %s", kill)
                        .isTrue();
                again.add((System.nanoTime() - killed) / 1e9);
                assertThat(log.readUntil(() -> reached(log, subject, IncidentState.INCIDENT_CONFIRMED), AGAIN))
                        .as("the fault behind kill %s is confirmed", kill)
                        .isTrue();
                decider.start();
                fleet.node(kill).nicUp(true);
                log.readFor(Duration.ofSeconds(6));
                assertThat(position(brokers).getEpoch()).isGreaterThan(position.getEpoch());
            }
            System.out.printf("decisions again after a kill -9, seconds: %s%n", again);

            assertThat(log.readUntil(
                            () -> {
                                for (int i = 0; i < KILLS; i++) {
                                    if (!reached(
                                            log, "nic:sim-" + i + "/0000:5c:00.0/0", IncidentState.INCIDENT_RESOLVED)) {
                                        return false;
                                    }
                                }
                                return true;
                            },
                            Duration.ofMinutes(2)))
                    .as("every fault is resolved")
                    .isTrue();
            for (int i = 0; i < KILLS; i++) {
                assertThat(opened(log, "nic:sim-" + i + "/0000:5c:00.0/0"))
                        .as("incidents of fault %s", i)
                        .isEqualTo(1);
            }
            assertThat(log.decisions().stream()
                            .map(JournalEntry::getIncident)
                            .filter(id -> !id.startsWith("nic-fault-"))
                            .distinct())
                    .as("incidents that no fault explains")
                    .isEmpty();
            isOneHistory(log);
            assertThat(applied(log)).isEqualTo(state(brokers));
        }
    }

    /** Each entry goes on where the one before left its incident, and each offset is decided once. */
    private static void isOneHistory(LogTail log) {
        Map<String, IncidentState> states = new HashMap<>();
        long lastOffset = -1;
        int lastIndex = -1;
        for (JournalEntry entry : log.of(JournalEntry.class)) {
            if (!entry.getIncident().isEmpty()) {
                assertThat(entry.getFrom())
                        .as("from, in %s", entry)
                        .isEqualTo(states.getOrDefault(entry.getIncident(), IncidentState.INCIDENT_STATE_NONE));
                states.put(entry.getIncident(), entry.getTo());
                boolean later = entry.getInboxOffset() > lastOffset
                        || (entry.getInboxOffset() == lastOffset && entry.getIndex() > lastIndex);
                assertThat(later).as("decided once: %s", entry).isTrue();
                lastOffset = entry.getInboxOffset();
                lastIndex = entry.getIndex();
            }
        }
    }

    private static Map<String, StateValue> applied(LogTail log) {
        Map<String, StateValue> applied = new TreeMap<>();
        for (JournalEntry entry : log.of(JournalEntry.class)) {
            for (StateChange change : entry.getChangesList()) {
                if (change.hasValue()) {
                    applied.put(change.getKey(), change.getValue());
                } else {
                    applied.remove(change.getKey());
                }
            }
        }
        applied.remove("position");
        return applied;
    }

    private static long nodes(LogTail log) {
        return log.of(NodeReport.class).stream()
                .map(NodeReport::getNode)
                .distinct()
                .count();
    }

    private static long opened(LogTail log, String subject) {
        return log.decisions().stream()
                .filter(entry -> entry.getFrom() == IncidentState.INCIDENT_STATE_NONE)
                .filter(entry -> about(entry, subject))
                .count();
    }

    private static boolean reached(LogTail log, String subject, IncidentState state) {
        return log.decisions().stream().anyMatch(entry -> entry.getTo() == state && about(entry, subject));
    }

    private static boolean about(JournalEntry entry, String subject) {
        return entry.getChangesList().stream()
                .anyMatch(change -> change.getValue().getIncident().getSubject().equals(subject));
    }

    private static Position position(String brokers) throws Exception {
        StateValue position = read(brokers).get("position");
        return position == null ? Position.getDefaultInstance() : position.getPosition();
    }

    private static Map<String, StateValue> state(String brokers) throws Exception {
        Map<String, StateValue> state = new TreeMap<>(read(brokers));
        state.remove("position");
        return state;
    }

    private static Map<String, StateValue> read(String brokers) throws Exception {
        try (KafkaConsumer<String, byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", brokers, "isolation.level", "read_committed"),
                new StringDeserializer(),
                new ByteArrayDeserializer())) {
            return StateReader.read(consumer, Topic.DEFAULT_PREFIX);
        }
    }
}

package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.Topic;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.StateChange;
import dev.unhang.events.v1.StateValue;
import dev.unhang.healer.journal.StateReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** What must hold of any journal, whoever was killed while it was written. Holds nothing. */
final class JournalHistory {

    private JournalHistory() {}

    /** Entries stand in the order of the inbox, each once, under epochs that rise; each incident goes on where it stood. */
    static void isOne(List<JournalEntry> journal) {
        Map<String, IncidentState> states = new HashMap<>();
        JournalEntry last = JournalEntry.newBuilder().setInboxOffset(-1).build();
        for (JournalEntry entry : journal) {
            boolean later = entry.getInboxOffset() > last.getInboxOffset()
                    || (entry.getInboxOffset() == last.getInboxOffset() && entry.getIndex() == last.getIndex() + 1);
            assertThat(later)
                    .as("decided once and in order: %s after %s", entry, last)
                    .isTrue();
            assertThat(entry.getEpoch()).isGreaterThanOrEqualTo(last.getEpoch());
            last = entry;
            if (!entry.getIncident().isEmpty()) {
                assertThat(entry.getFrom())
                        .as("goes on where it stood: %s", entry)
                        .isEqualTo(states.getOrDefault(entry.getIncident(), IncidentState.INCIDENT_STATE_NONE));
                states.put(entry.getIncident(), entry.getTo());
            }
        }
    }

    /** The states that the incidents on a subject went through, in order, each named once in a row. */
    static List<IncidentState> of(List<JournalEntry> journal, String subject) {
        List<IncidentState> states = new ArrayList<>();
        for (JournalEntry entry : journal) {
            boolean about = entry.getChangesList().stream()
                    .anyMatch(change ->
                            change.getValue().getIncident().getSubject().equals(subject));
            if (about && entry.getFrom() != entry.getTo()) {
                states.add(entry.getTo());
            }
        }
        return states;
    }

    /** The journal applied from its start. */
    static Map<String, StateValue> applied(List<JournalEntry> journal) {
        Map<String, StateValue> applied = new TreeMap<>();
        for (JournalEntry entry : journal) {
            for (StateChange change : entry.getChangesList()) {
                if (change.hasValue()) {
                    applied.put(change.getKey(), change.getValue());
                } else {
                    applied.remove(change.getKey());
                }
            }
        }
        return applied;
    }

    /** What {@code unhang.state} holds, the position included. */
    static Map<String, StateValue> state(String brokers) {
        try (KafkaConsumer<String, byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", brokers, "isolation.level", "read_committed"),
                new StringDeserializer(),
                new ByteArrayDeserializer())) {
            return new TreeMap<>(StateReader.read(consumer, Topic.DEFAULT_PREFIX));
        }
    }
}

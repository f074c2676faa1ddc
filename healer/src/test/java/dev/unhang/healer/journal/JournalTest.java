package dev.unhang.healer.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.PauseSwitch;
import dev.unhang.events.v1.Position;
import dev.unhang.events.v1.StateChange;
import dev.unhang.events.v1.StateValue;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class JournalTest {

    private static final TopicPartition STATE = new TopicPartition("unhang.state", 0);
    private static final Position POSITION = Position.newBuilder()
            .setInboxOffset(8)
            .setLastStampMs(5_000)
            .setEpoch(3)
            .build();

    private final MockProducer<String, byte[]> producer =
            new MockProducer<>(true, null, new StringSerializer(), new ByteArraySerializer());
    private final JournalWriter writer = new JournalWriter(producer, "unhang.", "h1", null);

    @BeforeEach
    void begin() {
        writer.fenceOthers();
    }

    @Test
    void aStepIsOneTransactionOfJournalStateAndPosition() {
        JournalEntry first = entry(0, change("switch/pause", pause(true)), change("node/n1", node("n1")));
        JournalEntry second = entry(1, change("switch/pause", pause(false)), change("node/n2", null));
        writer.write(List.of(first, second), POSITION);

        assertThat(producer.commitCount()).isEqualTo(1);
        assertThat(producer.history())
                .extracting(record -> record.topic() + " " + record.key() + " " + record.timestamp())
                .containsExactly(
                        "unhang.journal null 5000",
                        "unhang.journal null 5000",
                        "unhang.state node/n1 5000",
                        "unhang.state switch/pause 5000",
                        "unhang.state node/n2 5000",
                        "unhang.state position 5000");
        assertThat(producer.history().get(3).value()).isEqualTo(pause(false).toByteArray());
        assertThat(producer.history().get(4).value()).isNull();
    }

    @Test
    void afterItWasFencedNothingIsWritten() {
        producer.fenceProducer();
        assertThatThrownBy(() -> writer.write(List.of(), POSITION)).isInstanceOf(ProducerFencedException.class);
        assertThat(producer.history()).isEmpty();
    }

    @Test
    void whatWasWrittenIsReadBackAndTombstonesTakeOut() {
        writer.write(List.of(entry(0, change("node/n1", node("n1")), change("node/n2", node("n2")))), POSITION);
        writer.write(List.of(entry(1, change("node/n1", null))), POSITION);

        assertThat(StateReader.read(stateOf(producer.history()), "unhang."))
                .isEqualTo(Map.of(
                        "node/n2",
                        node("n2"),
                        "position",
                        StateValue.newBuilder().setPosition(POSITION).build()));
    }

    @Test
    void aStateThatCannotBeReadStopsTheDeciderWithItsPlace() {
        MockConsumer<String, byte[]> consumer = consumer(1);
        consumer.schedulePollTask(
                () -> consumer.addRecord(new ConsumerRecord<>("unhang.state", 0, 0, "node/n1", new byte[] {1, 2, 3})));
        assertThatThrownBy(() -> StateReader.read(consumer, "unhang."))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("record 0 of unhang.state under key node/n1");
    }

    private static MockConsumer<String, byte[]> stateOf(List<ProducerRecord<String, byte[]>> written) {
        List<ProducerRecord<String, byte[]>> state = written.stream()
                .filter(record -> record.topic().equals("unhang.state"))
                .toList();
        MockConsumer<String, byte[]> consumer = consumer(state.size());
        consumer.schedulePollTask(() -> {
            long offset = 0;
            for (ProducerRecord<String, byte[]> record : state) {
                consumer.addRecord(new ConsumerRecord<>(
                        record.topic(),
                        0,
                        offset++,
                        record.timestamp(),
                        TimestampType.CREATE_TIME,
                        0,
                        0,
                        record.key(),
                        record.value(),
                        record.headers(),
                        java.util.Optional.empty()));
            }
        });
        return consumer;
    }

    private static MockConsumer<String, byte[]> consumer(long end) {
        MockConsumer<String, byte[]> consumer = new MockConsumer<>("earliest");
        consumer.updateBeginningOffsets(Map.of(STATE, 0L));
        consumer.updateEndOffsets(Map.of(STATE, end));
        return consumer;
    }

    private static JournalEntry entry(int index, StateChange... changes) {
        return JournalEntry.newBuilder()
                .setInboxOffset(7)
                .setStampMs(5_000)
                .setIndex(index)
                .addAllChanges(List.of(changes))
                .build();
    }

    private static StateChange change(String key, @org.jspecify.annotations.Nullable StateValue value) {
        StateChange.Builder change = StateChange.newBuilder().setKey(key);
        return value == null ? change.build() : change.setValue(value).build();
    }

    private static StateValue pause(boolean paused) {
        return StateValue.newBuilder()
                .setPause(PauseSwitch.newBuilder().setPaused(paused))
                .build();
    }

    private static StateValue node(String name) {
        return StateValue.newBuilder()
                .setNode(NodeState.newBuilder().setNode(name))
                .build();
    }
}

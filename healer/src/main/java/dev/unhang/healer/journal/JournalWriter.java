package dev.unhang.healer.journal;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.v1.Grant;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.Position;
import dev.unhang.events.v1.StateChange;
import dev.unhang.events.v1.StateValue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Writes one step of the decider in one Kafka transaction: its entries to {@code unhang.journal}, the whole value under
 * each key that they change to {@code unhang.state}, and the position, which stands in the state alone because it is the
 * log's bookmark and no decision, and to {@code unhang.commands} what a command of it tells its executor. All of it or nothing is seen by readers, so after a crash the next decider goes on
 * exactly where the last whole step ended.
 *
 * <p>Records bear the stamp of the inbox record that caused them, and maps in them are sorted, so that a replay is equal
 * to the byte. Confined to the decider's thread. Each method throws what Kafka throws; after that the writer is of no
 * use and the decider's role ends, since whether a commit went through is known only from the state.
 */
public final class JournalWriter implements AutoCloseable {

    private static final String POSITION = "position";
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(5);

    private final Producer<String, byte[]> producer;
    private final String journal;
    private final String state;
    private final String commands;
    private final String source;
    private final @Nullable Seal seal;

    /**
     * @param producer transactional, and not initialised yet
     * @param healer id of this healer
     * @param seal to sign grants with; null only where nothing can be granted
     */
    public JournalWriter(Producer<String, byte[]> producer, String prefix, String healer, @Nullable Seal seal) {
        this.producer = producer;
        this.journal = Topic.JOURNAL.name(prefix);
        this.state = Topic.STATE.name(prefix);
        this.commands = Topic.COMMANDS.name(prefix);
        this.source = "/healers/" + healer;
        this.seal = seal;
    }

    /** Fences any other decider: its open transaction is aborted and it can write no more. Only a decider may call it. */
    public void fenceOthers() {
        producer.initTransactions();
    }

    /** Writes a step; returns once the broker has it whole. */
    public void write(List<JournalEntry> entries, Position position) {
        producer.beginTransaction();
        Map<String, StateRecord> changed = new LinkedHashMap<>();
        for (JournalEntry entry : entries) {
            String id = "journal/" + entry.getInboxOffset() + '/' + entry.getIndex();
            String key = entry.getIncident().isEmpty() ? null : entry.getIncident();
            send(journal, key, entry, entry, id, entry.getStampMs());
            for (CommandRecords.Outgoing record : CommandRecords.of(entry)) {
                send(record, id, entry.getStampMs());
            }
            for (StateChange change : entry.getChangesList()) {
                changed.remove(change.getKey());
                changed.put(
                        change.getKey(),
                        new StateRecord(change.hasValue() ? change.getValue() : null, entry.getStampMs(), id));
            }
        }
        changed.forEach((key, record) -> send(
                state,
                key,
                StateValue.getDefaultInstance(),
                record.value(),
                record.id().replaceFirst("journal", "state"),
                record.stampMs()));
        StateValue bookmark = StateValue.newBuilder().setPosition(position).build();
        send(
                state,
                POSITION,
                bookmark,
                bookmark,
                "position/" + position.getInboxOffset() + '/' + position.getEpoch(),
                position.getLastStampMs());
        producer.commitTransaction();
    }

    @Override
    public void close() {
        producer.close(CLOSE_WITHIN);
    }

    private record StateRecord(@Nullable StateValue value, long stampMs, String id) {}

    private void send(
            String topic, @Nullable String key, Message type, @Nullable Message value, String id, long stampMs) {
        Headers headers = Codec.headers(type, id, source, Instant.ofEpochMilli(stampMs));
        byte[] bytes = value == null ? null : bytes(value);
        // A failed send fails the commit, which throws: nobody needs to look at the future.
        var unused = producer.send(new ProducerRecord<>(topic, 0, stampMs, key, bytes, headers));
    }

    private void send(CommandRecords.Outgoing record, String id, long stampMs) {
        Message message = record.message();
        if (message instanceof Grant grant) {
            if (seal == null) {
                throw new IllegalStateException("a command was granted, and there is no key to sign it with");
            }
            message = seal.sign(grant);
        }
        String ceId = id.replaceFirst("journal", "command") + '/' + record.commandId();
        Headers headers = Codec.headers(message, ceId, source, Instant.ofEpochMilli(stampMs));
        // Keyed, so that the broker's own partitioner puts it where the node's actuator listens.
        var unused =
                producer.send(new ProducerRecord<>(commands, null, stampMs, record.key(), bytes(message), headers));
    }

    static byte[] bytes(Message message) {
        byte[] bytes = new byte[message.getSerializedSize()];
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        out.useDeterministicSerialization();
        try {
            message.writeTo(out);
        } catch (IOException e) {
            throw new UncheckedIOException("an array cannot fail", e);
        }
        out.checkNoSpaceLeft();
        return bytes;
    }
}

package dev.unhang.lab;

import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * What a test sees of the log from the outside: all records of the inbox and the journal, from their start. Confined to
 * the test's thread.
 */
final class LogTail implements AutoCloseable {

    /** A record and when this reader got it, ns of {@link System#nanoTime}. */
    record Seen(Message message, long offset, long stampMs, long atNs) {}

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final List<Seen> seen = new ArrayList<>();

    LogTail(String brokers, String prefix) {
        consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", brokers, "isolation.level", "read_committed", "fetch.max.wait.ms", 50),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
        List<TopicPartition> partitions = List.of(
                new TopicPartition(Topic.INBOX.name(prefix), 0), new TopicPartition(Topic.JOURNAL.name(prefix), 0));
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
    }

    /** Reads for a while. */
    void readFor(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() < end) {
            turn();
        }
    }

    /** Reads until something holds; false when it did not within the time. */
    boolean readUntil(BooleanSupplier holds, Duration most) {
        long end = System.nanoTime() + most.toNanos();
        while (!holds.getAsBoolean()) {
            if (System.nanoTime() > end) {
                return false;
            }
            turn();
        }
        return true;
    }

    /** Findings of the inbox that say that something is wrong. */
    List<Finding> findings() {
        return of(Finding.class).stream()
                .filter(finding -> finding.getStanding() != Standing.WELL)
                .toList();
    }

    /** Journal entries that concern an incident. */
    List<JournalEntry> decisions() {
        return of(JournalEntry.class).stream()
                .filter(entry -> !entry.getIncident().isEmpty())
                .toList();
    }

    <M extends Message> List<M> of(Class<M> type) {
        return seen.stream()
                .map(Seen::message)
                .filter(type::isInstance)
                .map(type::cast)
                .toList();
    }

    List<Seen> seen() {
        return seen;
    }

    @Override
    public void close() {
        consumer.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ofSeconds(1)));
    }

    private void turn() {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(50))) {
            if (Codec.decode(record.headers(), record.value()) instanceof Codec.Decoded.Known known) {
                seen.add(new Seen(known.message(), record.offset(), record.timestamp(), System.nanoTime()));
            }
        }
    }
}

package dev.unhang.healer.intake;

import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All that a poll loop writes beside transactions. What is said with {@link #toInbox} must arrive: {@link #settle} waits
 * for it and throws if it did not, before the loop commits. What is {@link #tell told} in passing (pulses, covers, what
 * was learned) may be lost, since the next one follows in a second or a minute. Confined to the loop's thread; only the
 * producer's own thread sets the failure.
 */
final class Outbox implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Outbox.class);

    /** The longest value that a dead letter keeps whole; a topic holds records of 1 MiB, but compressed. */
    static final int MOST_WHOLE_BYTES = 15 << 20;

    /** What a dead letter keeps of a longer one. */
    static final int KEPT_BYTES = 64 << 10;

    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(5);

    private final Producer<String, byte[]> producer;
    private final String prefix;
    private final String healer;
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
    private long sent;

    Outbox(Producer<String, byte[]> producer, String prefix, String healer) {
        this.producer = producer;
        this.prefix = prefix;
        this.healer = healer;
    }

    /** Says something that must arrive; {@code stampMs} is the stamp of what caused it. */
    void toInbox(Message message, long stampMs) {
        send(record(Topic.INBOX, 0, message, stampMs), (metadata, error) -> {
            if (error != null) {
                failure.compareAndSet(null, error);
            }
        });
    }

    /** Tells something that may be lost. */
    void tell(Topic topic, int partition, Message message, long stampMs, Callback done) {
        send(record(topic, partition, message, stampMs), done);
    }

    /**
     * Keeps an unreadable record whole, with where it came from and why it could not be read. Of a value that is longer
     * than {@link #MOST_WHOLE_BYTES} the beginning is kept, and the header {@code unhang-bytes} tells how long it was.
     */
    void deadLetter(ConsumerRecord<String, byte[]> record, String reason, Runnable written) {
        RecordHeaders headers = new RecordHeaders(record.headers());
        add(headers, "unhang-reason", reason);
        add(headers, "unhang-topic", record.topic());
        add(headers, "unhang-partition", Integer.toString(record.partition()));
        add(headers, "unhang-offset", Long.toString(record.offset()));
        add(headers, "unhang-by", healer);
        String topic = Topic.DEAD_LETTERS.name(prefix);
        byte[] value = record.value();
        if (value != null && value.length > MOST_WHOLE_BYTES) {
            add(headers, "unhang-bytes", Integer.toString(value.length));
            value = Arrays.copyOf(value, KEPT_BYTES);
        }
        ProducerRecord<String, byte[]> letter =
                new ProducerRecord<>(topic, 0, record.timestamp(), record.key(), value, headers);
        send(letter, (metadata, error) -> {
            if (error == null) {
                written.run();
            } else if (error instanceof RecordTooLargeException) {
                log.warn(
                        "record {} of {} is unreadable and too large for {}: only this line is left of it",
                        record.offset(),
                        record.topic(),
                        topic);
            } else {
                failure.compareAndSet(null, error);
            }
        });
    }

    /** Waits until all that was said has arrived; throws if something did not. */
    void settle() {
        producer.flush();
        Exception failed = failure.get();
        if (failed != null) {
            throw new KafkaException("what was found could not be written to the log", failed);
        }
    }

    @Override
    public void close() {
        producer.close(CLOSE_WITHIN);
    }

    private void send(ProducerRecord<String, byte[]> record, Callback done) {
        // The callback tells of a failure, so the future is not needed.
        var unused = producer.send(record, done);
    }

    private ProducerRecord<String, byte[]> record(Topic topic, int partition, Message message, long stampMs) {
        Headers headers =
                Codec.headers(message, healer + '/' + sent++, "/healers/" + healer, Instant.ofEpochMilli(stampMs));
        return new ProducerRecord<>(topic.name(prefix), partition, stampMs, null, message.toByteArray(), headers);
    }

    private static void add(RecordHeaders headers, String key, String value) {
        headers.add(key, value.getBytes(StandardCharsets.UTF_8));
    }
}

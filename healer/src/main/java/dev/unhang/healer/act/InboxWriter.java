package dev.unhang.healer.act;

import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what happens at a scheduler straight to {@code unhang.inbox}, as a healer may. Owns a producer, which tries a
 * record for half a minute; what is lost then is told in the log, and the decider's own limits of time end what hung on
 * it. Any thread may call.
 */
final class InboxWriter implements Inbox, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(InboxWriter.class);
    private static final int BLOCK_MS = 2_000;
    private static final int REQUEST_MS = 10_000;
    private static final int DELIVERY_MS = 30_000;

    private final Producer<String, byte[]> producer;
    private final String topic;
    private final String healer;
    private final String run;
    private final Clock clock;
    private final AtomicLong sent = new AtomicLong();

    InboxWriter(Producer<String, byte[]> producer, String prefix, String healer, String run, Clock clock) {
        this.producer = producer;
        this.topic = Topic.INBOX.name(prefix);
        this.healer = healer;
        this.run = run;
        this.clock = clock;
    }

    /**
     * Opens a producer.
     *
     * @param client where Kafka is and how to speak to it
     * @param run unique for each opening, so that no two records have one id
     */
    static InboxWriter open(Map<String, Object> client, String prefix, String healer, String run, Clock clock) {
        Map<String, Object> settings = new HashMap<>(client);
        settings.put(ProducerConfig.CLIENT_ID_CONFIG, healer + "-scheduler");
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        settings.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
        settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, BLOCK_MS);
        settings.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, REQUEST_MS);
        settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, DELIVERY_MS);
        settings.put(ProducerConfig.LINGER_MS_CONFIG, 2);
        settings.put(ProducerConfig.BUFFER_MEMORY_CONFIG, 16L << 20);
        return new InboxWriter(
                new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer()),
                prefix,
                healer,
                run,
                clock);
    }

    @Override
    public boolean say(Message message) {
        String id = healer + "/scheduler/" + run + '/' + sent.incrementAndGet();
        ProducerRecord<String, byte[]> record = new ProducerRecord<>(
                topic,
                0,
                null,
                null,
                message.toByteArray(),
                Codec.headers(message, id, "/healers/" + healer, clock.instant()));
        String type = message.getDescriptorForType().getName();
        try {
            // The callback tells of a failure, so the future is not needed.
            var unused = producer.send(record, (metadata, failure) -> {
                if (failure != null) {
                    log.warn("a {} could not be written to {}: {}", type, topic, failure.getMessage());
                }
            });
            return true;
        } catch (KafkaException | IllegalStateException e) {
            log.warn("a {} could not be written to {}: {}", type, topic, e.getMessage());
            return false;
        }
    }

    @Override
    public void settle() {
        producer.flush();
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(5));
    }
}

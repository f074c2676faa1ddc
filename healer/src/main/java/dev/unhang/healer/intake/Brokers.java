package dev.unhang.healer.intake;

import dev.unhang.events.Topic;
import dev.unhang.settings.Kafka;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Where Kafka is, and the clients that the healer opens there. A dead member of a group is noticed after 6 s; a broker
 * that does not answer fails a send after 30 s, and the role that sent starts anew. Any thread may call.
 *
 * @param kafka address, prefix of all topics, security
 */
public record Brokers(Kafka kafka) {

    private static final int SEND_WITHIN_MS = 30_000;
    private static final int REQUEST_WITHIN_MS = 10_000;

    /** What any client needs: address and security. */
    public Map<String, Object> client() {
        return kafka.client();
    }

    /** Of all topics. */
    public String prefix() {
        return kafka.topicPrefix();
    }

    /** Group of the owners of telemetry partitions. */
    public String telemetryGroup() {
        return "unhang-telemetry-" + prefix();
    }

    /** Group of the decider and its standbys. */
    public String deciderGroup() {
        return "unhang-decider-" + prefix();
    }

    /** A member of a group that commits by hand. {@code reset} is what to do without a valid offset. */
    Consumer<String, byte[]> member(String group, String clientId, String reset, int mostRecords) {
        Map<String, Object> settings = reading(clientId, reset);
        settings.put(ConsumerConfig.GROUP_ID_CONFIG, group);
        settings.put(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "classic");
        settings.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, 6_000);
        settings.put(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, 1_500);
        settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, mostRecords);
        settings.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, CooperativeStickyAssignor.class.getName());
        return new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer());
    }

    /** A reader without a group. */
    Consumer<String, byte[]> reader(String clientId) {
        return new KafkaConsumer<>(
                reading(clientId, "earliest"), new StringDeserializer(), new ByteArrayDeserializer());
    }

    /** Idempotent and not transactional: an open transaction would stall the readers of the inbox. */
    Producer<String, byte[]> plainProducer(String clientId) {
        Map<String, Object> settings = writing(clientId);
        // A record is as large as its broker took it only once it is compressed again: a dead letter must fit before.
        settings.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Outbox.MOST_WHOLE_BYTES + Topic.MAX_RECORD_BYTES);
        return new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer());
    }

    /** The decider's: one id for all healers of a prefix, so that initialising it fences the one before. */
    Producer<String, byte[]> transactionalProducer(String clientId) {
        Map<String, Object> settings = writing(clientId);
        settings.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, "unhang-decider-" + prefix());
        settings.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, SEND_WITHIN_MS);
        return new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer());
    }

    private Map<String, Object> reading(String clientId, String reset) {
        Map<String, Object> settings = client();
        settings.put(ConsumerConfig.CLIENT_ID_CONFIG, clientId);
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, reset);
        settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        return settings;
    }

    private Map<String, Object> writing(String clientId) {
        Map<String, Object> settings = client();
        settings.put(ProducerConfig.CLIENT_ID_CONFIG, clientId);
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        settings.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
        settings.put(ProducerConfig.LINGER_MS_CONFIG, 2);
        settings.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, REQUEST_WITHIN_MS);
        settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, SEND_WITHIN_MS);
        settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, SEND_WITHIN_MS);
        return settings;
    }
}

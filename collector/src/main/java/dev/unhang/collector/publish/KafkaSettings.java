package dev.unhang.collector.publish;

import dev.unhang.events.Topic;
import dev.unhang.settings.Kafka;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * The Kafka clients' settings. Sized for a record of 1 kB a second on a node that has better things to do.
 *
 * <p>A record that stays in the producer's own buffer grows old without saying so, because {@code queued_ms} was
 * written when it was handed over: so a delivery ends within {@link #DELIVERY_MS}, fails, and comes back to our
 * backlog. lz4 and not zstd: a zstd context takes megabytes of native memory for each batch, lz4 some 80 KiB.
 */
public final class KafkaSettings {

    static final int DELIVERY_MS = 3000;

    private KafkaSettings() {}

    /** What the operator's own file says is kept; what follows from the design stays ours. */
    public static Map<String, Object> producer(Kafka kafka, String node) {
        Map<String, Object> settings = client(kafka, node);
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        settings.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
        settings.put(ProducerConfig.LINGER_MS_CONFIG, 5);
        settings.put(ProducerConfig.BATCH_SIZE_CONFIG, 16 << 10);
        settings.put(ProducerConfig.BUFFER_MEMORY_CONFIG, 2L << 20);
        settings.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Topic.MAX_RECORD_BYTES);
        settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, DELIVERY_MS);
        settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, DELIVERY_MS);
        settings.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, DELIVERY_MS - 500);
        return settings;
    }

    /** For asking whether the topic exists. */
    public static Map<String, Object> admin(Kafka kafka, String node) {
        Map<String, Object> settings = client(kafka, node);
        settings.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, 5000);
        settings.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, 4000);
        return settings;
    }

    private static Map<String, Object> client(Kafka kafka, String node) {
        Map<String, Object> settings = kafka.client();
        settings.put(CommonClientConfigs.CLIENT_ID_CONFIG, "unhang-collector-" + node);
        settings.put(CommonClientConfigs.RECEIVE_BUFFER_CONFIG, 32 << 10);
        settings.put(CommonClientConfigs.SEND_BUFFER_CONFIG, 64 << 10);
        settings.put(CommonClientConfigs.RECONNECT_BACKOFF_MAX_MS_CONFIG, 2000L);
        settings.put(CommonClientConfigs.METRIC_REPORTER_CLASSES_CONFIG, List.of());
        settings.put(CommonClientConfigs.ENABLE_METRICS_PUSH_CONFIG, false);
        return settings;
    }
}

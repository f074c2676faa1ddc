package dev.unhang.healer.actuator;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Opens the producer of telemetry. Keyed by node, so that all that a node says is in one partition. */
final class Producers {

    private static final int SEND_WITHIN_MS = 10_000;
    private static final int REQUEST_WITHIN_MS = 5_000;

    private Producers() {}

    static Producer<String, byte[]> telemetry(Map<String, Object> client, String node) {
        Map<String, Object> settings = new HashMap<>(client);
        settings.put(ProducerConfig.CLIENT_ID_CONFIG, "unhang-actuator-" + node);
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        settings.put(ProducerConfig.LINGER_MS_CONFIG, 0);
        settings.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, REQUEST_WITHIN_MS);
        settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, SEND_WITHIN_MS);
        settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, SEND_WITHIN_MS);
        return new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer());
    }
}

package dev.unhang.healer.actuator;

import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.utils.Utils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The commands whose key is this node, from now on: it assigns itself the partition of its name, as producers choose it,
 * and begins at its end, so that no offer of before its start is ever seen. Confined to the actuator's thread.
 */
final class CommandReader implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(CommandReader.class);

    private static final Duration QUESTION = Duration.ofSeconds(5);

    private final Consumer<String, byte[]> consumer;
    private final String topic;
    private final String node;
    private boolean assigned;
    private boolean failing;

    CommandReader(Consumer<String, byte[]> consumer, String topic, String node) {
        this.consumer = consumer;
        this.topic = topic;
        this.node = node;
    }

    static Consumer<String, byte[]> consumer(Map<String, Object> client, String node) {
        Map<String, Object> settings = new HashMap<>(client);
        settings.put(ConsumerConfig.CLIENT_ID_CONFIG, "unhang-actuator-" + node);
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed"); // offers come in transactions
        settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest");
        settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        return new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer());
    }

    /** Which partition holds the records of a key. */
    static int partitionOf(String key, int partitions) {
        return Utils.toPositive(Utils.murmur2(key.getBytes(StandardCharsets.UTF_8))) % partitions;
    }

    /** Takes its place at the end; false while topic or broker are not there. Then it is asked again. */
    boolean begin(String telemetryTopic) {
        if (assigned) {
            return true;
        }
        try {
            // A producer that sends first would make a broker create the wrong topic.
            List<PartitionInfo> partitions = consumer.partitionsFor(topic, QUESTION);
            if (partitions == null
                    || partitions.isEmpty()
                    || consumer.partitionsFor(telemetryTopic, QUESTION).isEmpty()) {
                return false;
            }
            TopicPartition partition = new TopicPartition(topic, partitionOf(node, partitions.size()));
            consumer.assign(List.of(partition));
            consumer.seekToEnd(List.of(partition));
            long end = consumer.position(partition, QUESTION);
            log.info("commands of {} are read from offset {} of {} on", node, end, partition);
            assigned = true;
            return true;
        } catch (KafkaException e) {
            trouble(e);
            return false;
        }
    }

    /**
     * What came for this node; what cannot be read is told to the log and passed over. Nothing while the broker refuses or
     * is away.
     */
    List<Message> read(Duration patience) {
        List<Message> messages = new ArrayList<>();
        Iterable<ConsumerRecord<String, byte[]>> records;
        try {
            records = consumer.poll(patience);
            failing = false;
        } catch (KafkaException e) {
            trouble(e);
            return messages;
        }
        for (ConsumerRecord<String, byte[]> record : records) {
            if (node.equals(record.key())) {
                Codec.Decoded decoded = Codec.decode(record.headers(), record.value());
                if (decoded instanceof Codec.Decoded.Known known) {
                    messages.add(known.message());
                } else {
                    log.warn(
                            "the command at offset {} cannot be read and is passed over: {}", record.offset(), decoded);
                }
            }
        }
        return messages;
    }

    /** The last question failed; another at once would fail too. */
    boolean isFailing() {
        return failing;
    }

    /** The first of a series is told, not each. */
    private void trouble(KafkaException e) {
        if (!failing) {
            log.warn("commands cannot be read now: {}", e.getMessage());
        }
        failing = true;
    }

    @Override
    public void close() {
        consumer.close();
    }
}

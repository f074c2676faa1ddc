package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.unhang.events.Topic;
import dev.unhang.events.Topics;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedKafkaIT {

    private static final String INBOX = Topic.INBOX.name(Topic.DEFAULT_PREFIX);
    private static final long HOUR_MS = Duration.ofHours(1).toMillis();

    @TempDir
    Path data;

    @Test
    void whatWasWrittenIsThereAfterARestartInOneProcess() throws Exception {
        try (EmbeddedKafka kafka = new EmbeddedKafka(data, 0)) {
            kafka.start();
            createTopics(kafka.bootstrapServers());
            write(kafka.bootstrapServers(), "first");
            kafka.stop();
            kafka.start();
            write(kafka.bootstrapServers(), "second");
            assertThat(read(kafka.bootstrapServers())).containsExactly("first", "second");
        }
    }

    @Test
    void whatWasWrittenIsThereAfterKillNineAndItsClockCanBeSetWrong() throws Exception {
        try (KafkaProcess kafka = new KafkaProcess(data, "127.0.0.1", 0)) {
            kafka.start();
            createTopics(kafka.bootstrapServers());
            long before = write(kafka.bootstrapServers(), "first");
            kafka.shiftStamps(HOUR_MS);
            assertThat(write(kafka.bootstrapServers(), "ahead")).isBetween(before + HOUR_MS, before + 2 * HOUR_MS);
            kafka.shiftStamps(-HOUR_MS);
            assertThat(write(kafka.bootstrapServers(), "behind")).isBetween(before - HOUR_MS, before);
            kafka.kill();
            kafka.start();
            assertThat(read(kafka.bootstrapServers())).containsExactly("first", "ahead", "behind");
        }
    }

    @Test
    void aTopicIsNeverCreatedByUse() throws Exception {
        try (EmbeddedKafka kafka = new EmbeddedKafka(data, 0)) {
            kafka.start();
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()))) {
                assertThatThrownBy(() -> admin.describeTopics(List.of(INBOX))
                                .allTopicNames()
                                .get())
                        .isInstanceOf(ExecutionException.class)
                        .hasCauseInstanceOf(UnknownTopicOrPartitionException.class);
                assertThat(admin.listTopics().names().get()).isEmpty();
            }
        }
    }

    @Test
    void aBusyPortIsNamed() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                EmbeddedKafka kafka = new EmbeddedKafka(data, taken.getLocalPort())) {
            assertThatThrownBy(kafka::start)
                    .isInstanceOf(BindException.class)
                    .hasMessageContaining("127.0.0.1:" + taken.getLocalPort());
        }
    }

    private static void createTopics(String servers) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
            new Topics(admin, Topic.DEFAULT_PREFIX).ensure();
        }
    }

    private static long write(String servers, String value) throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", servers), new StringSerializer(), new StringSerializer())) {
            RecordMetadata written =
                    producer.send(new ProducerRecord<>(INBOX, value)).get();
            return written.timestamp();
        }
    }

    private static List<String> read(String servers) {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", servers, "auto.offset.reset", "earliest"),
                new StringDeserializer(),
                new StringDeserializer())) {
            TopicPartition inbox = new TopicPartition(INBOX, 0);
            consumer.assign(List.of(inbox));
            consumer.seekToBeginning(List.of(inbox));
            long end = consumer.endOffsets(List.of(inbox)).getOrDefault(inbox, 0L);
            List<String> values = new ArrayList<>();
            IntStream.range(0, 100)
                    .takeWhile(i -> consumer.position(inbox) < end)
                    .forEach(i -> {
                        for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                            values.add(record.value());
                        }
                    });
            return values;
        }
    }
}

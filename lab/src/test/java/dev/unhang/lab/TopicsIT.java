package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.unhang.events.Topic;
import dev.unhang.events.Topics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the healer does to the topics of a real broker. Each test has a prefix of its own. */
class TopicsIT {

    private static final AtomicInteger PREFIXES = new AtomicInteger();

    @TempDir
    static Path data;

    private static EmbeddedKafka kafka;
    private static Admin admin;

    private final String prefix = "test-" + PREFIXES.incrementAndGet() + ".";
    private Topics topics;

    @BeforeAll
    static void startABroker() throws Exception {
        kafka = new EmbeddedKafka(data, 0);
        kafka.start();
        admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()));
    }

    @BeforeEach
    void takeAFreshPrefix() {
        topics = new Topics(admin, prefix);
    }

    @AfterAll
    static void stopTheBroker() {
        admin.close();
        kafka.close();
    }

    @Test
    void whatIsMissingIsCreatedAsItMustBe() throws Exception {
        topics.ensure();
        for (Topic topic : Topic.values()) {
            assertThat(partitions(topic)).isEqualTo(topic.partitions());
            topic.settings()
                    .forEach((key, value) -> assertThat(setting(topic, key))
                            .as(topic + " " + key)
                            .isEqualTo(value));
            assertThat(setting(topic, "max.message.bytes")).isEqualTo(Integer.toString(topic.maxRecordBytes()));
        }
    }

    @Test
    void askingTwiceChangesNothing() throws Exception {
        topics.ensure();
        topics.ensure();
        assertThat(topics.exists(Topic.TELEMETRY)).isTrue();
    }

    @Test
    void askingWhetherATopicExistsDoesNotCreateIt() throws Exception {
        assertThat(topics.exists(Topic.TELEMETRY)).isFalse();
        assertThat(topics.exists(Topic.TELEMETRY)).isFalse();
    }

    @Test
    void everyWrongTopicIsRefusedByNameAtOnce() throws Exception {
        create(Topic.TELEMETRY, 3, Topic.TELEMETRY.settings());
        create(Topic.INBOX, 1, Map.of("message.timestamp.type", "CreateTime"));
        create(Topic.STATE, 1, Map.of("cleanup.policy", "delete"));
        assertThatThrownBy(topics::ensure)
                .isInstanceOf(Topics.WrongTopicsException.class)
                .hasMessageContaining(prefix + "telemetry has 3 partitions and must have 12")
                .hasMessageContaining(
                        prefix
                                + "inbox has message.timestamp.type=CreateTime and must have message.timestamp.type=LogAppendTime")
                .hasMessageContaining(prefix + "state has cleanup.policy=delete and must have cleanup.policy=compact");
    }

    @Test
    void aRetentionThatAnOperatorChoseIsLeftAlone() throws Exception {
        create(Topic.DEAD_LETTERS, 1, Map.of("retention.ms", "1000", "message.timestamp.type", "LogAppendTime"));
        topics.ensure();
        assertThat(setting(Topic.DEAD_LETTERS, "retention.ms")).isEqualTo("1000");
    }

    @Test
    void theLabMayHaveCreateTimeEverywhere() throws Exception {
        Topics lab = Topics.withCreateTime(admin, prefix);
        lab.ensure();
        assertThat(setting(Topic.INBOX, "message.timestamp.type")).isEqualTo("CreateTime");
        assertThatThrownBy(topics::ensure).isInstanceOf(Topics.WrongTopicsException.class);
    }

    @Test
    void aStampOfYesterdayOrTomorrowIsTakenInTheJournal() throws Exception {
        topics.ensure();
        try (KafkaProducer<byte[], byte[]> producer = producer()) {
            long now = System.currentTimeMillis();
            for (long stamp : List.of(
                    now - Duration.ofDays(1).toMillis(),
                    now + Duration.ofDays(1).toMillis())) {
                assertThat(producer.send(new ProducerRecord<>(Topic.JOURNAL.name(prefix), 0, stamp, null, new byte[1]))
                                .get()
                                .timestamp())
                        .isEqualTo(stamp);
            }
        }
    }

    @Test
    void aRecordOfTenMegabytesIsRefused() throws Exception {
        topics.ensure();
        try (KafkaProducer<byte[], byte[]> producer = producer()) {
            assertThatThrownBy(
                            () -> producer.send(new ProducerRecord<>(Topic.TELEMETRY.name(prefix), new byte[10 << 20]))
                                    .get())
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(RecordTooLargeException.class);
        }
    }

    private static KafkaProducer<byte[], byte[]> producer() {
        return new KafkaProducer<>(
                Map.of("bootstrap.servers", kafka.bootstrapServers(), "max.request.size", 20 << 20),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    private void create(Topic topic, int partitions, Map<String, String> settings) throws Exception {
        admin.createTopics(List.of(new NewTopic(topic.name(prefix), partitions, (short) 1).configs(settings)))
                .all()
                .get();
        while (!topics.exists(topic)) {
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    private int partitions(Topic topic) throws Exception {
        Map<String, TopicDescription> described = admin.describeTopics(List.of(topic.name(prefix)))
                .allTopicNames()
                .get();
        return new ArrayList<>(described.values()).get(0).partitions().size();
    }

    private String setting(Topic topic, String key) {
        try {
            ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic.name(prefix));
            Map<ConfigResource, Config> configs =
                    admin.describeConfigs(List.of(resource)).all().get();
            return new ArrayList<>(configs.values()).get(0).get(key).value();
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError(e);
        }
    }
}

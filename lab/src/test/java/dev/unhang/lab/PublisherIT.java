package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.unhang.collector.publish.Backlog;
import dev.unhang.collector.publish.KafkaSettings;
import dev.unhang.collector.publish.Losses;
import dev.unhang.collector.publish.Publisher;
import dev.unhang.collector.publish.TelemetryTopic;
import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.Topics;
import dev.unhang.events.v1.CollectorStopped;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.settings.Kafka;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The publisher against a broker that is not there yet, dies, and comes back. */
class PublisherIT {

    private static final String TOPIC = Topic.TELEMETRY.name(Topic.DEFAULT_PREFIX);
    private static final ByteString BOOT = ByteString.copyFrom(new byte[16]);

    @TempDir
    Path data;

    private final Losses losses = new Losses();

    @Test
    void aBrokerThatComesLaterGetsAllThatWaitedAndNoTopicIsMadeByUse() throws Exception {
        try (KafkaProcess kafka = new KafkaProcess(data, "127.0.0.1", 0);
                Publisher publisher = publisher(kafka.bootstrapServers(), 1000)) {
            publisher.start();
            for (int i = 1; i <= 5; i++) {
                publish(publisher, sample(i, 100));
            }
            publish(publisher, event(1));
            kafka.start();
            Thread.sleep(3000);
            try (Admin admin = admin(kafka)) {
                assertThat(admin.listTopics().names().get()).doesNotContain(TOPIC);
                new Topics(admin, Topic.DEFAULT_PREFIX).ensure();
            }
            await("six records", () -> publisher.sent() == 6);

            List<ConsumerRecord<String, byte[]>> read = read(kafka.bootstrapServers(), 6);
            assertThat(ids(read)).containsExactly(id("1"), id("2"), id("3"), id("4"), id("5"), id("e1"));
            assertThat(samples(read))
                    .allSatisfy(sample -> assertThat(sample.getQueuedMs()).isBetween(3000, 120_000));
            assertThat(losses.all()).isEmpty();
        }
    }

    @Test
    void aBrokerThatIsKilledTwiceUnderLoadCostsNothingButDoublesThatBearTheSameId() throws Exception {
        try (KafkaProcess kafka = new KafkaProcess(data, "127.0.0.1", 0);
                Publisher publisher = publisher(kafka.bootstrapServers(), 100_000)) {
            kafka.start();
            try (Admin admin = admin(kafka)) {
                new Topics(admin, Topic.DEFAULT_PREFIX).ensure();
            }
            publisher.start();
            Feed feed = new Feed(publisher);
            feed.start();
            for (int kills = 0; kills < 2; kills++) {
                long before = publisher.sent();
                await("records under load", () -> publisher.sent() > before + 300);
                kafka.kill();
                Thread.sleep(4000);
                kafka.start();
            }
            long after = publisher.sent();
            await("records after the restart", () -> publisher.sent() > after + 300);
            feed.end();
            await("all records", () -> publisher.sent() >= feed.samples + feed.events);

            List<ConsumerRecord<String, byte[]>> read = read(kafka.bootstrapServers(), feed.samples + feed.events);
            Set<String> distinct = new LinkedHashSet<>(ids(read));
            assertThat(distinct).hasSize(feed.samples + feed.events);
            assertThat(distinct).contains(id("e1"), id("e" + feed.events), id("1"), id(Integer.toString(feed.samples)));
            assertThat(losses.all()).isEmpty();
            Map<String, ByteString> bodies = new LinkedHashMap<>();
            for (ConsumerRecord<String, byte[]> record : read) {
                if (Codec.decode(record.headers(), record.value()) instanceof Codec.Decoded.Known known
                        && known.message() instanceof NodeSample sample) {
                    ByteString body = sample.toBuilder().clearQueuedMs().build().toByteString();
                    assertThat(bodies.merge(known.id(), body, (one, other) -> one))
                            .isEqualTo(body);
                }
            }
            System.out.printf(
                    "killed twice: %d published, %d in the log, %d doubles, %d out of order%n",
                    feed.samples + feed.events, read.size(), read.size() - distinct.size(), turns(distinct));
        }
    }

    @Test
    void anOutageLongerThanTheBacklogLosesTheOldestSamplesCountsThemAndKeepsTheEvents() throws Exception {
        try (KafkaProcess kafka = new KafkaProcess(data, "127.0.0.1", 0);
                Publisher publisher = publisher(kafka.bootstrapServers(), 100)) {
            kafka.start();
            try (Admin admin = admin(kafka)) {
                new Topics(admin, Topic.DEFAULT_PREFIX).ensure();
            }
            publisher.start();
            publish(publisher, sample(1, 100));
            await("the first", () -> publisher.sent() == 1);
            kafka.kill();
            for (int i = 1; i <= 20; i++) {
                publish(publisher, event(i));
            }
            for (int i = 2; i <= 500; i++) {
                publish(publisher, sample(i, 100));
            }
            kafka.start();
            await("what was kept", () -> publisher.sent() + losses.of("sample") == 520);

            List<ConsumerRecord<String, byte[]>> read = read(kafka.bootstrapServers(), (int) publisher.sent());
            Set<String> distinct = new LinkedHashSet<>(ids(read));
            assertThat(distinct).contains(id("e1"), id("e20"), id("500"), id("450"));
            assertThat(distinct).hasSize(520 - (int) losses.of("sample"));
            assertThat(losses.of("event")).isZero();
            assertThat(losses.of("sample")).isBetween(400L, 420L);
        }
    }

    @Test
    void aRecordThatTheBrokerFindsTooLargeIsDroppedAndTheNextOneGoes() throws Exception {
        try (KafkaProcess kafka = new KafkaProcess(data, "127.0.0.1", 0);
                Publisher publisher = publisher(kafka.bootstrapServers(), 1000)) {
            kafka.start();
            try (Admin admin = admin(kafka)) {
                new Topics(admin, Topic.DEFAULT_PREFIX).ensure();
                Collection<AlterConfigOp> smaller = List.of(
                        new AlterConfigOp(new ConfigEntry("max.message.bytes", "20000"), AlterConfigOp.OpType.SET));
                admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.TOPIC, TOPIC), smaller))
                        .all()
                        .get();
            }
            publisher.start();
            publish(publisher, sample(1, 50_000));
            publish(publisher, sample(2, 1_500_000));
            publish(publisher, sample(3, 100));
            await("the third", () -> publisher.sent() == 1);

            assertThat(losses.of(Losses.OVERSIZE)).isEqualTo(2);
            assertThat(ids(read(kafka.bootstrapServers(), 1))).containsExactly(id("3"));
        }
    }

    /** Some 200 samples and 20 events a second, as nobody has; on a thread of its own. */
    private static final class Feed extends Thread {
        private final Publisher publisher;
        private volatile boolean ended;
        private volatile int samples;
        private volatile int events;

        Feed(Publisher publisher) {
            super("feed");
            this.publisher = publisher;
        }

        @Override
        public void run() {
            while (!ended) {
                int sample = samples + 1;
                publish(publisher, sample(sample, 1000));
                samples = sample;
                if (sample % 10 == 0) {
                    int event = events + 1;
                    publish(publisher, event(event));
                    events = event;
                }
                try {
                    Thread.sleep(5);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        void end() throws InterruptedException {
            ended = true;
            join();
        }
    }

    private Publisher publisher(String servers, int records) {
        Kafka kafka = new Kafka(servers, Topic.DEFAULT_PREFIX, Map.of());
        Map<String, Object> producer = KafkaSettings.producer(kafka, "n");
        return new Publisher(
                new Publisher.Target(TOPIC, "n", servers),
                new Backlog(records, 64 << 20, losses),
                losses,
                TelemetryTopic.on(KafkaSettings.admin(kafka, "n"), Topic.DEFAULT_PREFIX),
                () -> new KafkaProducer<>(producer, new StringSerializer(), new ByteArraySerializer()),
                System::nanoTime);
    }

    private static void publish(Publisher publisher, NodeSample sample) {
        publisher.publish(sample, Instant.now(), System.nanoTime());
    }

    private static void publish(Publisher publisher, NodeEvent event) {
        publisher.publish(event, Instant.now(), System.nanoTime());
    }

    /** Not compressible, so that its size is what the broker sees. */
    private static NodeSample sample(int seq, int bytes) {
        byte[] filling = new byte[bytes];
        new java.util.Random(seq).nextBytes(filling);
        return NodeSample.newBuilder()
                .setBootId(BOOT)
                .setCollectorStart(1)
                .setSeq(seq)
                .addGpus(dev.unhang.events.v1.GpuReading.newBuilder().setUuid(ByteString.copyFrom(filling)))
                .build();
    }

    private static NodeEvent event(int seq) {
        return NodeEvent.newBuilder()
                .setBootId(BOOT)
                .setCollectorStart(1)
                .setSeq(seq)
                .setStopped(CollectorStopped.getDefaultInstance())
                .build();
    }

    private static String id(String mark) {
        return "n/00000000000000000000000000000000/1/" + mark;
    }

    private static List<String> ids(List<ConsumerRecord<String, byte[]>> records) {
        List<String> ids = new ArrayList<>();
        for (ConsumerRecord<String, byte[]> record : records) {
            ids.add(new String(record.headers().lastHeader("ce_id").value(), java.nio.charset.StandardCharsets.UTF_8));
        }
        return ids;
    }

    private static List<NodeSample> samples(List<ConsumerRecord<String, byte[]>> records) {
        List<NodeSample> samples = new ArrayList<>();
        for (ConsumerRecord<String, byte[]> record : records) {
            if (Codec.decode(record.headers(), record.value()) instanceof Codec.Decoded.Known known
                    && known.message() instanceof NodeSample sample) {
                samples.add(sample);
            }
        }
        return samples;
    }

    /** How often a sample stands after a later one. */
    private static int turns(Set<String> distinct) {
        int turns = 0;
        int last = 0;
        for (String id : distinct) {
            String mark = id.substring(id.lastIndexOf('/') + 1);
            if (!mark.startsWith("e")) {
                int seq = Integer.parseInt(mark);
                turns += seq < last ? 1 : 0;
                last = seq;
            }
        }
        return turns;
    }

    private static Admin admin(KafkaProcess kafka) {
        return Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()));
    }

    /** All of the topic, which holds at least {@code records}. */
    private static List<ConsumerRecord<String, byte[]>> read(String servers, int records) {
        List<ConsumerRecord<String, byte[]>> read = new ArrayList<>();
        try (KafkaConsumer<String, byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", servers, "auto.offset.reset", "earliest"),
                new StringDeserializer(),
                new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(TOPIC).stream()
                    .map(each -> new TopicPartition(TOPIC, each.partition()))
                    .toList();
            assertThat(partitions).hasSize(Topic.TELEMETRY.partitions());
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long end = consumer.endOffsets(partitions).values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
            assertThat(end).isGreaterThanOrEqualTo(records);
            for (int polls = 0; polls < 100 && read.size() < end; polls++) {
                consumer.poll(Duration.ofMillis(200)).forEach(read::add);
            }
        }
        return read;
    }

    private static void await(String what, BooleanSupplier reached) throws InterruptedException {
        long deadline = System.nanoTime() + Duration.ofSeconds(90).toNanos();
        while (!reached.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waiting for " + what).isLessThan(deadline);
            Thread.sleep(20);
        }
    }
}

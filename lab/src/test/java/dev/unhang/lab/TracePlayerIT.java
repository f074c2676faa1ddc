package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.Topics;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.Pulse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TracePlayerIT {

    private static final TracePlayer.Pace AT_ONCE = new TracePlayer.Pace(Double.POSITIVE_INFINITY, true);

    @TempDir
    static Path folder;

    private static EmbeddedKafka kafka;

    @BeforeAll
    static void startABroker() throws Exception {
        kafka = new EmbeddedKafka(folder.resolve("kafka"), 0);
        kafka.start();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()))) {
            Topics.withCreateTime(admin, "fast.").ensure();
            new Topics(admin, "live.").ensure();
        }
    }

    @AfterAll
    static void stopTheBroker() {
        kafka.close();
    }

    @Test
    void aTraceAtOnceBearsItsOwnTimesAndAPulseASecondInEveryPartition() throws Exception {
        try (TracePlayer player = new TracePlayer(kafka.bootstrapServers(), "fast.")) {
            player.play(trace(3), true, AT_ONCE);
        }
        List<ConsumerRecord<String, byte[]>> records = read("fast.");
        List<Long> stamps =
                samples(records, "n1").map(ConsumerRecord::timestamp).toList();
        assertThat(stamps).hasSize(4);
        assertThat(stamps.get(3) - stamps.get(0)).isEqualTo(3000);
        for (int partition = 0; partition < Topic.TELEMETRY.partitions(); partition++) {
            int wanted = partition;
            assertThat(records.stream()
                            .filter(record -> record.partition() == wanted && message(record) instanceof Pulse)
                            .map(record -> record.timestamp() - stamps.get(0)))
                    .containsExactly(0L, 1000L, 2000L, 3000L);
        }
    }

    @Test
    void aTraceAtItsOwnPaceSaysHelloAndGoodbyeOnceANodeAndLeavesPulsesToTheHealer() throws Exception {
        long before = System.currentTimeMillis();
        try (TracePlayer player = new TracePlayer(kafka.bootstrapServers(), "live.")) {
            player.play(trace(1));
        }
        long after = System.currentTimeMillis();
        assertThat(after - before).isGreaterThanOrEqualTo(1000);
        List<ConsumerRecord<String, byte[]>> records = read("live.");
        for (String node : List.of("n1", "n2")) {
            List<Message> said = records.stream()
                    .filter(record -> node.equals(record.key()))
                    .map(TracePlayerIT::message)
                    .toList();
            assertThat(said).hasSize(4);
            assertThat(said.get(0))
                    .isInstanceOfSatisfying(
                            NodeEvent.class,
                            event -> assertThat(event.hasStarted()).isTrue());
            assertThat(said.get(3))
                    .isInstanceOfSatisfying(
                            NodeEvent.class,
                            event -> assertThat(event.hasStopped()).isTrue());
        }
        assertThat(records).noneMatch(record -> message(record) instanceof Pulse);
        assertThat(samples(records, "n1").map(record -> ((NodeSample) message(record)).getWallNs() / 1_000_000))
                .allSatisfy(wall -> assertThat(wall).isBetween(before, after));
    }

    @Test
    void aPaceThatTheBrokersStampsCannotFollowIsRefused() {
        assertThatThrownBy(() -> new TracePlayer.Pace(2, false)).hasMessageContaining("CreateTime");
        assertThatThrownBy(() -> new TracePlayer.Pace(0, true)).hasMessageContaining("above 0");
    }

    /** Two nodes with a NIC each, a record a second, the first at 0. */
    private static Path trace(int seconds) throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add("{\"trace\":\"small\",\"format\":1,\"hz\":1}");
        for (int t = 0; t <= seconds; t++) {
            for (String node : List.of("n1", "n2")) {
                lines.add("{\"t\":" + t + ".0,\"node\":\"" + node
                        + "\",\"gpus\":[],\"nics\":[{\"name\":\"eth0\",\"operstate\":\"up\",\"rx_bytes\":" + t * 1000
                        + ",\"tx_bytes\":0}],\"ranks\":[]}");
            }
        }
        return Files.write(folder.resolve("small-" + seconds + ".jsonl"), lines);
    }

    private static Stream<ConsumerRecord<String, byte[]>> samples(
            List<ConsumerRecord<String, byte[]>> records, String node) {
        return records.stream().filter(record -> node.equals(record.key()) && message(record) instanceof NodeSample);
    }

    private static Message message(ConsumerRecord<String, byte[]> record) {
        if (Codec.decode(record.headers(), record.value()) instanceof Codec.Decoded.Known known) {
            return known.message();
        }
        throw new AssertionError("unreadable: " + record);
    }

    private static List<ConsumerRecord<String, byte[]>> read(String prefix) {
        try (KafkaConsumer<String, byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", kafka.bootstrapServers()),
                new StringDeserializer(),
                new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = IntStream.range(0, Topic.TELEMETRY.partitions())
                    .mapToObj(partition -> new TopicPartition(Topic.TELEMETRY.name(prefix), partition))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long end = consumer.endOffsets(partitions).values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
            List<ConsumerRecord<String, byte[]>> records = new ArrayList<>();
            for (int i = 0; i < 100 && records.size() < end; i++) {
                consumer.poll(Duration.ofMillis(200)).forEach(records::add);
            }
            return records;
        }
    }
}

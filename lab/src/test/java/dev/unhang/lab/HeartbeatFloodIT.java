package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.unhang.collector.Collector;
import dev.unhang.collector.CollectorConfig;
import dev.unhang.collector.Sources;
import dev.unhang.collector.sample.NodeIdentity;
import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.Topics;
import dev.unhang.events.v1.Loss;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.RankReading;
import dev.unhang.settings.Settings;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A rank tells its steps while two other sockets flood the collector, one with garbage and one with heartbeats that are
 * well but for their number. The collector's samples, as they arrive at a real broker, go on each second, count what was
 * dropped, and show every step of the rank within a second or two.
 */
class HeartbeatFloodIT {

    private static final String NODE = "flooded";
    private static final int SECONDS = 8;

    @TempDir
    Path folder;

    private volatile boolean ended;

    @Test
    void aFloodOfGarbageAndOfHeartbeatsIsCountedAndAnotherRankIsHeard() throws Exception {
        int port = freePort();
        try (KafkaProcess broker = new KafkaProcess(folder.resolve("kafka"), "127.0.0.1", 0)) {
            broker.start();
            String brokers = broker.bootstrapServers();
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", brokers))) {
                new Topics(admin, Topic.DEFAULT_PREFIX).ensure();
            }
            Collector collector = collector(brokers, port);
            collector.start();
            try (Tail tail = new Tail(brokers)) {
                assertThat(tail.readFor(Duration.ofSeconds(20), true))
                        .as("samples come")
                        .isNotEmpty();
                Thread garbage = flood(port, false);
                Thread beats = flood(port, true);
                List<NodeSample> samples = new ArrayList<>();
                try (DatagramSocket socket = new DatagramSocket()) {
                    for (int step = 1; step <= SECONDS * 2; step++) {
                        send(socket, port, beat(ProcessHandle.current().pid(), step, step));
                        samples.addAll(tail.readFor(Duration.ofMillis(500), false));
                    }
                    samples.addAll(tail.readFor(Duration.ofSeconds(3), false));
                }
                ended = true;
                garbage.join();
                beats.join();
                check(samples);
            } finally {
                collector.close("the test ended");
            }
        }
    }

    private static void check(List<NodeSample> samples) {
        assertThat(samples).as("a sample a second").hasSizeBetween(SECONDS, SECONDS + 6);
        NodeSample last = samples.get(samples.size() - 1);
        assertThat(lost(last, "heartbeat-garbage")).as("garbage").isGreaterThan(100);
        assertThat(lost(last, "heartbeat-rate")).as("too many").isGreaterThan(1_000);
        List<Long> steps = samples.stream()
                .flatMap(sample -> sample.getRanksList().stream())
                .filter(rank -> rank.getPid() == ProcessHandle.current().pid())
                .map(RankReading::getStep)
                .distinct()
                .toList();
        System.out.printf(
                "under the flood: steps %s seen; %d datagrams of garbage and %d too many were dropped%n",
                steps, lost(last, "heartbeat-garbage"), lost(last, "heartbeat-rate"));
        assertThat(steps).as("steps").hasSizeGreaterThanOrEqualTo(SECONDS - 1).endsWith((long) SECONDS * 2);
    }

    /** Some twenty thousand datagrams a second from one socket. */
    private Thread flood(int port, boolean wellFormed) {
        Thread thread = new Thread(
                () -> {
                    Random random = new Random(11);
                    byte[] garbage = new byte[600];
                    try (DatagramSocket socket = new DatagramSocket()) {
                        for (int i = 1; !ended; i++) {
                            random.nextBytes(garbage);
                            send(socket, port, wellFormed ? beat(1 + i % 50_000, i, i) : garbage);
                            if (i % 200 == 0) {
                                Thread.sleep(10);
                            }
                        }
                    } catch (java.io.IOException | InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                },
                "flood");
        thread.start();
        return thread;
    }

    private static byte[] beat(long pid, int seq, int step) {
        return ("{\"v\":1,\"job\":\"j\",\"rank\":0,\"world\":1,\"pid\":" + pid + ",\"seq\":" + seq + ",\"step\":" + step
                        + ",\"phase\":\"TRAIN\"}")
                .getBytes(StandardCharsets.UTF_8);
    }

    private static void send(DatagramSocket socket, int port, byte[] bytes) throws java.io.IOException {
        socket.send(new DatagramPacket(bytes, bytes.length, InetAddress.getLoopbackAddress(), port));
    }

    private static long lost(NodeSample sample, String kind) {
        return sample.getLostList().stream()
                .filter(loss -> loss.getKind().equals(kind))
                .mapToLong(Loss::getCount)
                .sum();
    }

    private Collector collector(String brokers, int port) throws Exception {
        Path file = folder.resolve("collector.yaml");
        Files.writeString(file, """
                node: %s
                kafka:
                  bootstrap-servers: %s
                heartbeat:
                  listen: 127.0.0.1:%d
                sources:
                  nvml:
                    enabled: false
                  net:
                    enabled: false
                  rdma:
                    enabled: false
                  clock:
                    enabled: false
                  kernel:
                    enabled: false
                """.formatted(NODE, brokers, port));
        CollectorConfig config = CollectorConfig.read(Settings.read(file, Map.of()), NODE, true);
        Sources sources = Sources.of(config, Clock.systemUTC(), System::nanoTime);
        ByteString id = ByteString.copyFrom(new byte[16]);
        return new Collector(
                config,
                new NodeIdentity(NODE, id, 1, id, "test"),
                NodeInventory.getDefaultInstance(),
                sources.all(),
                Clock.systemUTC(),
                System::nanoTime);
    }

    private static int freePort() throws java.io.IOException {
        try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** The node's samples in the log. */
    private static final class Tail implements AutoCloseable {
        private final KafkaConsumer<byte[], byte[]> consumer;

        Tail(String brokers) {
            consumer = new KafkaConsumer<>(
                    Map.of("bootstrap.servers", brokers), new ByteArrayDeserializer(), new ByteArrayDeserializer());
            List<TopicPartition> all = consumer.partitionsFor(Topic.TELEMETRY.name(Topic.DEFAULT_PREFIX)).stream()
                    .map(each -> new TopicPartition(each.topic(), each.partition()))
                    .toList();
            consumer.assign(all);
            consumer.seekToBeginning(all);
        }

        List<NodeSample> readFor(Duration most, boolean first) {
            List<NodeSample> samples = new ArrayList<>();
            long end = System.nanoTime() + most.toNanos();
            while (System.nanoTime() < end && !(first && !samples.isEmpty())) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(50))) {
                    if (Codec.decode(record.headers(), record.value()) instanceof Codec.Decoded.Known known
                            && known.message() instanceof NodeSample sample) {
                        samples.add(sample);
                    }
                }
            }
            return samples;
        }

        @Override
        public void close() {
            consumer.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ofSeconds(1)));
        }
    }
}

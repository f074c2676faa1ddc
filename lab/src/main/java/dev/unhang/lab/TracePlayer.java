package dev.unhang.lab;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.v1.CollectorStarted;
import dev.unhang.events.v1.CollectorStopped;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.healer.replay.Trace;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Publishes a recorded trace as its nodes' collectors would: each says hello, sends a sample a second, and says goodbye
 * at the end. Times of the trace become times of today, so that no node's clock looks wrong. Confined to one thread.
 */
public final class TracePlayer implements AutoCloseable {

    private static final Pace REAL = new Pace(1, false);

    /**
     * How fast.
     *
     * @param factor seconds of the trace in one of ours; infinite for as fast as the broker takes it
     * @param ownStamps for topics with CreateTime (the lab's alone): records bear the trace's time, and a pulse goes to
     *     every partition after each second of it. Without, the broker stamps and the healer's own pulses keep log time,
     *     which is right at the trace's own pace only.
     */
    public record Pace(double factor, boolean ownStamps) {
        public Pace {
            if (!(factor > 0)) {
                throw new IllegalArgumentException("the pace must be above 0, is " + factor);
            }
            if (!ownStamps && factor != 1) {
                throw new IllegalArgumentException("a pace of " + factor + " needs topics with CreateTime");
            }
        }
    }

    /** A node of the trace, by its last sample. */
    private record Player(NodeSample last, long events) {}

    private final KafkaProducer<String, byte[]> producer;
    private final String topic;
    private final Map<String, Player> nodes = new LinkedHashMap<>();
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

    public TracePlayer(String servers) {
        this(servers, Topic.DEFAULT_PREFIX);
    }

    public TracePlayer(String servers, String prefix) {
        this.topic = Topic.TELEMETRY.name(prefix);
        this.producer = new KafkaProducer<>(
                Map.of(
                        "bootstrap.servers",
                        servers,
                        "client.id",
                        "trace-player",
                        "compression.type",
                        "lz4",
                        "buffer.memory",
                        8L << 20,
                        "max.block.ms",
                        10_000),
                new StringSerializer(),
                new ByteArraySerializer());
    }

    /** At the trace's own pace, with heartbeats. */
    public void play(Path trace) throws IOException, InterruptedException {
        play(trace, true, REAL);
    }

    /** Returns when the broker has all of it. An interrupt ends it at once, without goodbyes. */
    public void play(Path file, boolean heartbeats, Pace pace) throws IOException, InterruptedException {
        nodes.clear();
        try (Trace trace = Trace.open(file, heartbeats)) {
            long beganMs = System.currentTimeMillis();
            long beganNs = System.nanoTime();
            long firstMs = Long.MIN_VALUE;
            long nowMs = beganMs;
            for (Trace.Item item = trace.next(); item != null; item = trace.next()) {
                firstMs = firstMs == Long.MIN_VALUE ? item.stampMs() : firstMs;
                long offsetMs = item.stampMs() - firstMs;
                throwIfFailed();
                waitUntil(beganNs, (long) (offsetMs / pace.factor() * 1e6));
                nowMs = beganMs + offsetMs;
                if (item instanceof Trace.Item.Sample sample) {
                    play(sample.node(), sample.sample(), nowMs, pace);
                } else if (item instanceof Trace.Item.Beat beat && pace.ownStamps()) {
                    pulse(beat, nowMs);
                }
            }
            for (Map.Entry<String, Player> entry : nodes.entrySet()) {
                goodbye(entry.getKey(), entry.getValue(), nowMs, pace);
            }
            producer.flush();
            throwIfFailed();
        }
    }

    @Override
    public void close() {
        producer.close(java.time.Duration.ofSeconds(5));
    }

    private void play(String node, NodeSample recorded, long nowMs, Pace pace) {
        NodeSample sample = recorded.toBuilder().setWallNs(nowMs * 1_000_000).build();
        Player player = nodes.get(node);
        if (player == null) {
            player = new Player(sample, 1);
            CollectorStarted hello = CollectorStarted.newBuilder()
                    .setMachineId(machine(node))
                    .setVersion("trace")
                    .build();
            event(node, event(player).setStarted(hello).build(), nowMs, pace);
        }
        nodes.put(node, new Player(sample, player.events()));
        send(node, sample, id(node, sample.getBootId(), sample.getCollectorStart(), "", sample.getSeq()), nowMs, pace);
    }

    private void goodbye(String node, Player player, long nowMs, Pace pace) {
        CollectorStopped stopped =
                CollectorStopped.newBuilder().setReason("the trace ended").build();
        Player after = new Player(player.last(), player.events() + 1);
        event(node, event(after).setStopped(stopped).build(), nowMs, pace);
    }

    private static NodeEvent.Builder event(Player player) {
        return NodeEvent.newBuilder()
                .setBootId(player.last().getBootId())
                .setCollectorStart(player.last().getCollectorStart())
                .setSeq(player.events())
                .setMonoNs(player.last().getMonoNs())
                .setWallNs(player.last().getWallNs());
    }

    private void event(String node, NodeEvent event, long nowMs, Pace pace) {
        send(node, event, id(node, event.getBootId(), event.getCollectorStart(), "e", event.getSeq()), nowMs, pace);
    }

    private void pulse(Trace.Item.Beat beat, long nowMs) {
        for (int partition = 0; partition < Topic.TELEMETRY.partitions(); partition++) {
            send(new ProducerRecord<>(
                    topic,
                    partition,
                    nowMs,
                    null,
                    beat.pulse().toByteArray(),
                    Codec.headers(
                            beat.pulse(),
                            beat.pulse().getOwner() + "/" + partition + "/"
                                    + beat.pulse().getSeq(),
                            "/healers/" + beat.pulse().getOwner(),
                            Instant.ofEpochMilli(nowMs))));
        }
    }

    private void send(String node, Message message, String id, long nowMs, Pace pace) {
        @Nullable Long stamp = pace.ownStamps() ? nowMs : null;
        send(new ProducerRecord<>(
                topic,
                null,
                stamp,
                node,
                message.toByteArray(),
                Codec.headers(message, id, "/nodes/" + node, Instant.ofEpochMilli(nowMs))));
    }

    private void send(ProducerRecord<String, byte[]> record) {
        var unused = producer.send(record, (metadata, error) -> {
            if (error != null) {
                failure.compareAndSet(null, error);
            }
        });
    }

    private void throwIfFailed() throws IOException {
        Exception error = failure.get();
        if (error != null) {
            throw new IOException("the broker did not take it: " + error.getMessage(), error);
        }
    }

    private static void waitUntil(long beganNs, long offsetNs) throws InterruptedException {
        long left = beganNs + offsetNs - System.nanoTime();
        if (left > 0) {
            TimeUnit.NANOSECONDS.sleep(left);
        } else if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    /** As a collector makes its {@code ce_id}; events count apart from samples. */
    private static String id(String node, ByteString boot, long start, String kind, long seq) {
        return node + "/" + HexFormat.of().formatHex(boot.toByteArray()) + "/" + start + "/" + kind + seq;
    }

    private static ByteString machine(String node) {
        UUID id = UUID.nameUUIDFromBytes(("machine " + node).getBytes(StandardCharsets.UTF_8));
        return ByteString.fromHex(id.toString().replace("-", ""));
    }
}

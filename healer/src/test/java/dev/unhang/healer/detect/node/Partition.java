package dev.unhang.healer.detect.node;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.Pulse;
import dev.unhang.events.v1.Standing;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** One partition of telemetry for tests: nodes that send a sample a second, a pulse a second, and what came of it. */
final class Partition {

    static final long START_MS = 1_000_000_000_000L;

    PartitionDetector detector;
    long stampMs = START_MS;
    final List<Message> said = new ArrayList<>();
    private final Map<String, Long> seq = new HashMap<>();
    private long pulses;

    Partition() {
        this(1);
    }

    Partition(long generation) {
        detector = new PartitionDetector(origin(generation));
    }

    static Origin origin(long generation) {
        return Origin.newBuilder()
                .setPartition(3)
                .setGeneration(generation)
                .setOwner("healer-" + generation)
                .build();
    }

    static ByteString boot(String node) {
        return ByteString.copyFrom(("boot of " + node + "                ").substring(0, 16), StandardCharsets.UTF_8);
    }

    /** The next sample of a node, with one NIC that is up. */
    NodeSample.Builder sample(String node) {
        long next = seq.merge(node, 1L, Long::sum);
        return NodeSample.newBuilder()
                .setBootId(boot(node))
                .setCollectorStart(77)
                .setSeq(next)
                .setMonoNs((stampMs - START_MS + 5_000) * 1_000_000)
                .setWallNs(stampMs * 1_000_000);
    }

    static NicReading.Builder nic(OperState state) {
        return NicReading.newBuilder()
                .setId("0000:5c:00.0/0")
                .setName("eth1")
                .setState(state)
                .setAdminUp(true);
    }

    void tick(long ms) {
        stampMs += ms;
    }

    List<Message> feed(String node, Message message) {
        List<Message> out = detector.onRecord(node, message, stampMs);
        said.addAll(out);
        return out;
    }

    List<Message> pulse() {
        pulses++;
        return feed("", Pulse.newBuilder().setSeq(pulses).build());
    }

    /** A second passes: each node sends a sample, and the owner a pulse. */
    void second(List<String> nodes, Consumer<NodeSample.Builder> shape) {
        tick(1000);
        for (String node : nodes) {
            NodeSample.Builder sample = sample(node);
            shape.accept(sample);
            feed(node, sample.build());
        }
        pulse();
    }

    void seconds(int count, List<String> nodes, Consumer<NodeSample.Builder> shape) {
        for (int i = 0; i < count; i++) {
            second(nodes, shape);
        }
    }

    List<Finding> findings() {
        return said.stream()
                .filter(Finding.class::isInstance)
                .map(Finding.class::cast)
                .toList();
    }

    List<Finding> findings(IncidentKind kind, Standing standing) {
        return findings().stream()
                .filter(finding -> finding.getKind() == kind && finding.getStanding() == standing)
                .toList();
    }

    List<NodeReport> reports() {
        return said.stream()
                .filter(NodeReport.class::isInstance)
                .map(NodeReport.class::cast)
                .toList();
    }
}

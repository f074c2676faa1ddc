package dev.unhang.lab.bench;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.Pulse;
import dev.unhang.healer.detect.LogTime;
import dev.unhang.healer.detect.fleet.FleetDetector;
import dev.unhang.healer.detect.node.PartitionDetector;
import dev.unhang.lab.fleet.SimulatedJob;
import dev.unhang.lab.fleet.SimulatedNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * One job of 256 ranks on 32 nodes, and the detectors of nodes, jobs and fleet over it, as a healer runs them: what the
 * first say goes to the second at once, and both see a pulse each second. {@link #prepare} makes the records of the next
 * second, {@link #detect} gives them to the detectors and does nothing else. Confined to one thread.
 */
final class DetectedFleet {

    static final int NODES = 32;
    static final int RANKS_PER_NODE = 8;

    /** So many ranks and samples are detected in a minute of the log. */
    static final int RANK_SAMPLES = 60 * NODES * RANKS_PER_NODE;

    private static final long START_MS = 1_000_000_000_000L;
    private static final double STEP_SECONDS = 0.8;

    private record Sampled(String node, NodeSample sample) {}

    private final List<SimulatedNode> nodes = new ArrayList<>();
    private final PartitionDetector partition =
            new PartitionDetector(Origin.newBuilder().setOwner("bench").build());
    private final FleetDetector fleet = new FleetDetector();
    private final LogTime inbox = new LogTime();
    private final List<Sampled> records = new ArrayList<>();
    private final Map<IncidentKind, Integer> findings = new EnumMap<>(IncidentKind.class);
    private long second;
    private long learned;

    DetectedFleet(Scene scene) {
        SimulatedJob job = new SimulatedJob("train", NODES * RANKS_PER_NODE, STEP_SECONDS);
        for (int i = 0; i < NODES; i++) {
            nodes.add(new SimulatedNode("node-" + i, i, RANKS_PER_NODE, job, scene.heartbeats, 7));
        }
        switch (scene) {
            case HANG, HANG_WITHOUT_HEARTBEATS -> job.stop(100, 300);
            case SLOW -> job.slow(1.5, 300);
            case PEACE, PEACE_WITHOUT_HEARTBEATS -> {}
        }
        for (SimulatedNode node : nodes) {
            var unused = partition.onRecord(node.name(), node.inventory(), START_MS);
        }
    }

    /** Makes the records of the next second of the log. */
    void prepare() {
        second++;
        records.clear();
        for (int node = 0; node < NODES; node++) {
            records.add(new Sampled(nodes.get(node).name(), sample(node, second)));
        }
    }

    private NodeSample sample(int node, long at) {
        ByteString boot = ByteString.copyFrom(
                ByteBuffer.allocate(16).putLong(77).putLong(node).array());
        return nodes.get(node).read((double) at).toBuilder()
                .setBootId(boot)
                .setCollectorStart(77)
                .setSeq(at)
                .setMonoNs((at + 100) * 1_000_000_000)
                .setWallNs((START_MS + at * 1000) * 1_000_000)
                .build();
    }

    /** What is measured: that second of the log. */
    void detect() {
        long stampMs = START_MS + second * 1000;
        for (Sampled each : records) {
            pass(partition.onRecord(each.node(), each.sample(), stampMs), stampMs);
        }
        pass(partition.onRecord("", Pulse.getDefaultInstance(), stampMs), stampMs);
        learned += partition.learnedIfDue().isPresent() ? 1 : 0;
        take(Pulse.getDefaultInstance(), stampMs);
        learned += fleet.learned(inbox.nowMs()).size();
    }

    /** Minutes of which nobody wants to know the cost. */
    void liveMinutes(int minutes) {
        for (int i = 0; i < 60 * minutes; i++) {
            prepare();
            detect();
        }
    }

    private void pass(List<Message> said, long stampMs) {
        for (Message each : said) {
            take(each, stampMs);
        }
    }

    private void take(Message message, long stampMs) {
        for (Finding finding : fleet.onRecord(message, inbox.advance(stampMs), stampMs)) {
            findings.merge(finding.getKind(), 1, Integer::sum);
        }
    }

    /** How many records of what was learned would have been written. */
    long learned() {
        return learned;
    }

    /** How many findings of a kind were said so far, to know that a scene is what it is called. */
    int findings(IncidentKind kind) {
        return findings.getOrDefault(kind, 0);
    }
}

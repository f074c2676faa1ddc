package dev.unhang.healer.detect.node;

import com.google.protobuf.Message;
import dev.unhang.events.v1.ActionResult;
import dev.unhang.events.v1.ActuatorHello;
import dev.unhang.events.v1.Claim;
import dev.unhang.events.v1.Learned;
import dev.unhang.events.v1.LearnedNode;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.ProbeResult;
import dev.unhang.events.v1.Pulse;
import dev.unhang.healer.detect.LogTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Judges all nodes of one telemetry partition. A pure function of the records given to it, in order: the owner of the
 * partition writes what it says to the inbox, and drops what it says while it warms up after a take-over. Confined to
 * the thread that reads the partition.
 */
public final class PartitionDetector {

    /** How often what was learned of a node is written, ms of log time. */
    static final long LEARNED_EVERY_MS = 60_000;

    /** Nodes in one {@link Learned}, which must stay well under a record's limit of 1 MB. */
    static final int LEARNED_NODES = 32;

    /** Without any record for so long, by stamps, the log stood still: pulses come each second. */
    static final long STANDSTILL_MS = 5_000;

    private final Origin origin;
    private final LogTime logTime = new LogTime();
    private final Map<String, NodeWatch> nodes = new LinkedHashMap<>();
    private long resumedLogMs = Silence.NEVER;
    private long learnedLogMs;
    private int learnedNext;

    public PartitionDetector(Origin origin) {
        this.origin = origin;
    }

    /**
     * Takes one record of the partition and answers with records for the inbox: reports, findings, and the claims,
     * results and looks that it passes on.
     *
     * @param node the record's key; empty for a pulse or what was learned
     * @param message null for a record that could not be read: log time passes all the same
     * @param stampMs the broker's stamp of the record
     */
    public List<Message> onRecord(String node, @Nullable Message message, long stampMs) {
        long before = logTime.lastStampMs();
        long now = logTime.advance(stampMs);
        if (before > 0 && stampMs - before > STANDSTILL_MS) {
            resumedLogMs = now;
        }
        if (message instanceof NodeSample sample) {
            List<Message> out = new ArrayList<>(2);
            watch(node, now).onSample(sample, now, stampMs, resumedLogMs, out);
            return out;
        }
        if (message instanceof Pulse) {
            List<Message> out = new ArrayList<>();
            for (NodeWatch each : nodes.values()) {
                each.onPulse(now, stampMs, resumedLogMs, out);
            }
            return out;
        }
        if (message instanceof NodeEvent event) {
            watch(node, now).onEvent(event, now, stampMs);
        } else if (message instanceof NodeInventory inventory) {
            watch(node, now).onInventory(inventory, now);
        } else if (message instanceof Learned learned) {
            restore(learned, now);
        } else if (message instanceof Claim || message instanceof ActionResult || message instanceof ActuatorHello) {
            return List.of(message);
        } else if (message instanceof ProbeResult probe) {
            return List.of(probe.toBuilder().setNode(node).build());
        }
        return List.of();
    }

    private NodeWatch watch(String node, long now) {
        NodeWatch known = nodes.get(node);
        if (known == null) {
            known = new NodeWatch(node, origin, now);
            nodes.put(node, known);
        }
        return known;
    }

    private void restore(Learned learned, long now) {
        if (learned.getOwner().equals(origin.getOwner()) && learned.getGeneration() == origin.getGeneration()) {
            return;
        }
        for (LearnedNode each : learned.getNodesList()) {
            watch(each.getNode(), now).restore(each, now);
        }
    }

    /** What holds now: a report of each node, and each finding that is not well. For the first words of a new owner. */
    public List<Message> standing() {
        List<Message> out = new ArrayList<>();
        for (NodeWatch node : nodes.values()) {
            node.standing(logTime.nowMs(), logTime.lastStampMs(), resumedLogMs, out);
        }
        return out;
    }

    /**
     * What was learned, when it is due by log time: of each node once a minute. A partition with many nodes answers in
     * parts, spread over the minute.
     */
    public Optional<Learned> learnedIfDue() {
        if (nodes.isEmpty()) {
            return Optional.empty();
        }
        int parts = (nodes.size() + LEARNED_NODES - 1) / LEARNED_NODES;
        if (logTime.nowMs() - learnedLogMs < LEARNED_EVERY_MS / parts) {
            return Optional.empty();
        }
        learnedLogMs = logTime.nowMs();
        Learned.Builder learned =
                Learned.newBuilder().setOwner(origin.getOwner()).setGeneration(origin.getGeneration());
        List<NodeWatch> all = List.copyOf(nodes.values());
        int count = Math.min(LEARNED_NODES, all.size());
        for (int i = 0; i < count; i++) {
            learned.addNodes(all.get((learnedNext + i) % all.size()).learned(logTime.nowMs()));
        }
        learnedNext = (learnedNext + count) % all.size();
        return Optional.of(learned.build());
    }

    /** How many nodes of this partition are watched. */
    public int nodes() {
        return nodes.size();
    }

    /** Log time of the partition, ms. */
    public long logTimeMs() {
        return logTime.nowMs();
    }
}

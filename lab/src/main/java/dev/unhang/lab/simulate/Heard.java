package dev.unhang.lab.simulate;

import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.Watch;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The inbox, read by the rules' own eyes as far as the decider has decided: what people said, who covers what, and the
 * rules' own count of log time. Confined to one thread.
 */
final class Heard {

    private record Cover(long generation, long atMs) {}

    private final SimulatedKafka.Log inbox;
    private final Set<String> decisions = new HashSet<>();
    private final Map<String, Long> maintenance = new HashMap<>();
    private final Set<String> taken = new HashSet<>();
    private final Map<Integer, Cover> covers = new HashMap<>();
    private final Map<String, Integer> nodes = new HashMap<>();
    private boolean paused;
    private long next;
    private long logMs;
    private long stampMs;

    Heard(SimulatedKafka.Log inbox) {
        this.inbox = inbox;
    }

    /** Reads on up to this offset, which is included. */
    void readTo(long offset) {
        while (next <= offset && next < inbox.end()) {
            take(inbox.at(next++));
        }
    }

    private void take(SimulatedKafka.Appended record) {
        if (stampMs > 0) {
            logMs += Math.max(0, Math.min(2_000, record.stampMs() - stampMs));
        }
        stampMs = record.stampMs();
        if (record.message() instanceof OperatorDecision decision) {
            if (decisions.add(decision.getId())) {
                person(decision);
            }
        } else if (record.message() instanceof Covered covered) {
            int partition = covered.getOrigin().getPartition();
            long generation = covered.getOrigin().getGeneration();
            Cover before = covers.get(partition);
            if (before == null || generation >= before.generation()) {
                covers.put(partition, new Cover(generation, covered.getLagMs() < 5_000 ? logMs : Long.MIN_VALUE / 2));
            }
        } else if (record.message() instanceof NodeReport report && report.getWatch() == Watch.WATCH_WATCHED) {
            nodes.put(report.getNode(), report.getOrigin().getPartition());
        }
    }

    private void person(OperatorDecision decision) {
        String target = decision.getTarget();
        switch (decision.getVerb()) {
            case "pause" -> paused = true;
            case "resume" -> paused = false;
            case "take" -> {
                if (nodes.containsKey(target)) {
                    taken.add(target);
                }
            }
            case "give" -> taken.remove(target);
            case "maintenance" -> {
                if (nodes.containsKey(target)) {
                    maintenance.put(target, logMs + decision.getForMs());
                }
            }
            default -> {}
        }
    }

    boolean paused() {
        return paused;
    }

    boolean taken(String node) {
        return taken.contains(node);
    }

    boolean inMaintenance(String node) {
        return logMs < maintenance.getOrDefault(node, Long.MIN_VALUE);
    }

    boolean covered(String node) {
        Integer partition = nodes.get(node);
        Cover cover = partition == null ? null : covers.get(partition);
        return cover != null && logMs - cover.atMs() < 5_000;
    }

    long logMs() {
        return logMs;
    }

    int nodesKnown() {
        return nodes.size();
    }
}

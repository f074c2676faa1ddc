package dev.unhang.healer.guard;

import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.NodeState;
import dev.unhang.healer.incident.Kinds;
import dev.unhang.healer.incident.Transitions;
import dev.unhang.healer.ledger.Ledger;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** One trouble, one ladder: what another incident explains is not repaired beside it. Stateless. */
final class Causes {

    /** So many nodes ill by themselves within so long, ms of log time, are no fault of nodes. */
    private static final long BURST_MS = 120_000;

    private static final int BURST_LEAST = 2;

    private static final Set<IncidentKind> OF_NODES =
            Set.of(IncidentKind.NODE_SILENT, IncidentKind.GPU_FAULT, IncidentKind.NIC_FAULT, IncidentKind.CLOCK_OFFSET);

    private Causes() {}

    static Optional<String> underRepair(Question question) {
        if (question.incident().getCause().isEmpty()) {
            return Optional.empty();
        }
        Incident cause = question.world().ledger().incident(question.incident().getCause());
        return cause != null && Transitions.open(cause.getState())
                ? Optional.of("cause under repair: " + cause.getId())
                : Optional.empty();
    }

    static Optional<String> common(Question question) {
        Ledger ledger = question.world().ledger();
        Set<String> ill = new TreeSet<>();
        for (Incident other : ledger.openIncidents()) {
            if (other.getKind() == IncidentKind.COMMON_CAUSE && concerns(other.getSubject(), question)) {
                return Optional.of("a common cause is open: " + other.getId());
            }
            if (OF_NODES.contains(other.getKind()) && question.world().nowMs() - other.getOpenedLogMs() < BURST_MS) {
                ill.addAll(Kinds.nodes(other.getFinding()));
            }
        }
        int known = ledger.nodesKnown();
        int most = Math.max(BURST_LEAST, known * question.world().limits().burstPercent() / 100);
        return ill.size() > most
                ? Optional.of(ill.size() + " of " + known + " nodes fell ill within two minutes: that has one cause")
                : Optional.empty();
    }

    private static boolean concerns(String subject, Question question) {
        if (!subject.startsWith("rack:")) {
            return true;
        }
        String rack = subject.substring("rack:".length());
        String label = question.world().limits().rackLabel();
        return question.nodes().stream().anyMatch(name -> {
            NodeState node = question.world().ledger().node(name);
            return node != null && rack.equals(node.getLabelsMap().get(label));
        });
    }
}

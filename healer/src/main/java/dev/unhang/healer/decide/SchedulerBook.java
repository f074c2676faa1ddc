package dev.unhang.healer.decide;

import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.SchedulerFact;
import dev.unhang.events.v1.SchedulerNode;
import java.util.Locale;

/**
 * Keeps what the scheduler says of each node, so that what a person did there stays. Once it says another reason than
 * ours, or that the node is in service, the node is not ours to give back. Holds nothing itself.
 */
final class SchedulerBook {

    private static final String UNKNOWN = "UNKNOWN";

    private SchedulerBook() {}

    static void fact(Turn turn, SchedulerFact fact) {
        NodeState node = fact.getNode().isEmpty() ? null : turn.ledger().node(fact.getNode());
        // A scheduler that does not answer says nothing: what it said last still counts.
        if (node == null
                || node.getForgotten()
                || fact.getNodeState().toUpperCase(Locale.ROOT).equals(UNKNOWN)) {
            return;
        }
        SchedulerNode before = node.getScheduler();
        SchedulerNode.Builder next = before.toBuilder()
                .setState(fact.getNodeState())
                .setReason(fact.getReason())
                .setWho(fact.getWho());
        boolean lost = !before.getOurs().isEmpty() && !fact.getReason().equals(before.getOurs());
        if (lost) {
            next.clearOurs().clearIncident();
        }
        if (!next.build().equals(before)) {
            turn.node(
                    node.toBuilder().setScheduler(next).build(),
                    fact.getScheduler() + " says that node " + node.getNode() + " is " + fact.getNodeState()
                            + (fact.getReason().isEmpty() ? "" : " (" + fact.getReason() + ")")
                            + (lost ? "; it is not ours to give back any more" : ""));
        }
    }
}

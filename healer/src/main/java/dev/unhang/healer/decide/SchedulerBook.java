package dev.unhang.healer.decide;

import dev.unhang.events.v1.Command;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.SchedulerFact;
import dev.unhang.events.v1.SchedulerNode;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.ledger.Ledger;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;

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
        // Whoever drained it for us may have died before he could say so.
        Optional<Command> ours = before.getOurs().isEmpty() ? drain(turn.ledger(), fact) : Optional.empty();
        ours.ifPresent(command -> next.setOurs(fact.getReason()).setIncident(command.getIncident()));
        if (!next.build().equals(before)) {
            turn.node(
                    node.toBuilder().setScheduler(next).build(),
                    fact.getScheduler() + " says that node " + node.getNode() + " is " + fact.getNodeState()
                            + (fact.getReason().isEmpty() ? "" : " (" + fact.getReason() + ")")
                            + (lost ? "; it is not ours to give back any more" : "")
                            + (ours.isPresent()
                                    ? "; that is ours, by " + ours.get().getId()
                                    : ""));
        }
    }

    /** The granted command whose reason, word for word, the scheduler gives for the node that it holds back. */
    private static Optional<Command> drain(Ledger ledger, SchedulerFact fact) {
        return Aims.drainedFor(fact.getReason()).map(ledger::incident).map(Incident::getCommandsList).stream()
                .flatMap(List::stream)
                .map(ledger::command)
                .filter(Objects::nonNull)
                .filter(command -> command.getGrantedLogMs() > 0
                        && command.getOffer().getAction().equals(Action.DRAIN.label())
                        && command.getOffer().getParametersOrDefault("node", "").equals(fact.getNode())
                        && command.getOffer()
                                .getParametersOrDefault("reason", "")
                                .equals(fact.getReason()))
                .findFirst();
    }
}

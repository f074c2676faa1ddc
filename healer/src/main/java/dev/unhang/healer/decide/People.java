package dev.unhang.healer.decide;

import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.PauseSwitch;
import dev.unhang.events.v1.StateValue;
import dev.unhang.healer.incident.Kinds;
import dev.unhang.healer.incident.Transitions;
import java.util.List;
import java.util.Set;

/**
 * Does what a person decided. Each decision gets at least one entry that bears its id, also when it is refused, so that
 * whoever asked can read the answer in the journal. Holds nothing itself.
 */
final class People {

    private final IncidentBook book;

    People(IncidentBook book) {
        this.book = book;
    }

    void decide(Turn turn, OperatorDecision decision) {
        turn.answering(decision);
        switch (decision.getVerb()) {
            case "dismiss" -> dismiss(turn, decision);
            case "pause" -> pause(turn, decision, true);
            case "resume" -> pause(turn, decision, false);
            case "take" -> take(turn, decision);
            case "give" -> give(turn, decision);
            case "forget" -> forget(turn, decision);
            case "maintenance" -> maintenance(turn, decision);
            case "approve", "deny" ->
                turn.answer(
                        "nothing to " + decision.getVerb() + ": nothing waits for approval as " + decision.getTarget(),
                        true,
                        "");
            default -> turn.answer("'" + decision.getVerb() + "' is nothing that can be decided", true, "");
        }
        turn.answering(null);
    }

    private void dismiss(Turn turn, OperatorDecision decision) {
        Incident incident = turn.ledger().incident(decision.getTarget());
        if (incident == null) {
            turn.answer("there is no incident " + decision.getTarget(), true, "");
        } else if (!Transitions.personMayDismiss(incident.getState())) {
            turn.answer(
                    incident.getId() + " is " + Kinds.name(incident.getState()) + " and cannot be dismissed",
                    true,
                    incident.getId());
        } else {
            book.dismiss(turn, incident, decision.getWho(), decision.getWhy());
        }
    }

    private static void pause(Turn turn, OperatorDecision decision, boolean paused) {
        PauseSwitch next = PauseSwitch.newBuilder()
                .setPaused(paused)
                .setWho(decision.getWho())
                .setWhy(decision.getWhy())
                .setSinceLogMs(turn.now().logMs())
                .build();
        turn.put(
                Ledger.PAUSE,
                StateValue.newBuilder().setPause(next).build(),
                (paused ? "paused by " : "resumed by ") + decision.getWho() + why(decision));
    }

    private static void take(Turn turn, OperatorDecision decision) {
        String name = decision.getTarget();
        NodeState node = turn.ledger().node(name);
        if (node == null || node.getForgotten()) {
            turn.answer("no node " + name + " is known", true, "");
        } else {
            turn.node(
                    node.toBuilder().setTakenBy(decision.getWho()).build(),
                    "node " + name + " was taken by " + decision.getWho() + why(decision));
        }
    }

    private static void give(Turn turn, OperatorDecision decision) {
        String name = decision.getTarget();
        NodeState node = turn.ledger().node(name);
        if (node == null || node.getTakenBy().isEmpty()) {
            turn.answer("nobody took a node " + name, true, "");
        } else {
            turn.node(
                    node.toBuilder().clearTakenBy().build(),
                    "node " + name + " was given back by " + decision.getWho() + why(decision));
        }
    }

    private void forget(Turn turn, OperatorDecision decision) {
        String name = decision.getTarget();
        NodeState node = turn.ledger().node(name);
        if (node == null || node.getForgotten()) {
            turn.answer("no node " + name + " is known", true, "");
            return;
        }
        turn.node(
                NodeState.newBuilder()
                        .setNode(name)
                        .setForgotten(true)
                        .setPartition(node.getPartition())
                        .setFirstSeenLogMs(node.getFirstSeenLogMs())
                        .setLastSeenLogMs(turn.now().logMs())
                        .build(),
                "node " + name + " was forgotten by " + decision.getWho() + why(decision));
        for (Incident incident : List.copyOf(turn.ledger().openIncidents())) {
            if (Kinds.nodes(incident.getFinding()).equals(Set.of(name))
                    && !Kinds.isJob(incident.getKind())
                    && Transitions.personMayDismiss(incident.getState())) {
                book.forget(turn, incident, decision.getWho(), name);
            }
        }
    }

    private static void maintenance(Turn turn, OperatorDecision decision) {
        String name = decision.getTarget();
        NodeState node = turn.ledger().node(name);
        if (node == null || node.getForgotten()) {
            turn.answer("no node " + name + " is known", true, "");
        } else if (decision.getForMs() == 0) {
            turn.node(
                    node.toBuilder().clearMaintenanceUntilLogMs().build(),
                    "maintenance of node " + name + " was ended by " + decision.getWho() + why(decision));
        } else {
            turn.node(
                    node.toBuilder()
                            .setMaintenanceUntilLogMs(turn.now().logMs() + decision.getForMs())
                            .build(),
                    "node " + name + " is in maintenance for " + decision.getForMs() / 1000 + " s, by "
                            + decision.getWho() + why(decision));
        }
    }

    private static String why(OperatorDecision decision) {
        return decision.getWhy().isEmpty() ? "" : ": " + decision.getWhy();
    }
}

package dev.unhang.healer.decide;

import dev.unhang.events.v1.Approval;
import dev.unhang.events.v1.ApprovalAnswer;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.PauseSwitch;
import dev.unhang.events.v1.Silence;
import dev.unhang.events.v1.StateValue;
import dev.unhang.healer.incident.Kinds;
import dev.unhang.healer.incident.Step;
import dev.unhang.healer.incident.Transitions;
import dev.unhang.healer.ledger.Ledger;
import java.util.List;
import java.util.Set;

/**
 * Does what a person decided. Each decision gets at least one entry that bears its id, also when it is refused, so that
 * whoever asked can read the answer in the journal. Holds nothing itself.
 */
final class People {

    private final IncidentBook book;
    private final CommandBook commands;

    People(IncidentBook book, CommandBook commands) {
        this.book = book;
        this.commands = commands;
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
            case "approve" -> approval(turn, decision, ApprovalAnswer.APPROVAL_GIVEN);
            case "deny" -> approval(turn, decision, ApprovalAnswer.APPROVAL_DENIED);
            case "silence" -> silence(turn, decision);
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

    /** Of the step that the incident stands on: while it waits, and after it was denied or nobody answered. */
    private static void approval(Turn turn, OperatorDecision decision, ApprovalAnswer answer) {
        Incident incident = turn.ledger().incident(decision.getTarget());
        boolean given = answer == ApprovalAnswer.APPROVAL_GIVEN;
        if (incident == null) {
            turn.answer("there is no incident " + decision.getTarget(), true, "");
            return;
        }
        boolean waits = incident.getState() == IncidentState.INCIDENT_AWAITING_APPROVAL;
        boolean answered = given && incident.getState() == IncidentState.INCIDENT_HELD && incident.hasApproval();
        if (!waits && !answered) {
            turn.answer(
                    "nothing to " + decision.getVerb() + ": " + incident.getId() + " is "
                            + Kinds.name(incident.getState()) + " and does not wait for a yes",
                    true,
                    incident.getId());
            return;
        }
        Incident next = incident.toBuilder()
                .setApproval(Approval.newBuilder()
                        .setWho(decision.getWho())
                        .setWhy(decision.getWhy())
                        .setAnswer(answer)
                        .setLogMs(turn.now().logMs()))
                .build();
        String sentence = (given ? "approved by " : "denied by ") + decision.getWho() + why(decision);
        turn.incident(incident.getState(), new Step(next, sentence, List.of()));
        turn.loosen();
    }

    private static void silence(Turn turn, OperatorDecision decision) {
        String key = Ledger.silenceKey(decision.getTarget());
        if (decision.getForMs() == 0) {
            turn.put(key, null, decision.getTarget() + " is silenced no more, by " + decision.getWho() + why(decision));
            return;
        }
        Silence silence = Silence.newBuilder()
                .setId(decision.getTarget())
                .setMatcher(decision.getTarget())
                .setWho(decision.getWho())
                .setWhy(decision.getWhy())
                .setUntilLogMs(turn.now().logMs() + decision.getForMs())
                .build();
        turn.put(
                key,
                StateValue.newBuilder().setSilence(silence).build(),
                decision.getTarget() + " is silenced for " + decision.getForMs() / 1000 + " s, by " + decision.getWho()
                        + why(decision));
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

    private void give(Turn turn, OperatorDecision decision) {
        String name = decision.getTarget();
        NodeState node = turn.ledger().node(name);
        if (node == null || node.getTakenBy().isEmpty()) {
            // Of a node that nobody took it says that what timed out there is over. To give back what one has taken
            // says
            // nothing of that.
            if (!commands.cleared(turn, name, decision.getWho())) {
                turn.answer("nobody took a node " + name + ", and nothing that timed out locks it", true, "");
            }
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

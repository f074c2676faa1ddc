package dev.unhang.healer.decide;

import dev.unhang.events.v1.GuardAnswer;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.PauseSwitch;
import dev.unhang.healer.incident.Kinds;
import dev.unhang.healer.incident.Transitions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Asks everything that can say no to an action on an incident's nodes, and keeps each answer. The first refusal is the
 * one that people read, so the more telling ones stand first; observe mode is last, and always refuses in this version.
 * A pure function of the ledger and log time.
 */
final class Refusals {

    static final String OBSERVE = "observe mode: people are told, nothing is done";

    private Refusals() {}

    static List<GuardAnswer> ask(Incident incident, Ledger ledger, long nowMs) {
        List<GuardAnswer> answers = new ArrayList<>();
        answers.add(answer("pause", paused(ledger.pause())));
        answers.add(answer("cause", cause(incident, ledger)));
        answers.add(answer("taken", taken(incident, ledger)));
        answers.add(answer("maintenance", maintenance(incident, ledger, nowMs)));
        answers.add(answer("duplicate-node", duplicate(incident, ledger)));
        answers.add(answer("mode", Optional.of(OBSERVE)));
        return answers;
    }

    private static Optional<String> paused(PauseSwitch pause) {
        return pause.getPaused()
                ? Optional.of("paused by " + pause.getWho() + (pause.getWhy().isEmpty() ? "" : ": " + pause.getWhy()))
                : Optional.empty();
    }

    private static Optional<String> cause(Incident incident, Ledger ledger) {
        if (incident.getCause().isEmpty()) {
            return Optional.empty();
        }
        Incident cause = ledger.incident(incident.getCause());
        return cause != null && Transitions.open(cause.getState())
                ? Optional.of("cause under repair: " + cause.getId())
                : Optional.empty();
    }

    private static Optional<String> taken(Incident incident, Ledger ledger) {
        for (String name : Kinds.nodes(incident.getFinding())) {
            NodeState node = ledger.node(name);
            if (node != null && !node.getTakenBy().isEmpty()) {
                return Optional.of("node " + name + " was taken by " + node.getTakenBy());
            }
        }
        return Optional.empty();
    }

    private static Optional<String> maintenance(Incident incident, Ledger ledger, long nowMs) {
        for (String name : Kinds.nodes(incident.getFinding())) {
            NodeState node = ledger.node(name);
            if (node != null && node.hasMaintenanceUntilLogMs() && nowMs < node.getMaintenanceUntilLogMs()) {
                return Optional.of("node " + name + " is in maintenance");
            }
        }
        return Optional.empty();
    }

    private static Optional<String> duplicate(Incident incident, Ledger ledger) {
        for (String name : Kinds.nodes(incident.getFinding())) {
            Incident duplicate = ledger.openIn(Kinds.slot(IncidentKind.DUPLICATE_NODE, "node:" + name));
            if (duplicate != null) {
                return Optional.of("two machines call themselves " + name + ": " + duplicate.getId());
            }
        }
        return Optional.empty();
    }

    private static GuardAnswer answer(String guard, Optional<String> refusal) {
        return GuardAnswer.newBuilder()
                .setGuard(guard)
                .setAllowed(refusal.isEmpty())
                .setReason(refusal.orElse(""))
                .build();
    }
}

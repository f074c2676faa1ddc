package dev.unhang.healer.decide;

import dev.unhang.events.v1.Command;
import dev.unhang.events.v1.GuardAnswer;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.incident.Step;
import dev.unhang.healer.policy.Aim;
import dev.unhang.healer.policy.Condition;
import dev.unhang.healer.policy.Rung;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Has the ranks of a suspected hang looked at before it is confirmed: a checkpoint that nobody announced is seen in its
 * system calls. A look only reads, so every mode allows it, and it is no step of a ladder: it uses up no attempt and the
 * incident goes on as if it were not there. All other guards are asked. Holds nothing itself; what was asked before is in
 * the ledger.
 */
final class Looks {

    /** How it is offered; it puts nothing at risk. */
    static final Rung RUNG = new Rung(
            Action.LOOK,
            Condition.ALWAYS,
            Duration.ofSeconds(15),
            Rung.USUAL_VERIFY_WITHIN,
            Rung.USUAL_VERIFY_FOR,
            Duration.ZERO,
            1,
            Map.of());

    /** Looks at the ranks of one incident are so far apart, ms of log time. */
    static final long EVERY_MS = 30_000;

    /** For the twenty minutes within which a suspicion is confirmed or goes. */
    static final int MOST = 40;

    private static final long SWEEP_MS = 2_000;
    private static final String MARK = "-look-";
    private static final Set<IncidentKind> STANDSTILL =
            EnumSet.of(IncidentKind.JOB_HANG, IncidentKind.RANK_MISSING, IncidentKind.INPUT_STALL);

    private Looks() {}

    /** Whether the command is such a look, and not a step of a ladder. */
    static boolean is(Command command) {
        return command.getId().startsWith(command.getIncident() + MARK);
    }

    /** Whether the ranks of an incident are worth a look now. */
    static boolean wanted(Incident incident) {
        return incident.getState() == IncidentState.INCIDENT_SUSPECTED && STANDSTILL.contains(incident.getKind());
    }

    static void sweep(Turn turn, Rulings rulings, CommandBook commands) {
        if (!rulings.looks() || !turn.passed(SWEEP_MS, 0)) {
            return;
        }
        for (Incident incident : List.copyOf(turn.ledger().openIncidents())) {
            if (wanted(incident)) {
                Aims.look(incident.getFinding())
                        .filter(rulings::executorOf)
                        .ifPresent(aim -> ask(turn, commands, incident, aim));
            }
        }
    }

    private static void ask(Turn turn, CommandBook commands, Incident incident, Aim aim) {
        int before = 0;
        for (Command command : turn.ledger().commands()) {
            if (command.getIncident().equals(incident.getId()) && is(command)) {
                boolean tooSoon = turn.now().logMs() - command.getOfferedLogMs() < EVERY_MS;
                if (tooSoon || !command.getReleased()) {
                    return;
                }
                before++;
            }
        }
        if (before >= MOST) {
            return;
        }
        List<GuardAnswer> answers = commands.answersOfLook(turn, incident, aim, "");
        Optional<GuardAnswer> refusal =
                answers.stream().filter(answer -> !answer.getAllowed()).findFirst();
        if (refusal.isPresent()) {
            return; // a guard that refuses now may not in two seconds
        }
        String id = incident.getId() + MARK + (before + 1);
        Command command = commands.offer(turn, id, incident, aim, RUNG.timeout().toMillis());
        turn.incident(
                incident.getState(),
                new Step(incident, "offered: " + aim.sentence() + ", before it is confirmed", answers),
                List.of(Turn.change(command)));
    }
}

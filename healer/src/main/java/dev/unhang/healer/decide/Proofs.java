package dev.unhang.healer.decide;

import dev.unhang.events.v1.Command;
import dev.unhang.events.v1.CommandState;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.Standing;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.detect.job.JobSight;
import dev.unhang.healer.incident.Kinds;
import dev.unhang.healer.incident.LifeCycle;
import dev.unhang.healer.incident.LifeCycle.Proof;
import dev.unhang.healer.ledger.Ledger;
import dev.unhang.healer.policy.Rung;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether an action has helped: by the very signal that opened the incident, and of a job that was started anew
 * also by its training again. Holds nothing itself. Confined to the decider's thread.
 */
final class Proofs {

    /** Whether a node is known not to speak at this log time, ms. */
    interface Silent {
        boolean is(String node, long nowMs);
    }

    private final Ledger ledger;
    private final Rulings rulings;
    private final CommandBook commands;
    private final Function<String, Optional<JobSight>> jobs;
    private final Silent silent;

    Proofs(
            Ledger ledger,
            Rulings rulings,
            CommandBook commands,
            Function<String, Optional<JobSight>> jobs,
            Silent silent) {
        this.ledger = ledger;
        this.rulings = rulings;
        this.commands = commands;
        this.jobs = jobs;
        this.silent = silent;
    }

    /** Whether the signal of the incident is well, with the job back where it was to be started again. */
    boolean well(Incident incident, long nowMs) {
        if (incident.getFinding().getStanding() != Standing.WELL || unseen(incident, nowMs)) {
            return false;
        }
        return !mustReturn(incident) || !incident.getFinding().getOver() || trainsAgain(incident);
    }

    /** What a node said last of its parts proves nothing while it is silent. */
    private boolean unseen(Incident incident, long nowMs) {
        boolean ofParts = !Kinds.isJob(incident.getKind()) && incident.getKind() != IncidentKind.NODE_SILENT;
        return ofParts
                && !incident.getFinding().getOver()
                && Aims.culprit(incident.getFinding())
                        .filter(node -> silent.is(node, nowMs))
                        .isPresent();
    }

    /** Whether the incident's subject is no more and nothing was to bring it back. */
    boolean over(Incident incident) {
        return incident.getFinding().getOver() && !mustReturn(incident);
    }

    /** How long the signal must be well. */
    long wellMs(Incident incident) {
        Rung rung = incident.getCommandsCount() == 0 ? null : rulings.rungOf(incident);
        return rung == null
                ? LifeCycle.WELL_MS
                : Math.max(LifeCycle.WELL_MS, rung.verifyFor().toMillis());
    }

    /** What the last command came to. Asked while verifying, and only while all is covered. */
    Proof of(Incident incident, long nowMs) {
        Command command = commands.lastOf(incident);
        Rung rung = rulings.rungOf(incident);
        if (command == null) {
            return new Proof(Proof.Outcome.FAILED, "its command is not known any more", true);
        }
        boolean used = rung == null || incident.getRungAttempts() >= rung.attempts();
        String action = command.getOffer().getAction();
        if (harmless(command)) {
            return new Proof(
                    Proof.Outcome.FAILED,
                    action + (command.getState() == CommandState.COMMAND_DONE ? " is done" : " came to nothing")
                            + ": on to the next step",
                    true);
        }
        if (command.getGrantedLogMs() == 0) {
            return new Proof(Proof.Outcome.FAILED, action + " was never begun", used);
        }
        if (well(incident, nowMs)) {
            return Proof.STILL_OPEN;
        }
        boolean prepared = command.getState() == CommandState.COMMAND_DONE
                && Action.named(action).map(Action::prepares).orElse(false);
        if (prepared) {
            return new Proof(Proof.Outcome.FAILED, action + " is done: on to the next step", true);
        }
        long withinMs = command.getState() == CommandState.COMMAND_FAILED
                ? 0
                : (rung == null ? Rung.USUAL_VERIFY_WITHIN : rung.verifyWithin()).toMillis();
        Incident successor = mustReturn(incident) ? successor(incident) : null;
        if (successor != null) {
            return new Proof(
                    Proof.Outcome.CONTINUES, action + " did not help: it goes on as " + successor.getId(), false);
        }
        if (nowMs - incident.getRungLogMs() < withinMs) {
            return Proof.STILL_OPEN;
        }
        if (mustReturn(incident) && incident.getFinding().getOver()) {
            return new Proof(
                    Proof.Outcome.LOST,
                    "job " + incident.getFinding().getJob() + " did not train again within " + withinMs / 1000
                            + " s after " + action,
                    false);
        }
        return new Proof(
                Proof.Outcome.FAILED,
                action
                        + (command.getState() == CommandState.COMMAND_FAILED ? " failed" : " did not help")
                        + (used ? ": on to the next step" : ": once more"),
                used);
    }

    /** The incident at an earlier epoch of the same job that waits for the job to train again, or null. */
    @Nullable
    Incident predecessor(String job, String subject) {
        for (Incident other : ledger.openIncidents()) {
            if (Kinds.isJob(other.getKind())
                    && other.getFinding().getJob().equals(job)
                    && !other.getSubject().equals(subject)
                    && epoch(other.getSubject()) < epoch(subject)
                    && other.getState() == dev.unhang.events.v1.IncidentState.INCIDENT_VERIFYING
                    && mustReturn(other)) {
                return other;
            }
        }
        return null;
    }

    private @Nullable Incident successor(Incident incident) {
        for (Incident other : ledger.openIncidents()) {
            if (Kinds.isJob(other.getKind())
                    && other.getState() != dev.unhang.events.v1.IncidentState.INCIDENT_SUSPECTED
                    && other.getFinding().getJob().equals(incident.getFinding().getJob())
                    && epoch(other.getSubject()) > epoch(incident.getSubject())) {
                return other;
            }
        }
        return null;
    }

    private boolean trainsAgain(Incident incident) {
        Optional<JobSight> sight = jobs.apply(incident.getFinding().getJob());
        return sight.isPresent() && sight.get().trains() && sight.get().epoch() > epoch(incident.getSubject());
    }

    /** A job that we had started anew must train again; that its old processes are gone proves nothing. */
    private boolean mustReturn(Incident incident) {
        Command command = Kinds.isJob(incident.getKind()) ? commands.lastOf(incident) : null;
        return command != null
                && command.getGrantedLogMs() > 0
                && Action.named(command.getOffer().getAction())
                        .map(action -> action.scope() == Action.Scope.JOB)
                        .orElse(false);
    }

    private static boolean harmless(Command command) {
        return Action.named(command.getOffer().getAction())
                .map(action -> action.harm() == Action.Harm.NONE)
                .orElse(false);
    }

    private static int epoch(String subject) {
        int at = subject.lastIndexOf('@');
        try {
            return at < 0 ? 0 : Integer.parseInt(subject, at + 1, subject.length(), 10);
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}

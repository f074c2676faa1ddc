package dev.unhang.healer.incident;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.Severity;
import dev.unhang.events.v1.Standing;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The life of one incident, as pure functions from a value to the next. Each answers with the one step that is due, or
 * with nothing; the caller applies it and asks again until nothing is due. Times are milliseconds of log time.
 */
public final class LifeCycle {

    /** How long a signal must have been well and covered, without a break, before the incident is resolved. */
    public static final long WELL_MS = 60_000;

    private LifeCycle() {}

    /**
     * What the step needs to know of the world beside the incident.
     *
     * @param covered whether each partition that the incident's nodes are in is covered
     * @param well whether its signal is well; after a repair that also says that what was repaired is back
     * @param over whether its subject is no more, so that it cannot be unwell again
     * @param wellMs how long the signal must be well
     * @param ask whether what was ruled before is to be ruled again
     * @param ruling what is to be done about it now
     * @param proof after an action: whether it has helped
     */
    public record World(
            boolean covered,
            boolean well,
            boolean over,
            long wellMs,
            boolean ask,
            Supplier<Ruling> ruling,
            Supplier<Proof> proof) {}

    /**
     * What an action came to.
     *
     * @param sentence why it has not helped
     * @param nextRung whether the same step is not to be tried again
     */
    public record Proof(Outcome outcome, String sentence, boolean nextRung) {

        /** In one word. */
        public enum Outcome {
            /** Not decided yet. */
            OPEN,
            /** It did not help, or was never begun: go on with the ladder. */
            FAILED,
            /** It did not help, and a newer incident about the same goes on with the ladder. */
            CONTINUES,
            /** What it was about is gone, so that no step can help any more: a person must look. */
            LOST
        }

        public static final Proof STILL_OPEN = new Proof(Outcome.OPEN, "", false);
    }

    /** A new incident, in the state suspected whatever the finding says: it is confirmed by a step of its own. */
    public static Step open(Finding finding, Moment now) {
        long said = finding.getStampMs() > 0 ? finding.getStampMs() : now.stampMs();
        Incident.Builder incident = Incident.newBuilder()
                .setId(IncidentId.of(finding.getKind(), finding.getSubject(), now.offset()))
                .setKind(finding.getKind())
                .setSubject(finding.getSubject())
                .setState(IncidentState.INCIDENT_SUSPECTED)
                .setSeverity(Severity.INFO)
                .setFinding(finding)
                .setOpenedOffset(now.offset())
                .setOpenedLogMs(now.logMs())
                .setOpenedStampMs(now.stampMs())
                .setOnsetStampMs(Math.max(0, said - finding.getAgeMs()))
                .setStateLogMs(now.logMs())
                .setUpdatedLogMs(now.logMs());
        String evidence = finding.getEvidenceCount() == 0 ? "" : ": " + finding.getEvidence(0);
        return Step.of(incident, Kinds.name(finding.getKind()) + " suspected on " + finding.getSubject() + evidence);
    }

    /** Takes over what was said of the incident's subject. */
    public static Optional<Step> hear(Incident incident, Finding said, Moment now) {
        return Voices.hear(incident, said, now);
    }

    /** Drops what one voice said, because its origin did not say it again. */
    public static Optional<Step> drop(Incident incident, Finding voice, String why, Moment now) {
        return Voices.drop(incident, voice, why, now);
    }

    /** The step that is due now. */
    public static Optional<Step> advance(Incident incident, Moment now, World world) {
        if (!Transitions.open(incident.getState())) {
            return Optional.empty();
        }
        if (incident.getState() == IncidentState.INCIDENT_SUSPECTED) {
            return suspected(incident, now, world);
        }
        Optional<Step> ending = towardsWell(incident, now, world);
        if (ending.isPresent() || !world.covered()) {
            return ending;
        }
        return switch (incident.getState()) {
            case INCIDENT_CONFIRMED -> ruled(incident, now, world.ruling().get());
            case INCIDENT_HELD, INCIDENT_AWAITING_APPROVAL ->
                world.ask() ? ruled(incident, now, world.ruling().get()) : Optional.empty();
            case INCIDENT_VERIFYING -> verified(incident, now, world.proof().get());
            default -> Optional.empty();
        };
    }

    /** Its command has ended. */
    public static Incident.Builder ended(Incident incident, Moment now) {
        return to(incident, IncidentState.INCIDENT_VERIFYING, now).setRungLogMs(now.logMs());
    }

    /** Ends the incident because a person said so. The caller has checked that this is legal now. */
    public static Step dismissed(Incident incident, String who, String why, Moment now) {
        if (!Transitions.personMayDismiss(incident.getState())) {
            throw new IllegalStateException(
                    "a person cannot dismiss " + incident.getId() + " while it is " + Kinds.name(incident.getState()));
        }
        String sentence = "dismissed by " + who + (why.isEmpty() ? "" : ": " + why);
        return Step.of(close(incident, IncidentState.INCIDENT_DISMISSED, sentence, now), sentence);
    }

    private static Optional<Step> suspected(Incident incident, Moment now, World world) {
        if (!world.covered()) {
            return Optional.empty();
        }
        if (world.well()) {
            String sentence = "it went away before it was confirmed";
            return Optional.of(Step.of(close(incident, IncidentState.INCIDENT_DISMISSED, sentence, now), sentence));
        }
        if (incident.getFinding().getStanding() != Standing.CONFIRMED) {
            return Optional.empty();
        }
        IncidentKind kind = incident.getKind();
        return Optional.of(Step.of(
                to(incident, IncidentState.INCIDENT_CONFIRMED, now)
                        .setSeverity(Kinds.severity(kind, incident.getFinding())),
                Kinds.name(kind) + " confirmed on " + incident.getSubject()));
    }

    private static Optional<Step> towardsWell(Incident incident, Moment now, World world) {
        if (!world.well() || !world.covered()) {
            return incident.hasWellSinceLogMs()
                    ? Optional.of(
                            Step.of(incident.toBuilder().clearWellSinceLogMs(), "not well any more, or not covered"))
                    : Optional.empty();
        }
        if (!incident.hasWellSinceLogMs()) {
            return Optional.of(Step.of(
                    incident.toBuilder().setWellSinceLogMs(now.logMs()),
                    world.over()
                            ? "well and covered"
                            : "well and covered since now; resolved when that holds for " + world.wellMs() / 1000
                                    + " s"));
        }
        if (!Transitions.endsWhenWell(incident.getState())
                || (!world.over() && now.logMs() - incident.getWellSinceLogMs() < world.wellMs())) {
            return Optional.empty();
        }
        String sentence = world.over()
                ? incident.getSubject() + " is no more"
                : "its signal has been well for " + world.wellMs() / 1000 + " s";
        return Optional.of(Step.of(close(incident, IncidentState.INCIDENT_RESOLVED, sentence, now), sentence));
    }

    private static Optional<Step> ruled(Incident incident, Moment now, Ruling ruling) {
        if (incident.getFinding().getStanding() != Standing.CONFIRMED && ruling.verdict() != Ruling.Verdict.HOLD) {
            return Optional.empty();
        }
        IncidentState state = switch (ruling.verdict()) {
            case HOLD -> IncidentState.INCIDENT_HELD;
            case AWAIT -> IncidentState.INCIDENT_AWAITING_APPROVAL;
            case ACT -> IncidentState.INCIDENT_ACTING;
            case ESCALATE -> IncidentState.INCIDENT_ESCALATED;
        };
        if (state == incident.getState()
                && ruling.rung() == incident.getRung()
                && (state == IncidentState.INCIDENT_AWAITING_APPROVAL
                        || ruling.sentence().equals(incident.getHeldReason()))) {
            return Optional.empty();
        }
        Incident.Builder next = (state == incident.getState() ? incident.toBuilder() : to(incident, state, now))
                .setPlaybook(ruling.playbook())
                .setRung(ruling.rung())
                .setRungAttempts(ruling.rungAttempts());
        if (ruling.approval() == null) {
            next.clearApproval();
        } else {
            next.setApproval(ruling.approval());
        }
        String sentence;
        switch (ruling.verdict()) {
            case HOLD -> {
                next.setHeldReason(ruling.sentence()).setHeldAskedLogMs(now.logMs());
                sentence = "held: " + ruling.sentence();
            }
            case AWAIT -> sentence = "waits for a person's yes: " + ruling.sentence();
            case ESCALATE -> {
                next.setCalledPerson(true);
                sentence = "a person is called: " + ruling.sentence();
            }
            default -> {
                next.setRungAttempts(ruling.rungAttempts() + 1).clearWellSinceLogMs();
                sentence = "offered: " + ruling.sentence();
            }
        }
        return Optional.of(new Step(next.build(), sentence, ruling.answers()));
    }

    private static Optional<Step> verified(Incident incident, Moment now, Proof proof) {
        if (proof.outcome() == Proof.Outcome.OPEN) {
            return Optional.empty();
        }
        if (proof.outcome() == Proof.Outcome.LOST) {
            return Optional.of(Step.of(
                    to(incident, IncidentState.INCIDENT_ESCALATED, now).setCalledPerson(true),
                    "a person is called: " + proof.sentence()));
        }
        if (proof.outcome() == Proof.Outcome.CONTINUES) {
            return Optional.of(
                    Step.of(close(incident, IncidentState.INCIDENT_RESOLVED, proof.sentence(), now), proof.sentence()));
        }
        Incident.Builder next = to(incident, IncidentState.INCIDENT_CONFIRMED, now);
        if (proof.nextRung()) {
            next.setRung(incident.getRung() + 1).setRungAttempts(0).clearApproval();
        }
        return Optional.of(Step.of(next, proof.sentence()));
    }

    private static Incident.Builder close(Incident incident, IncidentState end, String sentence, Moment now) {
        return to(incident, end, now)
                .setClosedBy(sentence)
                .setClosedLogMs(now.logMs())
                .setClosedStampMs(now.stampMs());
    }

    private static Incident.Builder to(Incident incident, IncidentState state, Moment now) {
        if (!Transitions.legal(incident.getState(), state)
                && !(state == IncidentState.INCIDENT_DISMISSED && Transitions.personMayDismiss(incident.getState()))) {
            throw new IllegalStateException("incident " + incident.getId() + " cannot go from "
                    + Kinds.name(incident.getState()) + " to " + Kinds.name(state));
        }
        return incident.toBuilder().setState(state).setStateLogMs(now.logMs()).clearHeldReason();
    }
}

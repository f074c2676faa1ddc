package dev.unhang.healer.incident;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.GuardAnswer;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.Severity;
import dev.unhang.events.v1.Standing;
import java.util.List;
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
     * @param ask whether the guards are to be asked again where they were asked before
     * @param answers asks them; the first refusal is the one that is named
     */
    public record World(boolean covered, boolean ask, Supplier<List<GuardAnswer>> answers) {}

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
        boolean well = incident.getFinding().getStanding() == Standing.WELL;
        if (incident.getState() == IncidentState.INCIDENT_SUSPECTED) {
            return suspected(incident, now, world, well);
        }
        Optional<Step> ending = towardsWell(incident, now, well && world.covered());
        if (ending.isPresent() || !world.covered()) {
            return ending;
        }
        return switch (incident.getState()) {
            case INCIDENT_CONFIRMED ->
                Optional.of(asked(incident, now, world.answers().get()));
            case INCIDENT_HELD ->
                world.ask() ? askedAgain(incident, now, world.answers().get()) : Optional.empty();
            default -> Optional.empty();
        };
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

    private static Optional<Step> suspected(Incident incident, Moment now, World world, boolean well) {
        if (!world.covered()) {
            return Optional.empty();
        }
        if (well) {
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

    private static Optional<Step> towardsWell(Incident incident, Moment now, boolean wellAndCovered) {
        if (!wellAndCovered) {
            return incident.hasWellSinceLogMs()
                    ? Optional.of(
                            Step.of(incident.toBuilder().clearWellSinceLogMs(), "not well any more, or not covered"))
                    : Optional.empty();
        }
        if (!incident.hasWellSinceLogMs()) {
            return Optional.of(Step.of(
                    incident.toBuilder().setWellSinceLogMs(now.logMs()),
                    incident.getFinding().getOver()
                            ? "well and covered"
                            : "well and covered since now; resolved when that holds for " + WELL_MS / 1000 + " s"));
        }
        boolean over = incident.getFinding().getOver();
        if (!Transitions.endsWhenWell(incident.getState())
                || (!over && now.logMs() - incident.getWellSinceLogMs() < WELL_MS)) {
            return Optional.empty();
        }
        String sentence =
                over ? incident.getSubject() + " is no more" : "its signal has been well for " + WELL_MS / 1000 + " s";
        return Optional.of(Step.of(close(incident, IncidentState.INCIDENT_RESOLVED, sentence, now), sentence));
    }

    private static Step asked(Incident incident, Moment now, List<GuardAnswer> answers) {
        String reason = refusal(answers);
        Incident next = to(incident, IncidentState.INCIDENT_HELD, now)
                .setHeldReason(reason)
                .setHeldAskedLogMs(now.logMs())
                .build();
        return new Step(next, "held: " + reason, answers);
    }

    private static Optional<Step> askedAgain(Incident incident, Moment now, List<GuardAnswer> answers) {
        String reason = refusal(answers);
        if (reason.equals(incident.getHeldReason())) {
            return Optional.empty();
        }
        Incident next = incident.toBuilder()
                .setHeldReason(reason)
                .setHeldAskedLogMs(now.logMs())
                .build();
        return Optional.of(new Step(next, "held: " + reason, answers));
    }

    private static String refusal(List<GuardAnswer> answers) {
        return answers.stream()
                .filter(answer -> !answer.getAllowed())
                .findFirst()
                .map(GuardAnswer::getReason)
                .orElseThrow(() -> new IllegalStateException("no guard refused, and this build has no actions"));
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

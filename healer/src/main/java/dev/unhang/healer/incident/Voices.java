package dev.unhang.healer.incident;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.Suspect;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What is said of one subject. Several origins may speak of it (the owner of its node's partition, the decider's own
 * detectors), and of a job each about several kinds; what each said last stands until it says something else. One of
 * them leads and is what people see: the incident's {@code finding}; the rest are its {@code others}. While the incident
 * is suspected its kind follows the leader. Once it is confirmed only voices of its own kind may lead, because it ends
 * when the very signal that opened it is well. Pure.
 */
public final class Voices {

    /** How often numbers alone (age, figures, wording) are taken over, ms of log time; anything else is at once. */
    static final long REFRESH_MS = 10_000;

    private static final Comparator<Finding> STRONGEST = Comparator.<Finding>comparingInt(
                    finding -> finding.getStanding() == Standing.CONFIRMED ? 0 : 1)
            .thenComparingInt(finding -> -finding.getSeverityValue())
            .thenComparingInt(Finding::getKindValue)
            .thenComparingInt(finding -> finding.getOrigin().getPartition());

    private Voices() {}

    /** Everything that is said of the incident's subject and is not well. */
    public static List<Finding> standing(Incident incident) {
        List<Finding> voices = new ArrayList<>();
        if (stands(incident.getFinding())) {
            voices.add(incident.getFinding());
        }
        voices.addAll(incident.getOthersList());
        return voices;
    }

    /** Whether the finding says that something is wrong. */
    public static boolean stands(Finding finding) {
        return finding.getStanding() == Standing.SUSPECTED || finding.getStanding() == Standing.CONFIRMED;
    }

    /** Whether both are said by the same origin about the same kind, so that the later replaces the earlier. */
    public static boolean sameVoice(Finding a, Finding b) {
        return a.getKind() == b.getKind()
                && a.getOrigin().getPartition() == b.getOrigin().getPartition();
    }

    /** Takes over what was said; empty when it is nothing new. */
    static Optional<Step> hear(Incident incident, Finding said, Moment now) {
        List<Finding> voices = new ArrayList<>();
        boolean known = false;
        for (Finding voice : standing(incident)) {
            if (sameVoice(voice, said)) {
                known = true;
                if (same(voice, said, now.logMs() - incident.getUpdatedLogMs() >= REFRESH_MS)) {
                    return Optional.empty();
                }
            } else {
                voices.add(voice);
            }
        }
        if (stands(said)) {
            voices.add(said);
        } else if (!known) {
            return Optional.empty();
        }
        return Optional.of(settle(incident, voices, said, now));
    }

    /** Drops what one voice said, because its origin did not say it again. */
    static Optional<Step> drop(Incident incident, Finding voice, String why, Moment now) {
        Finding well = voice.toBuilder()
                .setStanding(Standing.WELL)
                .clearEvidence()
                .addEvidence(why)
                .build();
        return hear(incident, well, now);
    }

    private static Step settle(Incident incident, List<Finding> voices, Finding said, Moment now) {
        boolean kindIsOpen = incident.getState() == IncidentState.INCIDENT_SUSPECTED;
        IncidentKind kind = incident.getKind();
        Optional<Finding> leader = voices.stream()
                .filter(voice -> kindIsOpen || voice.getKind() == kind)
                .min(STRONGEST);
        Finding finding = leader.orElseGet(() -> incident.getFinding().toBuilder()
                .setStanding(Standing.WELL)
                .setOver(said.getOver())
                .build());
        Incident.Builder next =
                incident.toBuilder().setFinding(finding).clearOthers().setUpdatedLogMs(now.logMs());
        voices.stream()
                .filter(voice -> leader.isEmpty() || !voice.equals(leader.get()))
                .forEach(next::addOthers);
        if (leader.isPresent()) {
            next.setKind(finding.getKind());
        }
        return Step.of(next, sentence(incident, next, said));
    }

    private static String sentence(Incident before, Incident.Builder after, Finding said) {
        if (after.getKind() != before.getKind()) {
            return "it is " + Kinds.name(after.getKind()) + " now, not " + Kinds.name(before.getKind())
                    + firstEvidence(after.getFinding());
        }
        String what = Kinds.name(said.getKind());
        if (!stands(said)) {
            return stands(after.getFinding())
                    ? "one of the signals of " + what + " is well" + firstEvidence(said)
                    : "the signal of " + what + " is well" + firstEvidence(said);
        }
        return what + " still stands" + firstEvidence(said);
    }

    private static String firstEvidence(Finding finding) {
        return finding.getEvidenceCount() == 0 ? "" : ": " + finding.getEvidence(0);
    }

    private static boolean same(Finding before, Finding said, boolean numbersToo) {
        if (before.equals(said)) {
            return true;
        }
        return !numbersToo
                && before.getOrigin().equals(said.getOrigin())
                && before.getStanding() == said.getStanding()
                && before.getSeverity() == said.getSeverity()
                && before.getCause().equals(said.getCause())
                && before.getNodesList().equals(said.getNodesList())
                && before.getJob().equals(said.getJob())
                && before.getEvidenceCount() == said.getEvidenceCount()
                && names(before).equals(names(said));
    }

    private static List<String> names(Finding finding) {
        List<String> names = new ArrayList<>();
        for (Suspect suspect : finding.getSuspectsList()) {
            names.add(suspect.getNode()
                    + '/'
                    + (suspect.hasRank() ? suspect.getRank() : "-")
                    + '/'
                    + suspect.getGpu()
                    + '/'
                    + suspect.getConfidence());
        }
        return names;
    }
}

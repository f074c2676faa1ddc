package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.Severity;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.Suspect;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What is said of one job at one epoch. A job has one trouble at a time: when its kind changes, the new one is said
 * before the old one is well, so that nobody takes it for two. Once confirmed it does not become a suspicion again, nor
 * another kind.
 */
final class Findings {

    private static final int OWN_PARTITION = -1;

    private final String job;
    private final String subject;
    private final Map<IncidentKind, Finding> said = new LinkedHashMap<>();

    Findings(String job, int epoch) {
        this.job = job;
        this.subject = "job:" + job + "@" + epoch;
    }

    boolean any() {
        return !said.isEmpty();
    }

    Collection<Finding> standing() {
        return List.copyOf(said.values());
    }

    void say(
            IncidentKind kind,
            Standing standing,
            long ageMs,
            long stampMs,
            List<Suspect> suspects,
            List<String> evidence,
            Set<String> nodes,
            String cause,
            List<Finding> out) {
        IncidentKind now = kind;
        Standing strength = standing;
        for (Finding before : said.values()) {
            if (before.getStanding() == Standing.CONFIRMED) {
                now = before.getKind();
                strength = Standing.CONFIRMED;
            }
        }
        Finding finding = Finding.newBuilder()
                .setOrigin(Origin.newBuilder().setPartition(OWN_PARTITION))
                .setKind(now)
                .setSubject(subject)
                .setStanding(strength)
                .setAgeMs(Math.max(0, ageMs))
                .setStampMs(stampMs)
                .addAllSuspects(suspects)
                .addAllEvidence(evidence)
                .addAllNodes(nodes)
                .setJob(job)
                .setCause(cause)
                .setSeverity(now == IncidentKind.INPUT_STALL ? Severity.WARNING : Severity.CRITICAL)
                .putFigures("still_seconds", ageMs / 1000.0)
                .build();
        Finding before = said.put(now, finding);
        if (before == null || before.getStanding() != strength || !top(before).equals(top(finding))) {
            out.add(finding);
        }
        for (IncidentKind other : List.copyOf(said.keySet())) {
            if (other != now) {
                well(other, "it is another kind of trouble", stampMs, out);
            }
        }
    }

    void well(IncidentKind kind, String why, long stampMs, List<Finding> out) {
        Finding before = said.remove(kind);
        if (before != null) {
            out.add(before.toBuilder()
                    .setStanding(Standing.WELL)
                    .setStampMs(stampMs)
                    .setAgeMs(0)
                    .clearEvidence()
                    .addEvidence(why)
                    .build());
        }
    }

    void allWell(String why, long stampMs, List<Finding> out) {
        for (IncidentKind kind : List.copyOf(said.keySet())) {
            well(kind, why, stampMs, out);
        }
    }

    /** Who is first, and how sure: what makes the same standing news. */
    private static String top(Finding finding) {
        if (finding.getSuspectsCount() == 0) {
            return finding.getCause();
        }
        Suspect first = finding.getSuspects(0);
        return first.getNode() + "/" + first.getRank() + "/" + first.getConfidence() + "/" + finding.getCause();
    }
}

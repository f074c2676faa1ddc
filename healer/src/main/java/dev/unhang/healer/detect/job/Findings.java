package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.RankProcess;
import dev.unhang.events.v1.Severity;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.Suspect;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What is said of one job at one epoch. A job has one trouble at a time: when its kind changes, the new one is said
 * before the old one is well, so that nobody takes it for two. Once confirmed it does not become a suspicion again, and a
 * standstill that is confirmed keeps its kind; a slow job may come to a standstill.
 */
final class Findings {

    private static final int OWN_PARTITION = -1;

    private final String job;
    private final String subject;
    /** What is only suspected is said again so often, so that its figures are of now, ms. */
    private static final long REFRESH_MS = 30_000;

    private long saidAgeMs;
    private final Map<IncidentKind, Finding> said = new LinkedHashMap<>();

    /** When what was said last was true, log time. */
    private long saidLogMs;

    Findings(String job, int epoch) {
        this.job = job;
        this.subject = "job:" + job + "@" + epoch;
    }

    boolean any() {
        return !said.isEmpty();
    }

    boolean standing(IncidentKind kind) {
        return said.containsKey(kind);
    }

    /** Each that stands, with its age as of now. */
    Collection<Finding> standing(long nowMs) {
        List<Finding> standing = new ArrayList<>(said.size());
        for (Finding each : said.values()) {
            long since = Math.max(0, nowMs - saidLogMs);
            standing.add(
                    since == 0
                            ? each
                            : each.toBuilder().setAgeMs(each.getAgeMs() + since).build());
        }
        return standing;
    }

    /**
     * Says what a look came to, where it is news: some trouble.
     *
     * @param processes whom a repair may end; another process alone is no news
     */
    void say(
            Verdict verdict,
            Set<String> nodes,
            JobIdentity identity,
            List<RankProcess> processes,
            long nowMs,
            long stampMs,
            List<Finding> out) {
        saidLogMs = nowMs;
        IncidentKind kind = verdict.kind();
        Standing strength = verdict.confirmed() ? Standing.CONFIRMED : Standing.SUSPECTED;
        for (Finding before : said.values()) {
            if (before.getStanding() == Standing.CONFIRMED && before.getKind() != IncidentKind.JOB_SLOW) {
                kind = before.getKind();
                strength = Standing.CONFIRMED;
            }
        }
        Finding before = said.get(kind);
        if (before != null && before.getStanding() == Standing.CONFIRMED) {
            strength = Standing.CONFIRMED;
        }
        boolean warning = kind == IncidentKind.INPUT_STALL || kind == IncidentKind.JOB_SLOW;
        Finding finding = Finding.newBuilder()
                .setOrigin(Origin.newBuilder().setPartition(OWN_PARTITION))
                .setKind(kind)
                .setSubject(subject)
                .setStanding(strength)
                .setAgeMs(Math.max(0, verdict.ageMs()))
                .setStampMs(stampMs)
                .addAllSuspects(verdict.suspects())
                .addAllEvidence(verdict.evidence())
                .addAllNodes(nodes)
                .setJob(job)
                .setIdentity(identity)
                .addAllProcesses(processes)
                .setCause(verdict.cause())
                .setSeverity(warning ? Severity.WARNING : Severity.CRITICAL)
                .putAllFigures(verdict.figures())
                .build();
        said.put(kind, finding);
        boolean news = before == null
                || before.getStanding() != strength
                || !top(before).equals(top(finding));
        if (news || (strength == Standing.SUSPECTED && verdict.ageMs() - saidAgeMs >= REFRESH_MS)) {
            saidAgeMs = verdict.ageMs();
            out.add(finding);
        }
        for (IncidentKind other : List.copyOf(said.keySet())) {
            if (other != kind) {
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

    /** There is no such job any more, or not at this epoch. */
    void over(String why, long stampMs, List<Finding> out) {
        int before = out.size();
        allWell(why, stampMs, out);
        for (int i = before; i < out.size(); i++) {
            out.set(i, out.get(i).toBuilder().setOver(true).build());
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

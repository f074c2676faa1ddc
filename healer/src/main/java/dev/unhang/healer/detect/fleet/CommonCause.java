package dev.unhang.healer.detect.fleet;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.Severity;
import dev.unhang.events.v1.Standing;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Several jobs that came to a standstill within half a minute have one cause, and it is not in any of them: a switch, a
 * file system, a power feed. Said once of the cluster beside what is said of each job, so that nobody heals them one by
 * one. Confirmed when at least two of them are.
 */
final class CommonCause {

    private static final long TOGETHER_MS = 30_000;
    private static final int LEAST = 2;
    private static final Set<IncidentKind> STANDSTILL =
            Set.of(IncidentKind.JOB_HANG, IncidentKind.RANK_MISSING, IncidentKind.INPUT_STALL);

    private @Nullable Finding said;

    /** @param standing what stands of jobs, as of now */
    void look(List<Finding> standing, long stampMs, List<Finding> out) {
        List<Finding> together = together(standing);
        Finding before = said;
        if (together.size() < LEAST) {
            if (before != null) {
                said = null;
                out.add(before.toBuilder()
                        .setStanding(Standing.WELL)
                        .setStampMs(stampMs)
                        .setAgeMs(0)
                        .clearEvidence()
                        .addEvidence("fewer than two jobs stand still together")
                        .build());
            }
            return;
        }
        long sure = together.stream()
                .filter(each -> each.getStanding() == Standing.CONFIRMED)
                .count();
        boolean confirmed = sure >= LEAST || (before != null && before.getStanding() == Standing.CONFIRMED);
        Finding now = finding(together, confirmed, stampMs);
        said = now;
        if (before == null
                || before.getStanding() != now.getStanding()
                || !before.getEvidenceList().equals(now.getEvidenceList())) {
            out.add(now);
        }
    }

    Optional<Finding> standing() {
        return Optional.ofNullable(said);
    }

    /** The most jobs whose standstills began within half a minute. */
    private static List<Finding> together(List<Finding> standing) {
        List<Finding> byAge = standing.stream()
                .filter(each -> STANDSTILL.contains(each.getKind()))
                .sorted(Comparator.comparingLong(Finding::getAgeMs))
                .toList();
        List<Finding> most = List.of();
        for (int first = 0; first < byAge.size(); first++) {
            int end = first;
            while (end < byAge.size()
                    && byAge.get(end).getAgeMs() - byAge.get(first).getAgeMs() <= TOGETHER_MS) {
                end++;
            }
            if (end - first > most.size()) {
                most = byAge.subList(first, end);
            }
        }
        return most;
    }

    private static Finding finding(List<Finding> together, boolean confirmed, long stampMs) {
        Set<String> nodes = new TreeSet<>();
        Set<String> jobs = new TreeSet<>();
        long age = 0;
        for (Finding each : together) {
            nodes.addAll(each.getNodesList());
            jobs.add(each.getJob());
            age = Math.max(age, each.getAgeMs());
        }
        List<String> evidence = new ArrayList<>();
        evidence.add(jobs.size() + " jobs came to a standstill within " + TOGETHER_MS / 1000 + " s: "
                + String.join(", ", jobs));
        return Finding.newBuilder()
                .setOrigin(Origin.newBuilder().setPartition(-1))
                .setKind(IncidentKind.COMMON_CAUSE)
                .setSubject("cluster")
                .setStanding(confirmed ? Standing.CONFIRMED : Standing.SUSPECTED)
                .setAgeMs(age)
                .setStampMs(stampMs)
                .addAllEvidence(evidence)
                .addAllNodes(nodes)
                .setSeverity(Severity.CRITICAL)
                .putFigures("jobs", jobs.size())
                .build();
    }
}

package dev.unhang.healer.decide;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.Severity;
import dev.unhang.events.v1.Standing;
import dev.unhang.healer.incident.Kinds;
import dev.unhang.healer.ledger.Ledger;
import java.util.Optional;

/**
 * Says that telemetry is blind: the inbox lives (or nothing would be decided at all), and a telemetry partition that has
 * nodes is not covered. One incident for the whole cluster, subject {@code cluster}, with a sentence for each partition:
 * when all owners are gone a person is called once and not twelve times. Pure.
 */
final class Blindness {

    /** A take-over of a partition is over before that, so it is no incident. Milliseconds of log time. */
    static final long SUSPECTED_MS = 15_000;

    /** Nobody takes the partition over: a person must look. */
    static final long CONFIRMED_MS = 60_000;

    static final String SUBJECT = "cluster";

    /** Who says so: the decider itself. */
    static final Origin OWN = Origin.newBuilder().setPartition(-1).build();

    private Blindness() {}

    /** What is to be said now; empty while all is covered and nothing was said before. */
    static Optional<Finding> judge(Ledger ledger, Coverage coverage, long nowMs, long stampMs) {
        Finding.Builder finding = Finding.newBuilder()
                .setOrigin(OWN)
                .setKind(IncidentKind.TELEMETRY_BLIND)
                .setSubject(SUBJECT)
                .setStampMs(stampMs);
        long longest = 0;
        int nodes = 0;
        for (int partition : ledger.partitions()) {
            long blindMs = coverage.blindMs(partition, nowMs);
            if (blindMs >= SUSPECTED_MS) {
                longest = Math.max(longest, blindMs);
                nodes += ledger.nodesIn(partition);
                finding.addEvidence("telemetry partition " + partition + " with " + ledger.nodesIn(partition)
                        + " nodes is not covered by any healer");
            }
        }
        if (longest == 0) {
            boolean said = ledger.openIn(Kinds.slot(IncidentKind.TELEMETRY_BLIND, SUBJECT)) != null
                    || ledger.mutedBy(finding.buildPartial()) != null;
            return said
                    ? Optional.of(finding.setStanding(Standing.WELL)
                            .addEvidence("all telemetry partitions are covered again")
                            .build())
                    : Optional.empty();
        }
        return Optional.of(finding.setStanding(longest >= CONFIRMED_MS ? Standing.CONFIRMED : Standing.SUSPECTED)
                .setSeverity(Severity.CRITICAL)
                .setAgeMs(SUSPECTED_MS)
                .putFigures("nodes", nodes)
                .putFigures("partitions", finding.getEvidenceCount())
                .build());
    }
}

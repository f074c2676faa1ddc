package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.Suspect;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Before the first step: a rank that never came, while the others wait for it. Ranks are known by number, from 0 to the
 * size of the job's world. A node with GPUs on which no rank runs is where the only absent one may belong. Stateless.
 */
final class Arrival {

    /** Suspected and confirmed after so long, s: a rendezvous waits for ten minutes by default. */
    private static final double SUSPECT = 180;

    private static final double CONFIRM = 600;
    private static final int MOST_NAMED = 8;

    private Arrival() {}

    /**
     * Judges a job of which fewer ranks have come than its world has.
     *
     * @param waitedMs since its first rank was seen
     * @param free nodes with GPUs on which no rank of any job runs
     * @return null: it is early yet
     */
    static @Nullable Verdict judge(
            String job, int world, int came, IntPredicate here, long waitedMs, Set<String> free) {
        double waited = waitedMs / 1000.0;
        if (waited < SUSPECT) {
            return null;
        }
        String node = world - came == 1 && free.size() == 1 ? free.iterator().next() : "";
        List<Suspect> suspects = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        for (int rank = 0; rank < world && missing.size() < MOST_NAMED; rank++) {
            if (!here.test(rank)) {
                missing.add(String.valueOf(rank));
                suspects.add(Suspect.newBuilder()
                        .setRank(rank)
                        .setScore(4)
                        .setConfidence("medium")
                        .setNode(node)
                        .build());
            }
        }
        List<String> evidence = new ArrayList<>();
        evidence.add((world - came) + " of " + world + " ranks of " + job + " have never been seen ("
                + String.join(", ", missing) + (missing.size() < world - came ? ", ..." : "")
                + "), and the others have waited for " + (long) waited + " s without a step");
        if (!node.isEmpty()) {
            evidence.add("node " + node + " has GPUs and runs no rank");
        }
        return new Verdict(
                IncidentKind.RANK_MISSING,
                waited >= CONFIRM,
                waitedMs,
                suspects,
                evidence,
                "",
                Map.of("waited_seconds", waited));
    }
}

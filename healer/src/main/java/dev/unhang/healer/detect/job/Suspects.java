package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.Suspect;
import dev.unhang.healer.detect.job.RankView.Doing;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who is to blame for a standstill: each piece of evidence gives points, and the sum ranks the suspects. Six points
 * (a hard sign) are high confidence, four medium. With every point goes the sentence that a person can check.
 */
final class Suspects {

    private static final int MOST = 3;
    private static final double HIGH = 6;
    private static final double MEDIUM = 4;

    /** An Xid that is older than this has nothing to do with it, ms. */
    private static final int XID_MS = 120_000;

    /** Two samples and a half: what is closer together may be the order of the samples, ms. */
    private static final long FIRST_MS = 2_500;

    /** A sample and a half: an abort takes longer than that to follow a death. */
    private static final long FIRST_GONE_MS = 1_500;

    private static final class Score {
        final int at;
        double points;
        final List<String> why = new ArrayList<>();

        Score(int at) {
            this.at = at;
        }
    }

    private final RollCall roll;
    private final @Nullable Score[] scores;

    /** By place in the roll call: some hard sign is against it. */
    private final boolean[] signed;

    private final boolean anySigned;

    Suspects(RollCall roll, List<HardSign> hard, Hearsay hearsay, long stillMs) {
        this.roll = roll;
        this.scores = new Score[roll.size()];
        this.signed = new boolean[roll.size()];
        this.anySigned = !hard.isEmpty();
        for (HardSign sign : hard) {
            int at = place(sign.rank());
            add(at, sign.kind().points, sign.words());
            signed[at] = true;
        }
        byActivity();
        byCpu();
        byStep();
        byNode();
        byFirst();
        for (int i = 0; i < roll.size(); i++) {
            for (Hearsay.Point point : hearsay.against(roll.rank(i), stillMs)) {
                add(i, point.points(), point.words());
            }
        }
    }

    private int place(RankView rank) {
        for (int i = 0; i < roll.size(); i++) {
            if (roll.rank(i) == rank) {
                return i;
            }
        }
        throw new IllegalArgumentException("rank " + rank.rank + " is not on the roll");
    }

    private void add(int at, double points, String why) {
        Score score = scores[at];
        if (score == null) {
            score = new Score(at);
            scores[at] = score;
        }
        score.points += points;
        score.why.add(why);
    }

    /** What may well follow from another rank's hard sign, as a GPU that idles after an abort, counts half. */
    private void addSoft(int at, double points, String why) {
        add(at, !anySigned || signed[at] ? points : points / 2, why);
    }

    private void byActivity() {
        int few = Math.max(1, roll.size() / 8);
        int spin = roll.count(Doing.SPIN);
        int idle = roll.count(Doing.IDLE);
        boolean blamesIdle = spin > 0 && idle <= spin;
        boolean blamesWork = spin > 0 && roll.count(Doing.WORK) <= few;
        for (int i = 0; i < roll.size(); i++) {
            RankView rank = roll.rank(i);
            if (blamesIdle && roll.doing(i) == Doing.IDLE) {
                addSoft(
                        i,
                        idle <= few ? 4 : 2,
                        (rank.hasGpu()
                                        ? "the GPU of rank " + rank.rank + " is idle"
                                        : "rank " + rank.rank + " exchanges nothing")
                                + " while " + spin + " of " + roll.size() + " ranks wait in a collective");
            }
        }
        for (int i = 0; i < roll.size(); i++) {
            if (blamesWork && roll.doing(i) == Doing.WORK) {
                addSoft(i, 3, "the GPU of rank " + roll.rank(i).rank + " works while the others wait");
            }
        }
    }

    private void byCpu() {
        int[] waiting = new int[roll.count(Doing.SPIN)];
        int known = 0;
        for (int i = 0; i < roll.size(); i++) {
            if (roll.doing(i) == Doing.SPIN && roll.rank(i).millicores() >= 0) {
                waiting[known++] = roll.rank(i).millicores();
            }
        }
        if (known == 0) {
            return;
        }
        Arrays.sort(waiting, 0, known);
        int usual = waiting[known / 2];
        if (usual < 200) {
            return;
        }
        for (int i = 0; i < roll.size(); i++) {
            RankView rank = roll.rank(i);
            Doing doing = roll.doing(i);
            int cpu = rank.millicores();
            if (doing == Doing.SPIN || doing == Doing.GONE || doing == Doing.SILENT || cpu < 0) {
                continue;
            }
            double points = cpu < 0.25 * usual ? 2 : cpu < 0.7 * usual ? 1 : 0;
            if (points > 0) {
                addSoft(
                        i,
                        points,
                        "rank " + rank.rank + " uses " + cpu / 10 + " % of a core, those that wait " + usual / 10
                                + " %");
            }
        }
    }

    private void byStep() {
        long most = -1;
        for (int i = 0; i < roll.size(); i++) {
            most = Math.max(most, step(i));
        }
        int behind = 0;
        for (int i = 0; i < roll.size(); i++) {
            behind += step(i) >= 0 && step(i) < most ? 1 : 0;
        }
        if (behind == 0 || behind > Math.max(1, roll.size() / 4)) {
            return;
        }
        for (int i = 0; i < roll.size(); i++) {
            if (step(i) >= 0 && step(i) < most) {
                add(i, 2, "rank " + roll.rank(i).rank + " is at step " + step(i) + ", others at " + most);
            }
        }
    }

    /** Of a rank that is there; -1: it tells none. */
    private long step(int at) {
        boolean there = roll.doing(at) != Doing.GONE && roll.doing(at) != Doing.SILENT;
        return there && roll.rank(at).report().hasStep()
                ? roll.rank(at).report().getStep()
                : -1;
    }

    private void byNode() {
        for (int i = 0; i < roll.size(); i++) {
            RankView rank = roll.rank(i);
            if (rank.report().getState() == 'D') {
                add(i, 2, "rank " + rank.rank + " is in uninterruptible sleep (D)");
            }
            int xid = rank.report().getLastXid();
            if (xid != 0 && rank.report().getFatalXid() == 0 && rank.report().getLastXidAgeMs() <= XID_MS) {
                add(i, 3, "Xid " + xid + " on a GPU of rank " + rank.rank);
            }
        }
    }

    /** It stopped clearly before all others did, so they wait for it; or its process ended first, and the others' after. */
    private void byFirst() {
        long[] still = new long[roll.size()];
        long[] gone = new long[roll.size()];
        for (int i = 0; i < roll.size(); i++) {
            Doing doing = roll.doing(i);
            boolean stands = doing == Doing.SPIN || doing == Doing.IDLE;
            still[i] = stands ? roll.rank(i).stillMs(roll.nowMs) : -1;
            gone[i] = doing == Doing.GONE ? roll.rank(i).goneMs(roll.nowMs) : -1;
        }
        first(still, FIRST_MS, "stopped");
        first(gone, FIRST_GONE_MS, "ended");
    }

    /** {@code ages}: by place; -1 for those of which nothing is to be told. */
    private void first(long[] ages, long leastMs, String what) {
        int oldest = -1;
        long second = -1;
        for (int i = 0; i < ages.length; i++) {
            if (ages[i] >= 0 && (oldest < 0 || ages[i] > ages[oldest])) {
                second = oldest < 0 ? -1 : ages[oldest];
                oldest = i;
            } else {
                second = Math.max(second, ages[i]);
            }
        }
        if (second >= 0 && ages[oldest] - second >= leastMs) {
            long ahead = ages[oldest] - second;
            add(oldest, 1, "rank " + roll.rank(oldest).rank + " " + what + " " + ahead / 1000 + " s before any other");
        }
    }

    List<Suspect> list() {
        return Arrays.stream(scores)
                .filter(score -> score != null && score.points > 0)
                .sorted(Comparator.<Score>comparingDouble(score -> -score.points)
                        .thenComparingInt(score -> roll.rank(score.at).rank))
                .limit(MOST)
                .map(score -> Suspect.newBuilder()
                        .setNode(roll.rank(score.at).node())
                        .setRank(roll.rank(score.at).rank)
                        .setScore(score.points)
                        .setConfidence(confidence(score.points))
                        .addAllEvidence(score.why)
                        .build())
                .toList();
    }

    private static String confidence(double points) {
        return points >= HIGH ? "high" : points >= MEDIUM ? "medium" : "low";
    }
}

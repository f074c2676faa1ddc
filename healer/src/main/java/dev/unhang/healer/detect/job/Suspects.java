package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.Suspect;
import dev.unhang.healer.detect.job.RankView.Doing;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

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
        double points;
        final List<String> why = new ArrayList<>();
    }

    private final Map<RankView, Score> scores = new LinkedHashMap<>();
    private final Set<RankView> signed = new HashSet<>();
    private final Map<RankView, Doing> ranks;
    private final long nowMs;

    Suspects(RollCall roll, List<HardSign> hard, Hearsay hearsay, long stillMs) {
        this.ranks = roll.doing;
        this.nowMs = roll.nowMs;
        ranks.keySet().forEach(rank -> scores.put(rank, new Score()));
        for (HardSign sign : hard) {
            add(sign.rank(), sign.kind().points, sign.words());
            signed.add(sign.rank());
        }
        byActivity();
        byCpu();
        byStep();
        byNode();
        byFirst();
        for (RankView rank : ranks.keySet()) {
            hearsay.against(rank, stillMs).forEach(point -> add(rank, point.points(), point.words()));
        }
    }

    private void add(RankView rank, double points, String why) {
        Score score = scores.get(rank);
        if (score != null) {
            score.points += points;
            score.why.add(why);
        }
    }

    /** What may well follow from another rank's hard sign, as a GPU that idles after an abort, counts half. */
    private void addSoft(RankView rank, double points, String why) {
        add(rank, signed.isEmpty() || signed.contains(rank) ? points : points / 2, why);
    }

    private List<RankView> those(Doing doing) {
        return ranks.entrySet().stream()
                .filter(each -> each.getValue() == doing)
                .map(Map.Entry::getKey)
                .toList();
    }

    private void byActivity() {
        int few = Math.max(1, ranks.size() / 8);
        List<RankView> spin = those(Doing.SPIN);
        List<RankView> idle = those(Doing.IDLE);
        List<RankView> work = those(Doing.WORK);
        if (!spin.isEmpty() && idle.size() <= spin.size()) {
            for (RankView rank : idle) {
                addSoft(
                        rank,
                        idle.size() <= few ? 4 : 2,
                        (rank.hasGpu()
                                        ? "the GPU of rank " + rank.rank + " is idle"
                                        : "rank " + rank.rank + " exchanges nothing")
                                + " while " + spin.size() + " of " + ranks.size() + " ranks wait in a collective");
            }
        }
        if (!spin.isEmpty() && work.size() <= few) {
            for (RankView rank : work) {
                addSoft(rank, 3, "the GPU of rank " + rank.rank + " works while the others wait");
            }
        }
    }

    private void byCpu() {
        int[] waiting = those(Doing.SPIN).stream()
                .mapToInt(RankView::millicores)
                .filter(cpu -> cpu >= 0)
                .sorted()
                .toArray();
        if (waiting.length == 0) {
            return;
        }
        int usual = waiting[waiting.length / 2];
        if (usual < 200) {
            return;
        }
        ranks.forEach((rank, doing) -> {
            int cpu = rank.millicores();
            if (doing == Doing.SPIN || doing == Doing.GONE || doing == Doing.SILENT || cpu < 0) {
                return;
            }
            double points = cpu < 0.25 * usual ? 2 : cpu < 0.7 * usual ? 1 : 0;
            if (points > 0) {
                addSoft(
                        rank,
                        points,
                        "rank " + rank.rank + " uses " + cpu / 10 + " % of a core, those that wait " + usual / 10
                                + " %");
            }
        });
    }

    private void byStep() {
        long[] steps = ranks.entrySet().stream()
                .filter(each -> each.getValue() != Doing.GONE && each.getValue() != Doing.SILENT)
                .filter(each -> each.getKey().report().hasStep())
                .mapToLong(each -> each.getKey().report().getStep())
                .toArray();
        if (steps.length == 0) {
            return;
        }
        long most = Arrays.stream(steps).max().getAsLong();
        long behind = Arrays.stream(steps).filter(step -> step < most).count();
        if (behind == 0 || behind > Math.max(1, ranks.size() / 4)) {
            return;
        }
        ranks.forEach((rank, doing) -> {
            boolean there = doing != Doing.GONE
                    && doing != Doing.SILENT
                    && rank.report().hasStep();
            if (there && rank.report().getStep() < most) {
                add(
                        rank,
                        2,
                        "rank " + rank.rank + " is at step " + rank.report().getStep() + ", others at " + most);
            }
        });
    }

    private void byNode() {
        ranks.forEach((rank, doing) -> {
            if (rank.report().getState() == 'D') {
                add(rank, 2, "rank " + rank.rank + " is in uninterruptible sleep (D)");
            }
            int xid = rank.report().getLastXid();
            if (xid != 0 && rank.report().getFatalXid() == 0 && rank.report().getLastXidAgeMs() <= XID_MS) {
                add(rank, 3, "Xid " + xid + " on a GPU of rank " + rank.rank);
            }
        });
    }

    /** It stopped clearly before all others did, so they wait for it; or its process ended first, and the others' after. */
    private void byFirst() {
        Map<RankView, Long> still = new LinkedHashMap<>();
        Map<RankView, Long> gone = new LinkedHashMap<>();
        ranks.forEach((rank, doing) -> {
            if (doing == Doing.SPIN || doing == Doing.IDLE) {
                still.put(rank, rank.stillMs(nowMs));
            } else if (doing == Doing.GONE) {
                gone.put(rank, rank.goneMs(nowMs));
            }
        });
        first(still, FIRST_MS, "stopped");
        first(gone, FIRST_GONE_MS, "ended");
    }

    private void first(Map<RankView, Long> ages, long leastMs, String what) {
        List<Map.Entry<RankView, Long>> oldest = ages.entrySet().stream()
                .sorted(Map.Entry.<RankView, Long>comparingByValue().reversed())
                .limit(2)
                .toList();
        if (oldest.size() < 2) {
            return;
        }
        long ahead = oldest.get(0).getValue() - oldest.get(1).getValue();
        if (ahead >= leastMs) {
            RankView rank = oldest.get(0).getKey();
            add(rank, 1, "rank " + rank.rank + " " + what + " " + ahead / 1000 + " s before any other");
        }
    }

    private List<Map.Entry<RankView, Score>> best() {
        return scores.entrySet().stream()
                .filter(each -> each.getValue().points > 0)
                .sorted(Comparator.<Map.Entry<RankView, Score>>comparingDouble(each -> -each.getValue().points)
                        .thenComparingInt(each -> each.getKey().rank))
                .limit(MOST)
                .toList();
    }

    List<Suspect> list() {
        return best().stream()
                .map(each -> Suspect.newBuilder()
                        .setNode(each.getKey().node())
                        .setRank(each.getKey().rank)
                        .setScore(each.getValue().points)
                        .setConfidence(confidence(each.getValue().points))
                        .addAllEvidence(each.getValue().why)
                        .build())
                .toList();
    }

    private static String confidence(double points) {
        return points >= HIGH ? "high" : points >= MEDIUM ? "medium" : "low";
    }
}

package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.RankReport;
import dev.unhang.events.v1.Suspect;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A job that trains, but slower than it did. What counts is the time that it has lost against its own usual step, less a
 * drift that is nobody's fault: a cumulative sum, so a large slowness is found in seconds and a small one in minutes, and
 * a single long step never. The straggler is the rank that waits least: all others spend the difference waiting for it.
 * Confirmed sooner when there is such a rank. Needs heartbeats. The shape of the test follows the CUSUM of
 * {@code docs/facts/detection.md} 7.5.
 */
final class Slowness {

    /** So much longer a step may become, as a share of the usual, before time counts as lost. */
    private static final double DRIFT = 0.10;

    /** Of a slowness below this share nobody is told. */
    private static final double WORTH_TELLING = 1.15;

    /** It is well again when it has been below this for so many seconds. */
    private static final double WELL = 1.08;

    private static final double WELL_SECONDS = 10;

    /** Time lost before it is suspected and confirmed, s and in usual steps; the larger counts. */
    private static final double SUSPECT = 4;

    private static final double SUSPECT_STEPS = 3;
    private static final double CONFIRM = 8;
    private static final double CONFIRM_STEPS = 6;
    private static final double CONFIRM_ALL_ALIKE = 60;
    private static final double CONFIRM_ALL_ALIKE_STEPS = 10;

    /**
     * The straggler must wait less than the others by so much of the time that a step has become longer, and less than
     * half of what they wait. Without the power of an idle context the time that they wait is seen too small.
     */
    private static final double GAP = 0.25;

    private static final double LEAST_GAP = 0.08;
    private static final long LONGEST_LOOK_MS = 5_000;

    private final News news = new News();
    private double lost;
    private double well;
    private long sinceMs = -1;
    private long lookedMs = -1;

    /** A look at a job that does not stand still. Null: nothing to say, or nothing that was not said a moment ago. */
    @Nullable
    Verdict look(String job, RollCall roll) {
        double seconds = lookedMs < 0 ? 0 : Math.min(LONGEST_LOOK_MS, roll.nowMs - lookedMs) / 1000.0;
        lookedMs = roll.nowMs;
        double now = median(roll, false);
        double usual = median(roll, true);
        if (Double.isNaN(now) || Double.isNaN(usual) || !steps(roll, now)) {
            return null;
        }
        double ratio = now / usual;
        if (ratio > WORTH_TELLING) {
            if (lost <= 0) {
                sinceMs = roll.nowMs;
            }
            lost += seconds * Math.max(0, 1 - (1 + DRIFT) / ratio);
        } else {
            lost = Math.max(0, lost - seconds);
            well = ratio < WELL ? well + seconds : 0;
            return well >= WELL_SECONDS ? over() : null;
        }
        well = 0;
        if (lost < Math.max(SUSPECT, SUSPECT_STEPS * usual)) {
            return null;
        }
        RankView straggler = straggler(roll, now, usual);
        double confirm = straggler != null
                ? Math.max(CONFIRM, CONFIRM_STEPS * usual)
                : Math.max(CONFIRM_ALL_ALIKE, CONFIRM_ALL_ALIKE_STEPS * usual);
        boolean confirmed = lost >= confirm;
        int who = straggler == null ? -1 : straggler.rank;
        return news.worthWords(IncidentKind.JOB_SLOW, confirmed, who, roll.nowMs)
                ? verdict(job, roll, now, usual, straggler, confirmed)
                : null;
    }

    private @Nullable Verdict over() {
        if (sinceMs < 0) {
            return null;
        }
        sinceMs = -1;
        lost = 0;
        news.nothing();
        return Verdict.well("its steps take as long as before");
    }

    /** What is lost in a standstill is counted there. */
    void pause(long nowMs) {
        news.nothing();
        lookedMs = nowMs;
    }

    /** Whether a rank reports that its steps are long, or that was so a moment ago. */
    boolean concerned(Iterable<RankView> ranks) {
        if (sinceMs >= 0) {
            return true;
        }
        for (RankView rank : ranks) {
            if (rank.report().getSlow()) {
                return true;
            }
        }
        return false;
    }

    private Verdict verdict(
            String job, RollCall roll, double now, double usual, @Nullable RankView straggler, boolean confirmed) {
        List<String> evidence = new ArrayList<>();
        evidence.add(String.format(
                Locale.ROOT,
                "a step of %s takes %s, usually %s (medians); so it has lost %.0f s in the last %d s",
                job,
                duration(now),
                duration(usual),
                lost,
                (roll.nowMs - sinceMs) / 1000));
        List<Suspect> suspects = new ArrayList<>();
        if (straggler == null) {
            evidence.add("no rank waits less than the others: no suspect");
        } else {
            String why = "rank " + straggler.rank + " waits least: " + straggler.waitPm() / 10
                    + " % of its time, others " + waits(roll, straggler) / 10 + " %";
            evidence.add(why);
            suspects.add(Suspect.newBuilder()
                    .setNode(straggler.node())
                    .setRank(straggler.rank)
                    .setScore(5)
                    .setConfidence("medium")
                    .addEvidence(why)
                    .build());
        }
        return new Verdict(
                IncidentKind.JOB_SLOW,
                confirmed,
                roll.nowMs - sinceMs,
                suspects,
                evidence,
                "",
                Map.of("step_seconds", now, "usual_step_seconds", usual, "lost_seconds", lost));
    }

    private static String duration(double seconds) {
        return seconds < 1
                ? String.format(Locale.ROOT, "%.0f ms", seconds * 1000)
                : String.format(Locale.ROOT, "%.1f s", seconds);
    }

    /** It does make steps. */
    private static boolean steps(RollCall roll, double stepSeconds) {
        double limitMs = Math.max(3_000, 4_000 * stepSeconds);
        for (int i = 0; i < roll.size(); i++) {
            if (roll.rank(i).hasProgress() && roll.rank(i).progressAgeMs(roll.nowMs) <= limitMs) {
                return true;
            }
        }
        return false;
    }

    /** Median over the ranks that tell it, s; NaN unless half of them do. */
    private static double median(RollCall roll, boolean usual) {
        int[] all = new int[roll.size()];
        int told = 0;
        for (int i = 0; i < all.length; i++) {
            RankReport report = roll.rank(i).report();
            if (report.hasStepUs()) {
                all[told++] = usual ? report.getUsualStepUs() : report.getStepUs();
            }
        }
        if (told == 0 || told * 2 < all.length) {
            return Double.NaN;
        }
        Arrays.sort(all, 0, told);
        return all[told / 2] / 1e6;
    }

    private static @Nullable RankView straggler(RollCall roll, double now, double usual) {
        RankView least = null;
        for (int i = 0; i < roll.size(); i++) {
            RankView rank = roll.rank(i);
            if (rank.waitPm() >= 0 && (least == null || rank.waitPm() < least.waitPm())) {
                least = rank; // of several the lowest
            }
        }
        if (least == null || roll.size() < 2) {
            return null;
        }
        double needed = Math.max(LEAST_GAP, GAP * (1 - usual / now));
        int others = waits(roll, least);
        return others - least.waitPm() >= 1000 * needed && least.waitPm() <= others / 2 ? least : null;
    }

    /** Median of the share of time that the other ranks wait, per mille; 0 when none tells. */
    private static int waits(RollCall roll, RankView but) {
        int[] others = new int[roll.size()];
        int told = 0;
        for (int i = 0; i < others.length; i++) {
            RankView rank = roll.rank(i);
            if (rank != but && rank.waitPm() >= 0) {
                others[told++] = rank.waitPm();
            }
        }
        Arrays.sort(others, 0, told);
        return told == 0 ? 0 : others[told / 2];
    }
}

package dev.unhang.healer.detect.job;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One stretch of time in which a job stood still: since when, what it looked like for how long, and how much of what it
 * may take is used up. Each picture has its own limit, so the time spent in each counts as a share of that limit. Times
 * are milliseconds of log time.
 */
final class Standstill {

    private final Map<Picture, Double> shares = new LinkedHashMap<>();
    private long sinceMs;
    private long lookedMs;

    /** When it was last explained. A stretch may begin before log time does, so no small number is free. */
    private long explainedMs = Long.MIN_VALUE;

    private long workedMs = -1;
    private double used;
    private boolean explained;

    Standstill(long sinceMs) {
        this.sinceMs = sinceMs;
        this.lookedMs = sinceMs;
    }

    /** It still stands. {@code limitS}: how long this picture may last, s. */
    void goOn(Picture picture, double limitS, boolean hardSigns, long nowMs) {
        double seconds = Math.max(0, nowMs - lookedMs) / 1000.0;
        shares.merge(picture, seconds, Double::sum);
        used += seconds / limitS;
        lookedMs = nowMs;
        workedMs = -1;
        explained |= hardSigns;
    }

    /** Nothing was seen meanwhile: unknown time stretches no verdict. */
    void blind(long nowMs) {
        sinceMs += nowMs - lookedMs;
        lookedMs = nowMs;
    }

    /** Something shows that it is a pause of its own kind, like a checkpoint being written: the clock begins anew. */
    void restart(long nowMs) {
        used = 0;
        lookedMs = nowMs;
        explainedMs = nowMs;
    }

    /** Work was seen. True when this ends it: at the second look, or at once with progress. */
    boolean works(boolean progress, long nowMs) {
        if (workedMs < 0) {
            workedMs = nowMs;
        }
        return progress || nowMs - workedMs >= 900;
    }

    long sinceMs() {
        return sinceMs;
    }

    /** For how long it counts: since it began, or since it was last explained. */
    double countedSeconds(long nowMs) {
        return (nowMs - Math.max(sinceMs, explainedMs)) / 1000.0;
    }

    double used() {
        return used;
    }

    double seconds(long nowMs) {
        return (nowMs - sinceMs) / 1000.0;
    }

    void teach(Pauses pauses) {
        if (!explained && workedMs >= 0) {
            pauses.learn((workedMs - sinceMs) / 1000.0, shares);
        }
    }
}

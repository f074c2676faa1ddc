package dev.unhang.healer.detect.job;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One stretch of time in which a job stood still: since when, what it looked like for how long, and how much of what it
 * may take is used up. Each picture has its own limit, so the time spent in each counts as a share of that limit. While
 * something explains it (a rank writes a checkpoint, a debugger is attached) nothing counts, and what comes after counts
 * from there. Times are milliseconds of log time.
 */
final class Standstill {

    private final Map<Picture, Double> shares = new LinkedHashMap<>();
    private final long beganMs;
    private long sinceMs;
    private long lookedMs;
    private long countsFromMs;
    private long explainedSinceMs = -1;
    private long workedMs = -1;
    private double used;
    private boolean fault;
    private boolean alarmed;
    private double announcedS;

    Standstill(long sinceMs) {
        this.beganMs = sinceMs;
        this.sinceMs = sinceMs;
        this.lookedMs = sinceMs;
        this.countsFromMs = sinceMs;
    }

    /**
     * It still stands.
     *
     * @param limitS how long this picture may last, s
     * @param hardSigns a fault explains it, so it teaches nothing of pauses
     * @param announced the job says that it does not train now
     */
    void goOn(Picture picture, double limitS, boolean hardSigns, boolean announced, long nowMs) {
        double seconds = Math.max(0, nowMs - lookedMs) / 1000.0;
        shares.merge(picture, seconds, Double::sum);
        used += seconds / limitS;
        announcedS += announced ? seconds : 0;
        lookedMs = nowMs;
        workedMs = -1;
        fault |= hardSigns;
    }

    /** Nothing explains it now. */
    void unexplained() {
        explainedSinceMs = -1;
    }

    /** Nothing was seen meanwhile: unknown time stretches no verdict. */
    void blind(long nowMs) {
        sinceMs += nowMs - lookedMs;
        countsFromMs += nowMs - lookedMs;
        lookedMs = nowMs;
    }

    /** Something explains it now. What it had lasted before was a pause of its own, and is learned as such. */
    void explained(Pauses pauses, long nowMs) {
        if (explainedSinceMs < 0) {
            teach(pauses, lookedMs);
            explainedSinceMs = nowMs;
        }
        shares.clear();
        used = 0;
        announcedS = 0;
        countsFromMs = nowMs;
        lookedMs = nowMs;
        workedMs = -1;
    }

    /** It was taken for a hang. */
    void alarmed() {
        alarmed = true;
    }

    /** What comes later, as a debugger or the dump of a core, does not take that back; only progress does. */
    boolean isAlarmed() {
        return alarmed;
    }

    /** For how long it has been explained without a break, s. */
    double explainedSeconds(long nowMs) {
        return explainedSinceMs < 0 ? 0 : (nowMs - explainedSinceMs) / 1000.0;
    }

    /** Work was seen. True when this ends it: at the second look, or at once with progress. */
    boolean works(boolean progress, long nowMs) {
        if (workedMs < 0) {
            workedMs = nowMs;
        }
        return progress || nowMs - workedMs >= 900;
    }

    /** Since when, unknown time included: to be compared with what nodes tell of themselves, whose ages go on meanwhile. */
    long beganMs() {
        return beganMs;
    }

    long sinceMs() {
        return sinceMs;
    }

    /** For how long it counts: since it began, or since it was last explained. */
    double countedSeconds(long nowMs) {
        return (nowMs - countsFromMs) / 1000.0;
    }

    double used() {
        return used;
    }

    double seconds(long nowMs) {
        return (nowMs - sinceMs) / 1000.0;
    }

    /** It is over, so it was a pause of this job. */
    boolean teach(Pauses pauses) {
        return workedMs >= 0 && teach(pauses, workedMs);
    }

    /** A pause that a fault explains, or that the job announced, tells nothing of those that it does not announce. */
    private boolean teach(Pauses pauses, long endMs) {
        double seconds = (endMs - countsFromMs) / 1000.0;
        if (fault || shares.isEmpty() || seconds <= 0 || announcedS > seconds / 2) {
            return false;
        }
        pauses.learn(seconds, shares, alarmed);
        return true;
    }
}

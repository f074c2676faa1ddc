package dev.unhang.healer.detect.node;

/**
 * How far a node's wall clock is from the broker's stamps. Each record is stamped a little after it was taken, so the
 * largest difference is the one with the least delay; it is taken over the last half to one minute of log time.
 */
final class StampOffset {

    private static final long WINDOW_MS = 30_000;
    private static final long NONE = Long.MIN_VALUE;

    private long best = NONE;
    private long bestBefore = NONE;
    private long windowLogMs;

    void add(long wallNs, long queuedMs, long stampMs, long logMs) {
        if (wallNs <= 0) {
            return;
        }
        if (logMs - windowLogMs >= WINDOW_MS) {
            bestBefore = best;
            best = NONE;
            windowLogMs = logMs;
        }
        best = Math.max(best, wallNs - (stampMs - queuedMs) * 1_000_000);
    }

    boolean known() {
        return best != NONE || bestBefore != NONE;
    }

    /** Wall clock minus stamp, ns. */
    long ns() {
        return Math.max(best, bestBefore);
    }
}

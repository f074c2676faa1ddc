package dev.unhang.healer.detect.node;

/**
 * When a node's report is due: at once for the first, when something in it changed and held for two seconds, each second
 * while something is not well, and else each ten seconds. What is not well must have held for two seconds, too; the ages
 * in the report tell when it began.
 */
final class Reporter {

    static final long HOLD_MS = 2_000;
    static final long WELL_EVERY_MS = 10_000;

    /** A second, less the jitter of a timer. */
    static final long ALARMED_EVERY_MS = 900;

    private static final long NEVER = Long.MIN_VALUE;

    private boolean alarmed;
    private long unwellSinceMs = NEVER;
    private long wellSinceMs = NEVER;
    private int reported;
    private int pending;
    private long pendingSinceMs;
    private long sentLogMs = NEVER;

    /** {@code picture}: a hash of all whose change is news. */
    boolean due(boolean well, int picture, Now now) {
        if (well) {
            unwellSinceMs = NEVER;
            wellSinceMs = wellSinceMs == NEVER ? now.nodeMs() : wellSinceMs;
        } else {
            wellSinceMs = NEVER;
            unwellSinceMs = unwellSinceMs == NEVER ? now.nodeMs() : unwellSinceMs;
        }
        boolean wasAlarmed = alarmed;
        if (!well && now.nodeMs() - unwellSinceMs >= HOLD_MS) {
            alarmed = true;
        } else if (well && now.nodeMs() - wellSinceMs >= HOLD_MS) {
            alarmed = false;
        }
        if (picture != pending) {
            pending = picture;
            pendingSinceMs = now.nodeMs();
        }
        boolean changed = picture != reported && now.nodeMs() - pendingSinceMs >= HOLD_MS;
        return now.fresh() && (changed || alarmed != wasAlarmed || elapsed(now.logMs()));
    }

    /** For a moment without a sample. */
    boolean elapsed(long logMs) {
        return sentLogMs == NEVER || logMs - sentLogMs >= (alarmed ? ALARMED_EVERY_MS : WELL_EVERY_MS);
    }

    /** A node that is silent is not well, without any hold: its limit was hold enough. */
    void alarm() {
        alarmed = true;
    }

    void sent(int picture, long logMs) {
        reported = picture;
        sentLogMs = logMs;
    }

    /** The node's clock began anew. */
    void rebooted() {
        unwellSinceMs = NEVER;
        wellSinceMs = NEVER;
        pendingSinceMs = 0;
    }

    boolean alarmed() {
        return alarmed;
    }
}

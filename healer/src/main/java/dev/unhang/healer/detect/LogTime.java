package dev.unhang.healer.detect;

/**
 * The passing of time on one partition, in milliseconds: a count, not a date. Each record adds the step of its broker
 * stamp, but never less than nothing and never more than two seconds. So it stands still while the log does, and a
 * broker whose clock jumps moves it by at most two seconds. Confined to the thread that reads the partition.
 */
public final class LogTime {

    /** The most that one record can add. */
    public static final long MOST_MS = 2_000;

    private long nowMs;
    private long lastStampMs;
    private boolean started;

    /** Starts at zero, before any record. */
    public LogTime() {}

    /** Goes on where a reader of the same partition stood: {@code lastStampMs} is the stamp of the record before. */
    public LogTime(long nowMs, long lastStampMs) {
        this.nowMs = nowMs;
        this.lastStampMs = lastStampMs;
        this.started = lastStampMs > 0;
    }

    /** Counts one record and answers the log time at it. */
    public long advance(long stampMs) {
        if (started) {
            nowMs += Math.min(Math.max(0, stampMs - lastStampMs), MOST_MS);
        }
        started = true;
        lastStampMs = stampMs;
        return nowMs;
    }

    public long nowMs() {
        return nowMs;
    }

    /** Stamp of the last record; 0 before any. To go on counting, never to subtract for a decision. */
    public long lastStampMs() {
        return lastStampMs;
    }
}

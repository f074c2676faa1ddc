package dev.unhang.healer.guard;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** Log time as a clock for a breaker that knows no other way to be told the time: it moves only when it is set. */
final class LogClock extends Clock {

    private long nowMs;

    /** Never moves back. */
    void reach(long logMs) {
        nowMs = Math.max(nowMs, logMs);
    }

    @Override
    public Instant instant() {
        return Instant.ofEpochMilli(nowMs);
    }

    @Override
    public ZoneId getZone() {
        return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
        return this;
    }
}

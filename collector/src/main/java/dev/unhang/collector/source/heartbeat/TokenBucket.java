package dev.unhang.collector.source.heartbeat;

/** Lets so many through a second, and a burst at once. Confined to one thread; time is an argument, in nanoseconds. */
final class TokenBucket {

    private final double perNs;
    private final double burst;
    private double tokens;
    private long lastNs;

    TokenBucket(double perSecond, int burst, long nowNs) {
        this.perNs = perSecond / 1e9;
        this.burst = burst;
        this.tokens = burst;
        this.lastNs = nowNs;
    }

    boolean take(long nowNs) {
        tokens = Math.min(burst, tokens + Math.max(0, nowNs - lastNs) * perNs);
        lastNs = nowNs;
        if (tokens < 1) {
            return false;
        }
        tokens--;
        return true;
    }
}

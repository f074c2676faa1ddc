package dev.unhang.collector.source.nvml;

import java.time.Duration;
import java.util.function.LongSupplier;

/** Says when something is due again: at once, and then after each period. Confined to one thread. */
final class Pace {

    private final LongSupplier nanoTime;
    private final long periodNs;
    private boolean started;
    private long lastNs;

    Pace(LongSupplier nanoTime, Duration period) {
        this.nanoTime = nanoTime;
        this.periodNs = period.toNanos();
    }

    boolean due() {
        long now = nanoTime.getAsLong();
        if (started && now - lastNs < periodNs) {
            return false;
        }
        started = true;
        lastNs = now;
        return true;
    }

    /** Due only after a whole period from now. */
    void postpone() {
        started = true;
        lastNs = nanoTime.getAsLong();
    }
}

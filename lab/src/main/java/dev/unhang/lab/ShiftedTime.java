package dev.unhang.lab;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/**
 * The system's time with a wall clock that can be set wrong: a broker that runs on it stamps records as one whose clock
 * was stepped. Only the wall clock moves; the monotonic clock stays true, as it does on a real machine. Any thread may
 * call it.
 */
public final class ShiftedTime implements Time {

    private final AtomicLong shiftMs = new AtomicLong();

    /** Sets how far the wall clock is ahead of the system's, in milliseconds; negative is behind. */
    public void shift(long ms) {
        shiftMs.set(ms);
    }

    @Override
    public long milliseconds() {
        return Time.SYSTEM.milliseconds() + shiftMs.get();
    }

    @Override
    public long nanoseconds() {
        return Time.SYSTEM.nanoseconds();
    }

    @Override
    public void sleep(long ms) {
        Time.SYSTEM.sleep(ms);
    }

    /** {@code deadlineMs} is of the shifted clock. */
    @Override
    public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) throws InterruptedException {
        Time.SYSTEM.waitObject(object, condition, deadlineMs - shiftMs.get());
    }
}

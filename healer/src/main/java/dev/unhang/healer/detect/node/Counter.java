package dev.unhang.healer.detect.node;

/**
 * The rate of one cumulative counter, from two readings of one collector start. A counter that decreased was reset and
 * one that was not read says nothing: both give NaN, which means unknown and never zero.
 */
final class Counter {

    private static final long NONE = -1;

    private long last = NONE;
    private double rate = Double.NaN;

    /** Takes the next reading. {@code seconds} since the last sample; NaN where there is no last one to compare with. */
    double next(boolean read, long value, double seconds) {
        rate = read && last != NONE && value >= last ? (value - last) / seconds : Double.NaN;
        last = read ? value : NONE;
        return rate;
    }

    /** Units a second over the last interval, or NaN. */
    double rate() {
        return rate;
    }

    void forget() {
        last = NONE;
        rate = Double.NaN;
    }
}

package dev.unhang.lab.compose;

/**
 * The steps of a job, which all ranks take together: first they compute, then some of them may need longer than the
 * others, then all exchange gradients. Moves second by second. Not thread safe.
 */
final class Steps {

    /** Of a long step, the share that is traffic. */
    private static final double EXCHANGE = 0.12;

    private static final double LEAST_EXCHANGE_SECONDS = 0.5;

    private final Draw draw;
    private final double seconds;
    private double done;
    private double into;
    private double length;
    private double extra;
    private double exchange;
    private double lastEnd;

    private double exchangeShare;
    private double extraShare;

    Steps(Draw draw, double seconds) {
        this.draw = draw;
        this.seconds = seconds;
        begin(1);
    }

    /** Goes on by the second that ends at {@code now}. {@code slowness}: 1, or how many times longer a step takes. */
    void advance(int now, double slowness) {
        if (seconds < 1) {
            double rate = draw.between(0.9, 1.1) / seconds / slowness;
            double before = Math.floor(done);
            done += rate;
            extraShare = 1 - 1 / slowness;
            exchangeShare = 0;
            if (Math.floor(done) > before) {
                lastEnd = now - Math.min(0.99, (done - Math.floor(done)) / rate);
            }
            return;
        }
        exchangeShare = 0;
        extraShare = 0;
        double left = 1;
        while (left > 1e-9) {
            double compute = length - exchange;
            double until = into < compute ? compute : into < compute + extra ? compute + extra : length + extra;
            double part = Math.min(left, until - into);
            if (into >= compute + extra) {
                exchangeShare += part;
            } else if (into >= compute) {
                extraShare += part;
            }
            into += part;
            left -= part;
            if (into >= length + extra - 1e-9) {
                done++;
                lastEnd = now - left;
                begin(slowness);
            }
        }
    }

    private void begin(double slowness) {
        length = seconds * draw.between(0.95, 1.05);
        exchange = Math.max(LEAST_EXCHANGE_SECONDS, EXCHANGE * length);
        extra = (slowness - 1) * length;
        into = 0;
    }

    /** Drops what was begun, as after a pause between steps. */
    void beginAnew() {
        begin(1);
    }

    /** After a restart from a checkpoint. */
    void goBack(int by) {
        done = Math.max(0, Math.floor(done) - by);
        begin(1);
    }

    /** How long ranks would still compute in this step before they need the others, seconds. */
    double computeLeft() {
        return seconds < 1 ? 0 : Math.max(0, length - exchange - into);
    }

    long done() {
        return (long) done;
    }

    /** When the last step ended, seconds of the trace. */
    double lastEnd() {
        return lastEnd;
    }

    /** The share of the last second in which all exchanged. */
    double exchangeShare() {
        return exchangeShare;
    }

    /** The share of the last second in which a slow rank kept the others waiting. */
    double extraShare() {
        return extraShare;
    }
}

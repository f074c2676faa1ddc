package dev.unhang.healer.detect.node;

/**
 * The step time of one rank, microseconds: its last steps against all before. A step that is much longer than usual does
 * not become usual, so that a rank which is slow for long stays slow. Judged by medians: one long step, as of a pause or
 * a checkpoint, is no slowness.
 */
final class Pace {

    /** So many measurements are its last steps. */
    private static final int RECENT = 5;

    /** So many before it is known what is usual, */
    private static final int KNOWN = 4;

    /** and so many before others are measured by it. */
    private static final int LEAST = 8;

    /** Longer than this share of the usual is not learned. */
    private static final double LEARNED = 1.2;

    /** Longer than this share of the usual may be slow; shorter is noise, or nobody's concern. */
    static final double SLOW = 1.15;

    private final RunningLevel usual = new RunningLevel(0.5);
    private final double[] recent = new double[RECENT];

    /** To work in. */
    private final double[] sorted = new double[RECENT];

    private int measured;
    private double recentMedian = Double.NaN;

    /** Some steps ended and took so long each. */
    void steps(double microseconds) {
        if (!(microseconds >= 0)) {
            return;
        }
        recent[measured++ % RECENT] = microseconds;
        recentMedian = measured < RECENT ? Double.NaN : median();
        double known = usual.value(LEAST);
        if (Double.isNaN(known) || microseconds <= LEARNED * known) {
            usual.add(microseconds);
        }
    }

    /** Median of its last steps, or NaN. */
    double recent() {
        return recentMedian;
    }

    private double median() {
        for (int i = 0; i < RECENT; i++) {
            double value = recent[i];
            int at = i;
            while (at > 0 && sorted[at - 1] > value) {
                sorted[at] = sorted[at - 1];
                at--;
            }
            sorted[at] = value;
        }
        return sorted[RECENT / 2];
    }

    /** Median of all but the slow ones, or NaN. */
    double usual() {
        return usual.value(KNOWN);
    }

    /** Its last steps are longer than usual by more than a sixth, and than nine of ten before. */
    boolean slow() {
        double now = recent();
        return now > SLOW * usual.value(LEAST) && now > usual.quantile(0.9);
    }

    RunningLevel level() {
        return usual;
    }
}

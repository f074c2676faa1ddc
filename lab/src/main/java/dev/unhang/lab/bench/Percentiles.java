package dev.unhang.lab.bench;

import java.util.Arrays;

/** Measured values in order. A percentile is one of them (nearest rank), never something in between. */
final class Percentiles {

    private final double[] sorted;

    /** Copies the values; there must be one at least. */
    Percentiles(double[] values) {
        if (values.length == 0) {
            throw new IllegalArgumentException("no value was measured");
        }
        sorted = values.clone();
        Arrays.sort(sorted);
    }

    int count() {
        return sorted.length;
    }

    /** @param percent above 0, at most 100 */
    double at(double percent) {
        int rank = (int) Math.ceil(percent / 100 * sorted.length);
        return sorted[Math.min(sorted.length, Math.max(1, rank)) - 1];
    }

    double median() {
        return at(50);
    }

    double least() {
        return sorted[0];
    }

    double most() {
        return sorted[sorted.length - 1];
    }
}

package dev.unhang.healer.detect.node;

import dev.unhang.events.v1.Level;
import java.util.Arrays;

/**
 * A running quantile of the values that were worth learning, over the whole life of what is measured: when the store is
 * full every second value is dropped and from then on only each second one is kept. So a long phase weighs by its length
 * and never pushes everything else out, and the level survives in a few bytes of {@code Learned}. Unknown is NaN.
 */
final class RunningLevel {

    static final int KEPT = 48;
    private static final int RECOMPUTE = 4;

    private final double quantile;
    private final long[] values = new long[KEPT];

    /** The same values in ascending order. */
    private final long[] sorted = new long[KEPT];

    private int size;
    private int seen;
    private int every = 1;
    private int sinceKept;
    private int sinceComputed;
    private double computed = Double.NaN;

    RunningLevel(double quantile) {
        this.quantile = quantile;
    }

    void add(double value) {
        if (!(value >= 0)) {
            return;
        }
        seen++;
        sinceKept++;
        if (sinceKept < every) {
            return;
        }
        sinceKept = 0;
        if (size == KEPT) {
            for (int i = 0; i < KEPT / 2; i++) {
                values[i] = values[2 * i];
            }
            size = KEPT / 2;
            every *= 2;
            sort();
        }
        insert((long) value);
        values[size++] = (long) value;
        sinceComputed++;
        if (size < 10 || sinceComputed >= RECOMPUTE) {
            compute();
        }
    }

    /** The level, or NaN while fewer than {@code least} values are kept. */
    double value(int least) {
        return size >= least ? computed : Double.NaN;
    }

    /** Any other quantile of what is kept, or NaN. */
    double quantile(double other) {
        if (size == 0) {
            return Double.NaN;
        }
        return sorted[(int) (size * other)];
    }

    private void sort() {
        System.arraycopy(values, 0, sorted, 0, size);
        Arrays.sort(sorted, 0, size);
    }

    private void insert(long value) {
        int at = size;
        while (at > 0 && sorted[at - 1] > value) {
            sorted[at] = sorted[at - 1];
            at--;
        }
        sorted[at] = value;
    }

    int seen() {
        return seen;
    }

    Level toProto() {
        Level.Builder level = Level.newBuilder().setSeen(seen).setEvery(every);
        for (int i = 0; i < size; i++) {
            level.addValues(values[i]);
        }
        return level.build();
    }

    /** Takes over what another owner learned, where that one has seen more. */
    void restore(Level level) {
        if (level.getSeen() <= seen || level.getValuesCount() > KEPT) {
            return;
        }
        size = level.getValuesCount();
        for (int i = 0; i < size; i++) {
            values[i] = level.getValues(i);
        }
        seen = level.getSeen();
        every = Math.max(1, level.getEvery());
        sinceKept = 0;
        sort();
        compute();
    }

    /** A low quantile of few values would be their lowest, so below ten it is the median. */
    private void compute() {
        sinceComputed = 0;
        if (size == 0) {
            computed = Double.NaN;
            return;
        }
        computed = sorted[(int) (size * (size < 10 ? 0.5 : quantile))];
    }
}

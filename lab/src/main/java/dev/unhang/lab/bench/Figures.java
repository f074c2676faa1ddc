package dev.unhang.lab.bench;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The table that a benchmark prints: a line a figure, with its limit where it has one. Confined to one thread. */
final class Figures {

    private final PrintStream out;
    private final List<String> missed = new ArrayList<>();

    Figures(PrintStream out) {
        this.out = out;
    }

    void heading(String text) {
        out.printf("%n%s%n", text);
    }

    /** A figure that only tells. */
    void tell(String name, double value, String unit) {
        print(name, value, unit, "");
    }

    /** A figure that must stay below its limit. */
    void below(String name, double value, String unit, double limit) {
        judge(name, value, unit, "< ", limit, value < limit);
    }

    /** A figure that must not exceed its limit. */
    void atMost(String name, double value, String unit, double limit) {
        judge(name, value, unit, "<= ", limit, value <= limit);
    }

    /** A figure that must reach its limit. */
    void atLeast(String name, double value, String unit, double limit) {
        judge(name, value, unit, ">= ", limit, value >= limit);
    }

    /** The figures that missed their limits, by name. */
    List<String> missed() {
        return List.copyOf(missed);
    }

    private void judge(String name, double value, String unit, String sign, double limit, boolean holds) {
        if (!holds) {
            missed.add(name);
        }
        print(name, value, unit, sign + number(limit) + (holds ? "" : "  MISSED"));
    }

    private void print(String name, double value, String unit, String limit) {
        out.printf("  %-58s %10s  %-12s %s%n", name, number(value), unit, limit);
    }

    /** Three digits that count, and large numbers whole with their thousands apart. */
    static String number(double value) {
        if (value >= 1_000) {
            return String.format(Locale.ROOT, "%,d", Math.round(value));
        }
        if (value == Math.rint(value)) {
            return Long.toString((long) value);
        }
        return String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
    }
}

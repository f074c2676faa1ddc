package dev.unhang.lab.compose;

/**
 * Something in a composed trace that looks odd and is no fault.
 *
 * @param kind the rows of the matrix
 * @param first whether it is the first of its kind in this job
 * @param announced heartbeats tell its phase
 * @param visible counters of the ranks that write tell it
 */
record Occasion(String kind, double from, double to, boolean first, boolean announced, boolean visible) {

    /** So long after its end may what it caused still be said, seconds. */
    private static final double AFTER = 15;

    boolean covers(double second) {
        return second >= from - 1 && second <= to + AFTER;
    }

    /** What tells it from a fault, for one who has heartbeats or has not. */
    String told(boolean heartbeats) {
        return announced && heartbeats ? "announced" : visible ? "I/O visible" : "nothing told";
    }
}

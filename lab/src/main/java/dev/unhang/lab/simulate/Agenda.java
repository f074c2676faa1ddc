package dev.unhang.lab.simulate;

import java.util.PriorityQueue;

/**
 * What is to happen, in order of simulated time. Two things of one instant happen in the order in which they were asked
 * for, so a seed always gives the same run. Nanoseconds since the run began; confined to one thread.
 */
final class Agenda {

    static final long MS = 1_000_000L;
    static final long SECOND = 1_000_000_000L;

    private record Due(long atNs, long order, Runnable act) implements Comparable<Due> {
        @Override
        public int compareTo(Due other) {
            int byTime = Long.compare(atNs, other.atNs);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    private final PriorityQueue<Due> queue = new PriorityQueue<>();
    private long nowNs;
    private long asked;

    long nowNs() {
        return nowNs;
    }

    long nowMs() {
        return nowNs / MS;
    }

    void after(long ns, Runnable act) {
        queue.add(new Due(nowNs + Math.max(0, ns), asked++, act));
    }

    /** Has the next thing happen; false when there is none. */
    boolean step() {
        Due due = queue.poll();
        if (due == null) {
            return false;
        }
        nowNs = due.atNs();
        due.act().run();
        return true;
    }
}

package dev.unhang.lab.fleet;

import java.util.OptionalInt;

/**
 * A data-parallel training job over the nodes of a fleet, rank by rank. Every rank steps together; once a rank is stopped
 * the others wait for it in the collective, as they do on real GPUs: full utilisation at the power of an idle context.
 * Time is the caller's; confined to the caller's thread.
 */
public final class SimulatedJob {

    /** What one rank shows at some instant. */
    public enum Doing {
        /** Computes and communicates. */
        WORKS,
        /** Waits in a collective: 100 % utilisation, idle power, no traffic. */
        WAITS,
        /** Its process is stopped: state T, GPU idle. */
        STOPPED
    }

    private final String id;
    private final int world;
    private final double stepSeconds;
    private int stoppedRank = -1;
    private double stoppedAt = Double.POSITIVE_INFINITY;
    private double lostSeconds;
    private double slowAt = Double.POSITIVE_INFINITY;
    private double slowFactor = 1;

    /** @param stepSeconds time of one training step */
    public SimulatedJob(String id, int world, double stepSeconds) {
        this.id = id;
        this.world = world;
        this.stepSeconds = stepSeconds;
    }

    public String id() {
        return id;
    }

    public int world() {
        return world;
    }

    /** Stops a rank, as SIGSTOP does. One at a time. */
    public void stop(int rank, double at) {
        stoppedRank = rank;
        stoppedAt = at;
    }

    /** Continues the stopped rank, as SIGCONT does. */
    public void go(double at) {
        lostSeconds += at - stoppedAt;
        stoppedRank = -1;
        stoppedAt = Double.POSITIVE_INFINITY;
    }

    /** From then on each step takes so many times as long; the ranks wait for what it is that they wait for in each. */
    public void slow(double factor, double at) {
        slowFactor = factor;
        slowAt = at;
    }

    public OptionalInt stoppedRank() {
        return stoppedRank < 0 ? OptionalInt.empty() : OptionalInt.of(stoppedRank);
    }

    public Doing doing(int rank, double at) {
        if (at < stoppedAt) {
            return Doing.WORKS;
        }
        return rank == stoppedRank ? Doing.STOPPED : Doing.WAITS;
    }

    /** Seconds of training so far: all counters of a rank follow from it. */
    public double worked(double at) {
        double until = Math.min(at, stoppedAt);
        double lost = Math.max(0, until - slowAt) * (1 - 1 / slowFactor);
        return until - lostSeconds - lost;
    }

    /** Steps done so far. */
    public long step(double at) {
        return (long) (worked(at) / stepSeconds);
    }

    /** Seconds since the last step ended. */
    public double progressAge(double at) {
        double sinceStep = (worked(at) - step(at) * stepSeconds) * (at > slowAt ? slowFactor : 1);
        return sinceStep + Math.max(0, at - stoppedAt);
    }
}

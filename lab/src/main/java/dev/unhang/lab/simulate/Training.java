package dev.unhang.lab.simulate;

import java.util.ArrayList;
import java.util.List;

/**
 * One data-parallel job over whole nodes, a rank a GPU. All ranks step together; when one cannot, all wait. A launcher
 * that restarts in place starts all processes again when one is ended. Confined to one thread.
 */
final class Training {

    private static final long STARTS_NS = 4 * Agenda.SECOND;

    final String name;
    final String schedulerJob;
    final List<Machine> nodes;
    final boolean bySlurm;

    int epoch;
    int stoppedRank = -1;
    long stoppedAtNs;

    /** Since when its processes run. */
    long startedNs;

    /** Since when all its processes are gone; -1: they are there. */
    long goneSinceNs = -1;

    /** Since when no step was made; -1: steps are made. */
    long stillSinceNs = -1;

    private int pid = 1000;

    Training(String name, String schedulerJob, List<Machine> nodes, boolean bySlurm, long nowNs) {
        this.name = name;
        this.schedulerJob = schedulerJob;
        this.nodes = new ArrayList<>(nodes);
        this.bySlurm = bySlurm;
        this.startedNs = nowNs;
        this.nodes.forEach(node -> node.job = this);
    }

    int world() {
        return nodes.size() * Machine.GPUS;
    }

    int rank(Machine node, int gpu) {
        return nodes.indexOf(node) * Machine.GPUS + gpu;
    }

    int pid(int rank) {
        return pid + rank;
    }

    long startTicks() {
        return 100_000 + startedNs / (Agenda.SECOND / 100);
    }

    /** All its processes are started anew. */
    void restart(long nowNs) {
        epoch++;
        pid += world();
        stoppedRank = -1;
        goneSinceNs = -1;
        startedNs = nowNs;
        look(nowNs);
    }

    /** All its processes end, as when a GPU fails under one. */
    void abort(long nowNs) {
        stoppedRank = -1;
        goneSinceNs = nowNs;
        look(nowNs);
    }

    boolean gone() {
        return goneSinceNs >= 0;
    }

    boolean couldRun() {
        return nodes.stream().allMatch(Machine::works);
    }

    void stop(int rank, long nowNs) {
        stoppedRank = rank;
        stoppedAtNs = nowNs;
        look(nowNs);
    }

    /** Follows what its nodes can do. */
    void look(long nowNs) {
        boolean moves = stoppedRank < 0
                && !gone()
                && nowNs >= startedNs + STARTS_NS
                && nodes.stream().allMatch(Machine::works);
        if (moves) {
            stillSinceNs = -1;
        } else if (stillSinceNs < 0) {
            stillSinceNs = nowNs;
        }
    }

    boolean moves() {
        return stillSinceNs < 0;
    }
}

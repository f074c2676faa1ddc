package dev.unhang.lab.compose;

import java.util.List;

/** What a rank can be seen to do, and where that was recorded. */
enum Part {
    STARTS(new Window("rank-stopped", 0, 0, -4.5, -0.5), new Window("rank-stopped", 1, 1, -4.5, -0.5)),
    AWAITS_PEERS(new Window("rank-absent", 0, 0, 6, 29)),
    TRAINS(
            new Window("rank-stopped", 0, 0, 2, 13.8),
            new Window("rank-stopped", 1, 1, 2, 13.8),
            new Window("rank-spins", 0, 0, 2, 11.5),
            new Window("rank-spins", 1, 1, 2, 11.5),
            new Window("rank-killed", 0, 0, 1, 11.5),
            new Window("rank-killed", 1, 1, 1, 11.5),
            new Window("data-stall", 0, 0, 2, 9.5),
            new Window("data-stall", 1, 1, 2, 9.5),
            new Window("normal-checkpoint-eval", 0, 0, 15, 21.5),
            new Window("normal-checkpoint-eval", 1, 1, 15, 21.5)),
    TRAINS_NVLINK(new Window("nvlink-rank-stopped", 0, 0, 2, 10), new Window("nvlink-rank-stopped", 0, 1, 2, 10)),
    WAITS(new Window("rank-stopped", 0, 0, 15.5, 34), new Window("rank-spins", 0, 0, 13.5, 31.5)),
    WAITS_NVLINK(new Window("nvlink-rank-stopped", 0, 0, 12, 26)),
    STOPPED(new Window("rank-stopped", 1, 1, 15.5, 34)),
    STOPPED_NVLINK(new Window("nvlink-rank-stopped", 0, 1, 12, 26)),
    LOOPS(new Window("rank-spins", 1, 1, 13.5, 31.5)),
    CUT_OFF(new Window("link-down", 1, 1, 15.5, 32)),
    CUT_OFF_PEER(new Window("link-down", 0, 0, 15.5, 32)),
    ABORTED(new Window("rank-killed", 0, 0, 14, 31)),
    /** The GPU that a process has left. */
    GONE(new Window("rank-killed", 1, 1, 15, 31)),
    /** Its GPU idles while the process does something else, or sleeps. */
    SLEEPS(new Window("normal-checkpoint-eval", 0, 0, 9, 13.9)),
    WAITS_FOR_WRITER(new Window("normal-checkpoint-eval", 1, 1, 9, 13.9)),
    WRITES_SHARD(
            new Window("normal-checkpoint-eval", 0, 0, 35, 37.9), new Window("normal-checkpoint-eval", 1, 1, 35, 37.9)),
    COMPUTES(
            new Window("normal-checkpoint-eval", 0, 0, 23, 28.9), new Window("normal-checkpoint-eval", 1, 1, 23, 28.9)),
    STARVES(new Window("data-stall", 0, 0, 11.5, 26), new Window("data-stall", 1, 1, 11.5, 26)),
    SLOW(new Window("straggler", 1, 1, 13, 26)),
    SLOW_PEER(new Window("straggler", 0, 0, 13, 26)),
    HOLDS_MEMORY(new Window("c-idle-notebook", 0, 0, 5, 100), new Window("c-idle-notebook", 1, 1, 5, 100));

    /** A stretch of a recorded trace. The numbers are of node and rank, the times its seconds. */
    record Window(String trace, int node, int rank, double from, double to) {}

    private final List<Window> windows;

    Part(Window... windows) {
        this.windows = List.of(windows);
    }

    List<Window> windows() {
        return windows;
    }
}

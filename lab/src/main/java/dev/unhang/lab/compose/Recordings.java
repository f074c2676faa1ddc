package dev.unhang.lab.compose;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Which stretches of the recorded traces show what. */
final class Recordings {

    /** A stretch of a recorded trace. The numbers are of node and rank, the times its seconds. */
    record Window(String trace, int node, int rank, double from, double to) {}

    private static final String CHECKPOINTS = "normal-checkpoint-eval";
    private static final String NVLINK = "nvlink-rank-stopped";

    private static final Map<Part, List<Window>> WHERE = new EnumMap<>(Map.ofEntries(
            Map.entry(Part.STARTS, both("rank-stopped", -4.5, -0.5)),
            Map.entry(Part.AWAITS_PEERS, List.of(rank0("rank-absent", 6, 29))),
            Map.entry(
                    Part.TRAINS,
                    List.of(
                            rank0("rank-stopped", 2, 13.8),
                            rank1("rank-stopped", 2, 13.8),
                            rank0("rank-spins", 2, 11.5),
                            rank1("rank-spins", 2, 11.5),
                            rank0("rank-killed", 1, 11.5),
                            rank1("rank-killed", 1, 11.5),
                            rank0("data-stall", 2, 9.5),
                            rank1("data-stall", 2, 9.5),
                            rank0(CHECKPOINTS, 15, 21.5),
                            rank1(CHECKPOINTS, 15, 21.5))),
            Map.entry(Part.TRAINS_NVLINK, List.of(new Window(NVLINK, 0, 0, 2, 10), new Window(NVLINK, 0, 1, 2, 10))),
            Map.entry(
                    Part.WAITS,
                    List.of(
                            rank0("rank-stopped", 15.5, 34),
                            rank0("rank-spins", 13.5, 31.5),
                            rank1(CHECKPOINTS, 9, 13.9))),
            Map.entry(Part.WAITS_NVLINK, List.of(new Window(NVLINK, 0, 0, 12, 26))),
            Map.entry(Part.STOPPED, List.of(rank1("rank-stopped", 15.5, 34))),
            Map.entry(Part.STOPPED_NVLINK, List.of(new Window(NVLINK, 0, 1, 12, 26))),
            Map.entry(Part.LOOPS, List.of(rank1("rank-spins", 13.5, 31.5))),
            Map.entry(Part.CUT_OFF, List.of(rank1("link-down", 15.5, 32))),
            Map.entry(Part.CUT_OFF_PEER, List.of(rank0("link-down", 15.5, 32))),
            Map.entry(Part.ABORTED, List.of(rank0("rank-killed", 14, 31))),
            Map.entry(Part.GONE, List.of(rank1("rank-killed", 15, 31))),
            Map.entry(Part.SLEEPS, List.of(rank0(CHECKPOINTS, 9, 13.9))),
            Map.entry(Part.WRITES_SHARD, both(CHECKPOINTS, 35, 37.9)),
            Map.entry(Part.COMPUTES, both(CHECKPOINTS, 23, 28.9)),
            Map.entry(Part.STARVES, both("data-stall", 11.5, 26)),
            Map.entry(Part.SLOW, List.of(rank1("straggler", 13, 26))),
            Map.entry(Part.SLOW_PEER, List.of(rank0("straggler", 13, 26))),
            Map.entry(Part.HOLDS_MEMORY, both("c-idle-notebook", 5, 100))));

    private Recordings() {}

    static List<Window> of(Part part) {
        return WHERE.getOrDefault(part, List.of());
    }

    private static Window rank0(String trace, double from, double to) {
        return new Window(trace, 0, 0, from, to);
    }

    private static Window rank1(String trace, double from, double to) {
        return new Window(trace, 1, 1, from, to);
    }

    private static List<Window> both(String trace, double from, double to) {
        return List.of(rank0(trace, from, to), rank1(trace, from, to));
    }
}

package dev.unhang.lab.compose;

import java.util.List;
import java.util.Locale;

/**
 * What stays the same through a job's history: how large it is, how it talks, how its model behaves and what its telemetry
 * shows.
 *
 * @param world ranks
 * @param perNode ranks on a node
 * @param stepSeconds of one step; below 1 the recorded steps are used as they are
 * @param power by how much this model draws more or less than the recorded one
 * @param traffic by how much it sends more or less
 * @param background other traffic on each NIC, bytes a second
 * @param blocks waiting ranks block instead of spinning on the CPU
 * @param writerState of the process of a rank that writes a checkpoint, and {@code writerCpu} its ticks a second
 * @param secondNic nodes have a second NIC that carries nothing of the job
 * @param recordings chooses among the recordings of a part
 */
record Setting(
        int world,
        int perNode,
        Path path,
        double stepSeconds,
        double power,
        double traffic,
        double background,
        Tells tells,
        Io io,
        boolean blocks,
        char writerState,
        double writerCpu,
        boolean secondNic,
        int recordings) {

    /** Which counters see the job's traffic. */
    enum Path {
        NIC,
        NIC_AND_NVLINK,
        NVLINK,
        HIDDEN
    }

    /** What the heartbeats say. */
    enum Tells {
        PHASES,
        STEPS,
        NOTHING
    }

    /** What is known of a rank's writes. */
    enum Io {
        /** The counter could not be read. */
        NOT_READ,
        COUNTED,
        /** The counter is there, and checkpoints are written by another process. */
        ELSEWHERE
    }

    private static final List<Integer> WORLDS = List.of(2, 4, 8, 16, 32, 64);

    boolean shortSteps() {
        return stepSeconds < 1;
    }

    int nodes() {
        return (world + perNode - 1) / perNode;
    }

    int node(int rank) {
        return rank / perNode;
    }

    static String nodeName(int node) {
        return "node-" + node;
    }

    /**
     * How long a history may get, seconds: large jobs get shorter ones, so that no seed takes much longer than another.
     */
    int mostSeconds() {
        return Math.max(900, Math.min(2400, 38_400 / world));
    }

    static Setting draw(Draw draw) {
        int world = draw.weighted(WORLDS, 6, 5, 5, 4, 2, 1);
        int perNode = Math.min(world, draw.weighted(List.of(1, 4, 8), 5, 2, 3));
        Path path = path(draw, world, perNode);
        double[] steps = {draw.between(0.05, 0.5), draw.between(2, 4), draw.between(15, 25), draw.between(45, 70)};
        int writer = draw.whole(0, 3);
        int regime = draw.weighted(List.of(0, 1, 2, 3), 6, 2, 1, 1);
        if (world > 16) {
            regime = Math.min(regime, 1);
        }
        return new Setting(
                world,
                perNode,
                path,
                steps[regime],
                draw.spread(0.6, 1.6),
                draw.spread(0.2, 2),
                draw.one(List.of(0.0, 0.0, 0.0, 2e4, 2e5, 5e6, 2e7)),
                draw.weighted(List.of(Tells.values()), 4, 4, 2),
                draw.weighted(List.of(Io.values()), 4, 4, 2),
                draw.chance(0.2),
                "SDRR".charAt(writer),
                List.of(0.0, 30.0, 100.0, 95.0).get(writer),
                draw.chance(0.3),
                draw.whole(0, 999));
    }

    private static Path path(Draw draw, int world, int perNode) {
        if (world == perNode) {
            // Within a node nothing passes the NIC: it is NVLink, or shared memory that no counter shows.
            return draw.chance(0.7) ? Path.NVLINK : Path.HIDDEN;
        }
        if (draw.chance(0.12)) {
            return Path.HIDDEN;
        }
        return perNode > 1 && draw.chance(0.5) ? Path.NIC_AND_NVLINK : Path.NIC;
    }

    /** For people. */
    String words() {
        return world + " ranks, " + perNode + " a node, " + path.name().toLowerCase(Locale.ROOT)
                + ", steps of "
                + String.format(Locale.ROOT, "%.2f", stepSeconds) + " s, heartbeats tell "
                + tells.name().toLowerCase(Locale.ROOT) + ", I/O "
                + io.name().toLowerCase(Locale.ROOT) + ", background "
                + Math.round(background) + " B/s";
    }
}

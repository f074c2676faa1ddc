package dev.unhang.lab.simulate;

/**
 * What a seed makes of a cluster. Most have 20 to 50 nodes, one in twenty 500, one in twenty two. Bounds are what the
 * operator set, and what the rules hold the healer to.
 *
 * @param filledPercent share of the nodes that have a job
 * @param restlessSeconds for how long things fail; then all is mended but what needs repair
 * @param nodesPercent and {@code nodesAtMost}: the smaller bounds nodes under node actions at once, but one may always be
 * @param jobsAtMost jobs under job actions at once
 * @param perIncident granted commands for one incident
 */
public record Setup(
        long seed,
        int nodes,
        int rackSize,
        int filledPercent,
        int largestJob,
        int restlessSeconds,
        int nodesPercent,
        int nodesAtMost,
        int jobsAtMost,
        int perIncident,
        int perNodeADay,
        int perJobADay,
        int attemptsARung,
        Plant plant) {

    static Setup of(long seed, int nodes, Plant plant) {
        Chance chance = new Chance(seed * 31 + 7);
        int kind = (int) Math.floorMod(seed, 20L);
        int size = nodes > 0 ? nodes : kind == 19 ? 500 : kind == 7 ? 2 : chance.between(20, 50);
        boolean fills = chance.perMille(400);
        return new Setup(
                seed,
                size,
                Math.max(2, size / 4),
                fills || size == 2 ? 100 : chance.between(20, 70),
                size == 2 ? 2 : fills && size < 60 ? chance.any(4, 8, size) : 8,
                size > 100 ? 120 : 240,
                chance.any(2, 5, 10, 20),
                chance.any(1, 2, 5),
                chance.any(1, 2),
                chance.any(4, 8),
                chance.any(4, 6),
                chance.any(4, 6),
                chance.any(1, 2),
                plant);
    }

    /** Most nodes under node actions at once, of so many that are known. */
    int mostNodes(int known) {
        return Math.max(1, Math.min(nodesPercent * known / 100, nodesAtMost));
    }
}

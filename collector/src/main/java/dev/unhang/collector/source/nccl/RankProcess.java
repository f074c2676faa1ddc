package dev.unhang.collector.source.nccl;

/**
 * A rank on this node, as it was last found.
 *
 * @param pid of the host
 * @param startTicks with the pid its identity
 */
public record RankProcess(int pid, long startTicks, int rank) {}

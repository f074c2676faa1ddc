package dev.unhang.collector.source.heartbeat;

import dev.unhang.events.v1.Phase;
import org.jspecify.annotations.Nullable;

/**
 * The last that one process said of itself. Times are of this node's monotonic clock when the datagram came in, so a
 * sender's clock does not matter. Immutable.
 *
 * @param rank null where the sender does not know it
 * @param step null where the sender has not told one yet
 * @param announces its checkpoints announce themselves
 * @param progressNs when step or phase last changed
 */
public record Beat(
        Sender sender,
        String job,
        @Nullable Integer rank,
        int world,
        Phase phase,
        @Nullable Long step,
        long seq,
        boolean announces,
        long progressNs,
        long receivedNs) {

    /**
     * Who sent it.
     *
     * @param pidNamespace inode of the namespace in which {@code pid} counts; 0: the sender did not say, take it for a
     *     pid of the node
     */
    public record Sender(int pid, long pidNamespace) {}
}

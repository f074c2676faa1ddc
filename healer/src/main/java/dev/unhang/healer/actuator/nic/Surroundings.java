package dev.unhang.healer.actuator.nic;

import java.util.List;
import java.util.Optional;

/**
 * What else is known of a node before one of its ports goes down. Immutable.
 *
 * @param peers whom the node must not lose
 * @param rdmaUsers programs that hold an RDMA device of the port, a sentence each
 * @param virtualFunctions how many the port has
 * @param lockedRoutes lines of ip about routes with a locked metric
 * @param doubts what could not be read and has to be known, a sentence each
 */
record Surroundings(
        List<Peer> peers,
        List<String> rdmaUsers,
        int virtualFunctions,
        List<String> lockedRoutes,
        List<String> doubts) {

    /**
     * Somebody at the other end of a connection.
     *
     * @param who as {@code the Kafka broker 10.0.0.5}
     * @param device that the kernel would send through to it; empty when the kernel has no answer
     */
    record Peer(String who, Optional<String> device) {}

    Surroundings {
        peers = List.copyOf(peers);
        rdmaUsers = List.copyOf(rdmaUsers);
        lockedRoutes = List.copyOf(lockedRoutes);
        doubts = List.copyOf(doubts);
    }
}

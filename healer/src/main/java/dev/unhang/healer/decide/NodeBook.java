package dev.unhang.healer.decide;

import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.Watch;

/**
 * Keeps what is remembered of each node: where it is, when it was seen, whether it said goodbye. Written only when that
 * changes, or once an hour, because reports come a thousand a second. Holds nothing itself.
 */
final class NodeBook {

    /** How coarse {@code last_seen} is, ms of log time. */
    static final long SEEN_EVERY_MS = 3_600_000;

    /** A node is heard when its last record is no older than this, ms of log time: the limit of silence. */
    static final int HEARD_MS = 10_000;

    private NodeBook() {}

    static void report(Turn turn, NodeReport report) {
        NodeState known = turn.ledger().node(report.getNode());
        Watch watch = report.getWatch();
        boolean speaks = watch == Watch.WATCH_WATCHED || watch == Watch.WATCH_UNSPECIFIED;
        long now = turn.now().logMs();
        if (known == null || known.getForgotten()) {
            // A silent node counts as watched for a while after the log stood still; that alone makes it known to
            // nobody.
            if (speaks && report.getSilentMs() < HEARD_MS) {
                turn.node(
                        NodeState.newBuilder()
                                .setNode(report.getNode())
                                .setFirstSeenLogMs(now)
                                .setLastSeenLogMs(now)
                                .setPartition(report.getOrigin().getPartition())
                                .build(),
                        "node " + report.getNode() + " is watched from now on");
            }
            return;
        }
        if (known.getPartition() != report.getOrigin().getPartition()) {
            turn.node(
                    known.toBuilder()
                            .setPartition(report.getOrigin().getPartition())
                            .build(),
                    "node " + report.getNode() + " is in partition "
                            + report.getOrigin().getPartition() + " now");
            return;
        }
        boolean wasUnwatched = known.getUnwatchedSinceLogMs() > 0;
        if (watch == Watch.WATCH_UNWATCHED && !wasUnwatched) {
            turn.node(
                    known.toBuilder().setUnwatchedSinceLogMs(Math.max(1, now)).build(),
                    "the collector of node " + report.getNode() + " said goodbye");
        } else if (watch != Watch.WATCH_UNWATCHED && wasUnwatched) {
            turn.node(
                    known.toBuilder().clearUnwatchedSinceLogMs().build(),
                    "node " + report.getNode() + (speaks ? " is watched again" : " did not come back"));
        } else if (speaks && now - known.getLastSeenLogMs() >= SEEN_EVERY_MS) {
            turn.node(known.toBuilder().setLastSeenLogMs(now).build(), "node " + report.getNode() + " still speaks");
        }
    }
}

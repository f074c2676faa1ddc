package dev.unhang.healer.decide;

import dev.unhang.events.v1.FleetState;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.StateValue;
import dev.unhang.events.v1.Watch;
import dev.unhang.healer.ledger.Ledger;

/**
 * Keeps what is remembered of each node: where it is, when it was seen, whether it said goodbye. Written only when that
 * changes, or once an hour, because reports come a thousand a second. Holds nothing itself.
 */
final class NodeBook {

    /** How coarse {@code last_seen} is, ms of log time. */
    static final long SEEN_EVERY_MS = 3_600_000;

    /** A node is heard when its last record is no older than this, ms of log time: the limit of silence. */
    static final int HEARD_MS = 10_000;

    private static final long HOUR_MS = 3_600_000L;
    private static final int HOURS_KEPT = 24;

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
                                .putAllLabels(report.getLabelsMap())
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
        if (speaks && !known.getLabelsMap().equals(report.getLabelsMap()) && report.getLabelsCount() > 0) {
            turn.node(
                    known.toBuilder()
                            .clearLabels()
                            .putAllLabels(report.getLabelsMap())
                            .build(),
                    "node " + report.getNode() + " bears other labels: " + report.getLabelsMap());
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

    /** Once an hour, and when the fleet has grown: how many nodes it has, for percentages of the last day's most. */
    static void count(Turn turn) {
        Ledger ledger = turn.ledger();
        long hour = turn.now().logMs() / HOUR_MS;
        int known = ledger.nodesKnown();
        FleetState before = ledger.fleet();
        Integer most = before.getMostNodesByHourMap().get(hour);
        if (known == 0 || (most != null && most >= known)) {
            return;
        }
        FleetState.Builder next = FleetState.newBuilder();
        before.getMostNodesByHourMap().forEach((at, nodes) -> {
            if (hour - at < HOURS_KEPT) {
                next.putMostNodesByHour(at, nodes);
            }
        });
        next.putMostNodesByHour(hour, known);
        turn.put(Ledger.FLEET, StateValue.newBuilder().setFleet(next).build(), "the fleet has " + known + " nodes");
    }
}

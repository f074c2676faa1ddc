package dev.unhang.healer.policy;

import java.time.Duration;

/**
 * What holds for all playbooks. Durations are of log time.
 *
 * @param nodesPercent of the most nodes known in the last day, under node actions at once
 * @param nodesAtMost absolute bound beside it; the smaller counts, and one is always allowed
 * @param jobsAtMost jobs under job actions at once
 * @param perIncident granted commands for one incident
 * @param perNodeADay granted commands on one node a day
 * @param perJobADay granted commands on one job a day
 * @param burstPercent of the nodes with an incident of their own within two minutes: more is no fault of nodes
 * @param approvalExpires how long an incident waits for a person's yes
 * @param approvalHolds how long a yes counts
 * @param repeatOffences first suspect so often within seven days makes a node a repeat offender
 * @param rackLabel the label of a node that names its rack
 */
public record Limits(
        int nodesPercent,
        int nodesAtMost,
        int jobsAtMost,
        int perIncident,
        int perNodeADay,
        int perJobADay,
        int burstPercent,
        Duration approvalExpires,
        Duration approvalHolds,
        int repeatOffences,
        String rackLabel) {

    /** As shipped: {@code max(1, min(2 %, 5))} nodes, and three attempts a day. */
    public static final Limits USUAL =
            new Limits(2, 5, 2, 8, 4, 4, 10, Duration.ofMinutes(15), Duration.ofMinutes(10), 2, "rack");
}

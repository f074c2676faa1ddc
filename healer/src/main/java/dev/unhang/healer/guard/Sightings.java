package dev.unhang.healer.guard;

import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.Watch;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The last report of each node, so that what an action rests on is read again right before it. It holds what the last
 * seconds of the log said and nothing that was decided: a new decider has it again after its warm-up. Confined to the
 * decider's thread.
 */
public final class Sightings {

    private record Sighting(NodeReport report, long logMs) {}

    private final Map<String, Sighting> last = new HashMap<>();
    private final Map<Integer, Long> generations = new HashMap<>();

    /** Takes a report, unless a newer owner of its partition has spoken. */
    public void onReport(NodeReport report, long logMs) {
        int partition = report.getOrigin().getPartition();
        long generation = report.getOrigin().getGeneration();
        if (generation >= generations.getOrDefault(partition, 0L)) {
            generations.put(partition, generation);
            last.put(report.getNode(), new Sighting(report, logMs));
        }
    }

    public void forget(String node) {
        last.remove(node);
    }

    public @Nullable NodeReport report(String node) {
        Sighting sighting = last.get(node);
        return sighting == null ? null : sighting.report();
    }

    /** Whether it was just said that the node does not speak; of a node that is silent that is said each second. */
    public boolean silent(String node, long nowMs) {
        NodeReport report = report(node);
        return report != null && report.getWatch() == Watch.WATCH_SILENT && ageMs(node, nowMs) <= Sight.FRESH_MS;
    }

    /** How old the last report is, ms of log time; {@code Long.MAX_VALUE} when there is none. */
    public long ageMs(String node, long nowMs) {
        Sighting sighting = last.get(node);
        return sighting == null ? Long.MAX_VALUE : nowMs - sighting.logMs();
    }
}

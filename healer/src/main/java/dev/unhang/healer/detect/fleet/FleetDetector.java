package dev.unhang.healer.detect.fleet;

import com.google.protobuf.Message;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.Pulse;
import dev.unhang.healer.detect.job.Jobs;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Judges what no single node can tell: jobs, peers, the fleet. A pure function of the inbox, in order. Its findings are
 * not written to the log: the decider, which runs it just before it decides, is their only reader and finds them again
 * after a take-over. Confined to the decider's thread.
 */
public final class FleetDetector {

    /** Jobs are looked at so often, ms of log time: a second, less the jitter of what beats. */
    private static final long LOOK_MS = 900;

    private static final long NEVER = -LOOK_MS;

    private final Jobs jobs = new Jobs();
    private final Map<Integer, Long> generations = new HashMap<>();
    private long lookedMs = NEVER;

    /**
     * Takes one record of the inbox.
     *
     * @param logTimeMs log time of the inbox at this record
     * @param stampMs the broker's stamp; for people only
     */
    public List<Finding> onRecord(Message message, long logTimeMs, long stampMs) {
        if (message instanceof NodeReport report) {
            List<Finding> out = new ArrayList<>(0);
            int partition = report.getOrigin().getPartition();
            long generation = report.getOrigin().getGeneration();
            if (generation >= generations.getOrDefault(partition, 0L)) {
                generations.put(partition, generation);
                jobs.onReport(report, logTimeMs, stampMs, out);
            }
            return out;
        }
        boolean beats = message instanceof Pulse || message instanceof Covered;
        if (!beats || logTimeMs - lookedMs < LOOK_MS) {
            return List.of();
        }
        lookedMs = logTimeMs;
        List<Finding> out = new ArrayList<>();
        jobs.look(logTimeMs, stampMs, out);
        return out;
    }

    /** Each finding that stands, as it was last seen. */
    public List<Finding> standing() {
        return jobs.standing();
    }
}

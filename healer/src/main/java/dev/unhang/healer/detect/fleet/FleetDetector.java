package dev.unhang.healer.detect.fleet;

import com.google.protobuf.Message;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.JobProfile;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.ProbeResult;
import dev.unhang.events.v1.Pulse;
import dev.unhang.events.v1.SchedulerFact;
import dev.unhang.healer.detect.job.JobSight;
import dev.unhang.healer.detect.job.Jobs;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Judges what no single node can tell: jobs, peers, the fleet. A pure function of the inbox, in order. Its findings are
 * not written to the log: the decider, which runs it just before it decides, is their only reader and finds them again
 * after a take-over. Confined to the decider's thread.
 */
public final class FleetDetector {

    /** Jobs are looked at so often, ms of log time: a second, less the jitter of what beats. */
    private static final long LOOK_MS = 900;

    private static final String FORGET = "forget";

    private static final long NEVER = -LOOK_MS;

    private final Jobs jobs = new Jobs();
    private final CommonCause commonCause = new CommonCause();
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
        if (message instanceof OperatorDecision decision && decision.getVerb().equals(FORGET)) {
            jobs.forget(decision.getTarget());
            return List.of();
        }
        if (message instanceof ProbeResult probe) {
            jobs.onProbe(probe, logTimeMs);
            return List.of();
        }
        if (message instanceof SchedulerFact fact) {
            List<Finding> out = new ArrayList<>(0);
            jobs.onFact(fact, stampMs, out);
            return out;
        }
        boolean beats = message instanceof Pulse || message instanceof Covered;
        if (!beats || logTimeMs - lookedMs < LOOK_MS) {
            return List.of();
        }
        lookedMs = logTimeMs;
        List<Finding> out = new ArrayList<>();
        jobs.look(logTimeMs, stampMs, out);
        commonCause.look(jobs.standing(logTimeMs), stampMs, out);
        return out;
    }

    /** A job that runs, by its name as in findings; as of the last record. */
    public Optional<JobSight> job(String name) {
        return jobs.sight(name);
    }

    /** Names of the jobs that run and have, or had at their epoch, a rank on the node; as of the last record. */
    public Set<String> jobsOn(String node) {
        return jobs.on(node);
    }

    /** Each finding that stands, as of the last look. */
    public List<Finding> standing() {
        List<Finding> standing = new ArrayList<>(jobs.standing(Math.max(0, lookedMs)));
        commonCause.standing().ifPresent(standing::add);
        return standing;
    }

    /** What has been learned of jobs since this was last asked; null: forget it. To be kept in the state. */
    public Map<String, @Nullable JobProfile> learned(long logTimeMs) {
        return jobs.learned(logTimeMs);
    }

    /** Takes what an earlier decider had learned of a job. Before the first record. */
    public void restore(String job, JobProfile learned) {
        jobs.restore(job, learned);
    }
}

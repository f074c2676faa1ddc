package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.RankReport;
import dev.unhang.events.v1.Watch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * All jobs that the nodes' reports speak of. Joins ranks into jobs by their strong identities, and keeps apart the epochs
 * of a job: where the launcher does not count restarts, a rank whose process was replaced begins a new one. Confined to
 * the decider's thread.
 */
public final class Jobs {

    private static final class Job {
        final String name;
        JobWatch watch;

        Job(String name, JobWatch watch) {
            this.name = name;
            this.watch = watch;
        }
    }

    private final Map<String, Job> byIdentity = new HashMap<>();
    private final Map<String, Job> byName = new LinkedHashMap<>();
    private final Set<String> free = new TreeSet<>();

    /** Takes what a node reports; may end an epoch. */
    public void onReport(NodeReport report, long nowMs, long stampMs, List<Finding> out) {
        boolean hasGpus = report.getGpusCount() > 0 && report.getWatch() == Watch.WATCH_WATCHED;
        if (hasGpus && report.getRanksCount() == 0) {
            free.add(report.getNode());
        } else {
            free.remove(report.getNode());
        }
        for (RankReport rank : report.getRanksList()) {
            onRank(report, rank, nowMs, stampMs, out);
        }
    }

    private void onRank(NodeReport report, RankReport rank, long nowMs, long stampMs, List<Finding> out) {
        JobIdentity identity = rank.getJob();
        Job job = job(identity, report.getNode(), nowMs);
        JobWatch watch = job.watch;
        @Nullable RankView known = watch.known(rank.getRank());
        if (identity.getEpochKnown()) {
            if (identity.getEpoch() < watch.epoch()) {
                return;
            }
            if (identity.getEpoch() > watch.epoch()) {
                watch = next(job, identity.getEpoch(), identity.getWorld(), nowMs, stampMs, out);
            }
        } else if ((watch.ended() && rank.getGoneMs() == 0)
                || (known != null && rank.getGoneMs() == 0 && !known.sameProcess(report, rank))) {
            watch = next(job, watch.epoch() + 1, identity.getWorld(), nowMs, stampMs, out);
        }
        watch.rank(rank.getRank(), report.getNode()).heard(report, rank, nowMs);
    }

    private static JobWatch next(Job job, int epoch, int world, long nowMs, long stampMs, List<Finding> out) {
        job.watch.close("the job runs at a new epoch, " + epoch, stampMs, out);
        job.watch = new JobWatch(job.name, epoch, world, job.watch.pauses(), nowMs);
        return job.watch;
    }

    private Job job(JobIdentity identity, String node, long nowMs) {
        List<String> keys = Identities.keys(identity, node);
        Job found = null;
        for (String key : keys) {
            found = byIdentity.get(key);
            if (found != null) {
                break;
            }
        }
        if (found == null) {
            String name = Identities.name(keys.get(0));
            found = byName.get(name);
            if (found == null) {
                int epoch = identity.getEpochKnown() ? identity.getEpoch() : 0;
                found = new Job(name, new JobWatch(name, epoch, identity.getWorld(), new Pauses(), nowMs));
                byName.put(name, found);
            }
        }
        for (String key : keys) {
            byIdentity.putIfAbsent(key, found);
        }
        return found;
    }

    /** Looks at each job; once a second of log time. */
    public void look(long nowMs, long stampMs, List<Finding> out) {
        Iterator<Job> all = byName.values().iterator();
        while (all.hasNext()) {
            Job job = all.next();
            job.watch.look(nowMs, stampMs, free, out);
            if (job.watch.forgotten(nowMs)) {
                job.watch.close("nothing has been heard of it for ten minutes", stampMs, out);
                all.remove();
                byIdentity.values().removeIf(other -> other.equals(job));
            }
        }
    }

    /** Each finding that stands. */
    public List<Finding> standing() {
        List<Finding> standing = new ArrayList<>();
        byName.values().forEach(job -> standing.addAll(job.watch.standing()));
        return standing;
    }
}

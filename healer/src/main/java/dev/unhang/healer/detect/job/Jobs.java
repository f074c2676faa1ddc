package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.JobProfile;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.ProbeResult;
import dev.unhang.events.v1.RankReport;
import dev.unhang.events.v1.SchedulerFact;
import dev.unhang.events.v1.Watch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * All jobs that the nodes' reports speak of. Joins ranks into jobs by their strong identities, and keeps apart the epochs
 * of a job: where the launcher does not count restarts, a rank whose process was replaced begins a new one. Confined to
 * the decider's thread.
 */
public final class Jobs {

    /** For so long the profile of a job that is not there any more is kept, ms of log time: it may be started again. */
    private static final long PROFILE_KEPT_MS = 7L * 24 * 3600 * 1000;

    private static final class Job {
        final String key;
        final String name;
        final Profile profile;
        JobWatch watch;

        Job(String key, Profile profile, JobWatch watch) {
            this.key = key;
            this.name = Identities.name(key);
            this.profile = profile;
            this.watch = watch;
        }
    }

    private final Map<String, Job> byIdentity = new HashMap<>();
    private final Map<String, Job> byName = new LinkedHashMap<>();

    /** What was learned of jobs that are not there now. */
    private final Map<String, JobProfile> before = new LinkedHashMap<>();

    private final Set<String> free = new TreeSet<>();
    private final Scheduled scheduled = new Scheduled();

    /** Nearly all ranks of one report are of one job. */
    private JobIdentity lastIdentity = JobIdentity.getDefaultInstance();

    private @Nullable Job lastJob;
    private final AddressBook addresses = new AddressBook();

    /** Takes what a node reports; may end an epoch. */
    public void onReport(NodeReport report, long nowMs, long stampMs, List<Finding> out) {
        boolean hasGpus = report.getGpusCount() > 0 && report.getWatch() == Watch.WATCH_WATCHED;
        if (hasGpus && report.getRanksCount() == 0) {
            free.add(report.getNode());
        } else {
            free.remove(report.getNode());
        }
        addresses.onReport(report);
        lastJob = null;
        for (RankReport rank : report.getRanksList()) {
            onRank(report, rank, nowMs, stampMs, out);
        }
    }

    private void onRank(NodeReport report, RankReport rank, long nowMs, long stampMs, List<Finding> out) {
        JobIdentity identity = rank.getJob();
        if (scheduled.rests(identity) != null) {
            return;
        }
        Job job = lastJob;
        if (job == null || !identity.equals(lastIdentity)) {
            job = job(identity, report.getNode(), nowMs, stampMs, out);
            lastIdentity = identity;
            lastJob = job;
        }
        JobWatch watch = job.watch;
        if (identity.getEpochKnown() && identity.getEpoch() < watch.epoch()) {
            return;
        }
        @Nullable RankView known = watch.known(rank.getRank());
        if (identity.getEpochKnown() && identity.getEpoch() > watch.epoch()) {
            watch = next(job, identity.getEpoch(), identity.getWorld(), nowMs, stampMs, out);
            known = null;
        } else if (rank.getGoneMs() > 0) {
            if (known != null && !known.sameProcess(report, rank)) {
                return; // it has been replaced, perhaps on another node
            }
        } else if (watch.ended() || (known != null && !known.sameProcess(report, rank))) {
            if (known != null && !watch.ended() && known.runsBeside(report, nowMs)) {
                return;
            }
            // Torchelastic starts all workers anew when a node joins or leaves, and does not count that.
            int epoch = identity.getEpochKnown() ? watch.epoch() : watch.epoch() + 1;
            watch = next(job, epoch, identity.getWorld(), nowMs, stampMs, out);
            known = null;
        }
        watch.heard(report, rank, known, nowMs);
    }

    private static JobWatch next(Job job, int epoch, int world, long nowMs, long stampMs, List<Finding> out) {
        String why = epoch == job.watch.epoch()
                ? "the processes of the job were started anew"
                : "the job runs at a new epoch, " + epoch;
        job.watch.close(why, stampMs, out);
        job.watch = new JobWatch(job.name, epoch, world, job.profile, nowMs);
        return job.watch;
    }

    private Job job(JobIdentity identity, String node, long nowMs, long stampMs, List<Finding> out) {
        List<String> keys = Identities.keys(identity, node);
        Job found = null;
        for (String key : keys) {
            Job known = byIdentity.get(key);
            if (found == null) {
                found = known;
            } else if (known != null && known != found) {
                merge(known, found, nowMs, stampMs, out);
            }
        }
        String best = keys.get(0);
        boolean renamed =
                found != null && found.watch.mayBeRenamed() && Identities.order(best) < Identities.order(found.key);
        if (found == null || renamed) {
            Job named = byName.get(Identities.name(best));
            named = named == null ? begin(best, identity, nowMs) : named;
            if (found != null && found != named) {
                merge(found, named, nowMs, stampMs, out);
            }
            found = named;
        }
        for (String key : keys) {
            byIdentity.putIfAbsent(key, found);
        }
        return found;
    }

    private Job begin(String key, JobIdentity identity, long nowMs) {
        String name = Identities.name(key);
        Profile profile = new Profile();
        JobProfile learned = before.remove(name);
        if (learned != null) {
            profile.restore(learned);
        }
        int epoch = identity.getEpochKnown() ? identity.getEpoch() : 0;
        Job job = new Job(key, profile, new JobWatch(name, epoch, identity.getWorld(), profile, nowMs));
        byName.put(name, job);
        return job;
    }

    /** What was taken for two jobs turns out to be one: the ranks of the first will be heard again as the second's. */
    private void merge(Job first, Job second, long nowMs, long stampMs, List<Finding> out) {
        first.watch.close("it is the same job as " + second.name, stampMs, out);
        byName.values().remove(first);
        before.put(first.name, first.profile.save(nowMs));
        byIdentity.replaceAll((key, job) -> job == first ? second : job);
    }

    /** A person says that the node is no more: its addresses may be another's now, and nothing can run there. */
    public void forget(String node) {
        addresses.forget(node);
        free.remove(node);
    }

    /** What a look found a process at; one that is no rank's, or not any more, tells nothing. */
    public void onProbe(ProbeResult probe, long nowMs) {
        for (Job job : byName.values()) {
            for (RankView rank : job.watch.ranks()) {
                if (rank.isProcess(probe)) {
                    rank.looked(Look.at(probe.getFindingsMap()), nowMs);
                }
            }
        }
    }

    /** A scheduler's word on a job: one that has ended, or waits to be started anew, is judged no more. */
    public void onFact(SchedulerFact fact, long stampMs, List<Finding> out) {
        if (!scheduled.onFact(fact)) {
            return;
        }
        for (Job job : byName.values()) {
            String why = job.watch.ended() ? null : scheduled.rests(job.watch.identity());
            if (why != null) {
                job.watch.close(why, stampMs, out);
            }
        }
    }

    /** A job that runs, by its name as in findings. */
    public Optional<JobSight> sight(String name) {
        Job job = byName.get(name);
        return job == null || job.watch.ended() || job.watch.ranks().isEmpty()
                ? Optional.empty()
                : Optional.of(job.watch.sight());
    }

    /** The jobs that run and have, or had at their epoch, a rank on the node; by name, sorted. */
    public SortedSet<String> on(String node) {
        SortedSet<String> names = new TreeSet<>();
        for (Job job : byName.values()) {
            if (!job.watch.ended() && job.watch.nodes().contains(node)) {
                names.add(job.name);
            }
        }
        return names;
    }

    /** Looks at each job; once a second of log time. */
    public void look(long nowMs, long stampMs, List<Finding> out) {
        List<Offenders> past =
                byName.values().stream().map(job -> job.profile.offenders).toList();
        Iterator<Job> all = byName.values().iterator();
        while (all.hasNext()) {
            Job job = all.next();
            job.watch.look(nowMs, stampMs, free, new Hearsay(job.watch.ranks(), addresses, past, nowMs), out);
            if (job.watch.forgotten(nowMs) && !scheduled.waits(job.watch.identity())) {
                job.watch.close("nothing has been heard of it for ten minutes", stampMs, out);
                before.put(job.name, job.profile.save(nowMs));
                all.remove();
                byIdentity.values().removeIf(other -> other.equals(job));
            }
        }
    }

    /** Each finding that stands, with its age as of now. */
    public List<Finding> standing(long nowMs) {
        List<Finding> standing = new ArrayList<>();
        byName.values().forEach(job -> standing.addAll(job.watch.standing(nowMs)));
        return standing;
    }

    /** What has been learned of jobs since this was last asked, by job; null: forget it. To be kept in the state. */
    public Map<String, @Nullable JobProfile> learned(long nowMs) {
        Map<String, @Nullable JobProfile> learned = new LinkedHashMap<>();
        for (Job job : byName.values()) {
            if (job.profile.changed()) {
                learned.put(job.name, job.profile.save(nowMs));
            }
        }
        before.entrySet().removeIf(each -> {
            boolean old = nowMs - each.getValue().getHeardLogMs() > PROFILE_KEPT_MS;
            if (old) {
                learned.put(each.getKey(), null);
            }
            return old;
        });
        return learned;
    }

    /** Takes what an earlier decider had learned of a job. */
    public void restore(String job, JobProfile learned) {
        before.put(job, learned);
    }
}

package dev.unhang.healer.detect.node;

import dev.unhang.events.v1.Accusation;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.LearnedNode;
import dev.unhang.events.v1.LearnedRank;
import dev.unhang.events.v1.NcclEvent;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.RankReading;
import dev.unhang.events.v1.RankReport;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All ranks of one node, by process. A process that is gone is kept for a while, since its absence is the evidence. */
final class Ranks {

    /** For how long a process that is gone stays in the reports, ms of node time. */
    static final long GONE_KEPT_MS = 600_000;

    /** The same for one that had said that it ends. */
    static final long ENDED_KEPT_MS = 30_000;

    private static final String OFF = "off";

    private final Map<Long, RankWatch> byProcess = new LinkedHashMap<>();
    private final Map<Long, LearnedRank> learnedBefore = new HashMap<>();
    private final List<RankWatch> seen = new ArrayList<>();

    /** Those of the sample before. */
    private final List<RankWatch> before = new ArrayList<>();

    void onSample(
            NodeSample sample,
            boolean listed,
            List<GpuWatch> gpus,
            Collection<PortWatch> ports,
            double nodeIdleMw,
            double seconds,
            Now now) {
        before.clear();
        before.addAll(seen);
        seen.clear();
        for (RankReading reading : sample.getRanksList()) {
            JobIdentity job = reading.getJob() >= 0 && reading.getJob() < sample.getJobsCount()
                    ? sample.getJobs(reading.getJob())
                    : JobIdentity.getDefaultInstance();
            if (job.getMode().equals(OFF)) {
                continue;
            }
            RankWatch rank = watch(reading, now);
            rank.onSample(reading, job, used(reading, gpus), ports, nodeIdleMw, seconds, now);
            seen.add(rank);
        }
        if (seen.size() == byProcess.size()) {
            return;
        }
        Iterator<RankWatch> all = byProcess.values().iterator();
        while (all.hasNext()) {
            RankWatch rank = all.next();
            if (seen.contains(rank)) {
                continue;
            }
            if (listed) {
                rank.missing(now);
            } else {
                rank.unread(now);
            }
            long kept = rank.ended() ? ENDED_KEPT_MS : GONE_KEPT_MS;
            if (rank.goneMs(now) > kept || replaced(rank)) {
                all.remove();
            }
        }
    }

    private RankWatch watch(RankReading reading, Now now) {
        // Nearly all samples list the same processes in the same order.
        int next = seen.size();
        if (next < before.size() && before.get(next).isProcess(reading)) {
            return before.get(next);
        }
        long key = key(reading.getPid(), reading.getStartTicks());
        RankWatch known = byProcess.get(key);
        if (known != null) {
            return known;
        }
        RankWatch rank = new RankWatch(reading.getPid(), reading.getStartTicks(), now);
        LearnedRank learned = learnedBefore.remove(key);
        if (learned != null) {
            rank.restore(learned);
        }
        byProcess.put(key, rank);
        return rank;
    }

    private boolean replaced(RankWatch gone) {
        for (RankWatch other : seen) {
            if (other.rank() == gone.rank() && sameJob(other.job(), gone.job())) {
                return true;
            }
        }
        return false;
    }

    private static boolean sameJob(JobIdentity a, JobIdentity b) {
        return a.getHeartbeat().equals(b.getHeartbeat())
                && a.getSlurm().equals(b.getSlurm())
                && a.getK8S().equals(b.getK8S())
                && a.getTorchelastic().equals(b.getTorchelastic())
                && a.getMaster().equals(b.getMaster())
                && a.getLocal().equals(b.getLocal());
    }

    private static List<GpuWatch> used(RankReading reading, List<GpuWatch> gpus) {
        if (reading.getGpusCount() == 1 && reading.getGpus(0) >= 0 && reading.getGpus(0) < gpus.size()) {
            return gpus.get(reading.getGpus(0)).alone;
        }
        List<GpuWatch> used = new ArrayList<>(reading.getGpusCount());
        for (int index : reading.getGpusList()) {
            if (index >= 0 && index < gpus.size()) {
                used.add(gpus.get(index));
            }
        }
        return used;
    }

    private static long key(int pid, long startTicks) {
        return (startTicks << 22) ^ pid;
    }

    Collection<RankWatch> all() {
        return byProcess.values();
    }

    boolean well() {
        for (RankWatch rank : byProcess.values()) {
            if (!rank.well() && !(rank.gone() && rank.ended())) {
                return false;
            }
        }
        return true;
    }

    int picture() {
        int hash = 1;
        for (RankWatch rank : byProcess.values()) {
            hash = 31 * hash + rank.pid;
            hash = 31 * hash + rank.activity().getNumber();
            hash = 31 * hash + rank.state();
            hash = 31 * hash + rank.phase();
            hash = 31 * hash + rank.words.picture();
            hash = 31 * hash + (rank.armed() ? 2 : 1) + (rank.traced() ? 4 : 0) + (rank.slow() ? 8 : 0);
        }
        return hash;
    }

    void forgetCounters() {
        byProcess.values().forEach(RankWatch::forgetCounters);
    }

    void rebooted() {
        byProcess.clear();
        seen.clear();
        learnedBefore.clear();
    }

    void learned(LearnedNode.Builder node) {
        for (RankWatch rank : byProcess.values()) {
            if (!rank.gone()) {
                node.addRanks(rank.learned());
            }
        }
    }

    void restore(LearnedNode node) {
        for (LearnedRank learned : node.getRanksList()) {
            long key = key(learned.getPid(), learned.getStartTicks());
            @Nullable RankWatch rank = byProcess.get(key);
            if (rank != null) {
                rank.restore(learned);
            } else {
                learnedBefore.put(key, learned);
            }
        }
    }

    List<RankReport> reports(Now now) {
        List<RankReport> reports = new ArrayList<>(byProcess.size());
        for (RankWatch rank : byProcess.values()) {
            reports.add(report(rank, now));
        }
        return reports;
    }

    /** Of a process that is not known the words are lost: it is no rank, or its job has opted out. */
    void onNccl(NcclEvent event, Now now) {
        RankWatch rank = byProcess.get(key(event.getPid(), event.getStartTicks()));
        if (rank != null) {
            rank.words.add(event, now);
        }
    }

    private static RankReport report(RankWatch rank, Now now) {
        RankReport.Builder report = RankReport.newBuilder()
                .setJob(rank.job())
                .setRank(rank.rank())
                .setPid(rank.pid)
                .setStartTicks(rank.startTicks)
                .setActivity(rank.activity())
                .setActivityMs((int) rank.activityMs(now))
                .setStillMs((int) rank.stillMs(now))
                .setState(rank.letter())
                .setStateMs((int) rank.stateMs(now))
                .setGoneMs((int) rank.goneMs(now))
                .setArmed(rank.armed())
                .setSlow(rank.slow());
        // An empty list costs the builder as much as one with entries.
        List<String> evidence = rank.evidence(now);
        if (!evidence.isEmpty()) {
            report.addAllEvidence(evidence);
        }
        List<Accusation> accusations = rank.words.report(now);
        if (!accusations.isEmpty()) {
            report.addAllAccusations(accusations);
        }
        long trafficAge = rank.trafficAgeMs(now);
        if (trafficAge >= 0) {
            report.setTrafficAgeMs((int) trafficAge);
        }
        rank.figures().into(report);
        GpuWatch gpu = rank.withXid();
        if (gpu != null) {
            report.setLastXid(gpu.xid()).setLastXidAgeMs((int) gpu.xidAgeMs(now));
            if (Xids.fatal(gpu.xid())) {
                report.setFatalXid(gpu.xid());
            }
        }
        return report.build();
    }
}

package dev.unhang.collector.sample;

import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.Loss;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.RankReading;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Makes one sample of the parts that the sources read. Pure functions. */
final class SampleMerge {

    private SampleMerge() {}

    /**
     * Fields of one part each are simply joined. {@code job} of a rank counts within its own part and is moved; what two
     * sources say of one process becomes one rank; a rank gets the GPUs that its process uses; losses of one kind add up.
     */
    static NodeSample.Builder merge(List<NodeSample> parts) {
        NodeSample.Builder whole = NodeSample.newBuilder();
        List<JobIdentity> jobs = new ArrayList<>();
        Map<Integer, RankReading.Builder> ranks = new LinkedHashMap<>();
        Map<String, Long> losses = new TreeMap<>();
        for (NodeSample part : parts) {
            int[] moved = new int[part.getJobsCount()];
            for (int i = 0; i < moved.length; i++) {
                JobIdentity job = part.getJobs(i);
                int known = jobs.indexOf(job);
                moved[i] = known >= 0 ? known : jobs.size();
                if (known < 0) {
                    jobs.add(job);
                }
            }
            for (RankReading rank : part.getRanksList()) {
                RankReading.Builder own = rank.toBuilder();
                if (rank.getJob() < moved.length) {
                    own.setJob(moved[rank.getJob()]);
                }
                RankReading.Builder known = ranks.putIfAbsent(rank.getPid(), own);
                if (known != null) {
                    known.mergeFrom(own.build());
                }
            }
            part.getLostList().forEach(loss -> losses.merge(loss.getKind(), loss.getCount(), Long::sum));
            whole.mergeFrom(
                    part.toBuilder().clearRanks().clearJobs().clearLost().build());
        }
        whole.addAllJobs(jobs);
        Map<Integer, List<Integer>> gpusByPid = gpusByPid(whole);
        ranks.forEach((pid, rank) -> {
            if (rank.getGpusCount() == 0) {
                rank.addAllGpus(gpusByPid.getOrDefault(pid, List.of()));
            }
            whole.addRanks(rank);
        });
        losses.forEach((kind, count) -> whole.addLost(loss(kind, count)));
        return whole;
    }

    private static Loss loss(String kind, long count) {
        return Loss.newBuilder().setKind(kind).setCount(count).build();
    }

    private static Map<Integer, List<Integer>> gpusByPid(NodeSample.Builder sample) {
        Map<Integer, List<Integer>> gpus = new HashMap<>();
        for (int i = 0; i < sample.getGpusCount(); i++) {
            for (int pid : sample.getGpus(i).getPidsList()) {
                gpus.computeIfAbsent(pid, ignored -> new ArrayList<>()).add(i);
            }
        }
        return gpus;
    }
}

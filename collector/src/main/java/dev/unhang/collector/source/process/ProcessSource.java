package dev.unhang.collector.source.process;

import dev.unhang.collector.source.Source;
import dev.unhang.collector.source.heartbeat.Beat;
import dev.unhang.collector.source.heartbeat.HeartbeatTable;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.RankReading;
import dev.unhang.events.v1.ReadStatus;
import dev.unhang.events.v1.SourceFault;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The ranks on this node: processes whose environment says so at their start, and processes that say so by heartbeat
 * (which may know a rank that no environment holds). Each becomes one {@code RankReading}, in the order of rank and
 * pid. {@code gpus} is left to whoever joins the parts, for only the GPU's reading knows its place in the sample.
 * Confined to its worker thread.
 */
public final class ProcessSource implements Source {

    private static final Duration DEADLINE = Duration.ofSeconds(2);

    /** A rank: its process, and why we think so; at least one of claim and beat is there. */
    private record Rank(
            ProcStat stat,
            @Nullable RankClaim claim,
            @Nullable Beat beat) {

        int number() {
            Integer told = beat == null ? null : beat.rank();
            return told != null ? told : claim == null ? 0 : claim.rank();
        }
    }

    private final Proc proc;
    private final ProcessTable table;
    private final BeatPids beatPids;
    private final RankReader reader;
    private final Supplier<Set<Integer>> gpuPids;
    private final LongSupplier monoNs;

    /** @param gpuPids host pids of the processes that hold a GPU, as NVML told last; may be called at any time */
    public ProcessSource(Path proc, HeartbeatTable heartbeats, Supplier<Set<Integer>> gpuPids, LongSupplier monoNs) {
        this.proc = new Proc(proc);
        this.table = new ProcessTable(this.proc);
        this.beatPids = new BeatPids(this.proc, heartbeats);
        this.reader = new RankReader(this.proc);
        this.gpuPids = gpuPids;
        this.monoNs = monoNs;
    }

    @Override
    public String name() {
        return "process";
    }

    @Override
    public Duration deadline() {
        return DEADLINE;
    }

    @Override
    public Reading read() throws IOException {
        long now = monoNs.getAsLong();
        table.scan(now);
        NodeSample.Builder part = NodeSample.newBuilder();
        List<JobIdentity> jobs = new ArrayList<>();
        Set<Integer> pids = new HashSet<>();
        for (Rank rank : ranks(beatPids.find(now))) {
            RankReading.Builder reading = reader.read(rank.stat(), now);
            JobIdentity job = job(rank);
            int index = jobs.indexOf(job);
            if (index < 0) {
                index = jobs.size();
                jobs.add(job);
            }
            reading.setJob(index).setRank(rank.number());
            if (rank.claim() != null) {
                reading.setLocalRank(rank.claim().localRank());
            }
            if (rank.beat() != null) {
                RankReader.join(reading, rank.beat(), now);
            }
            part.addRanks(reading);
            pids.add(rank.stat().pid());
        }
        part.addAllJobs(jobs);
        reader.forgetAllBut(pids);
        if (table.forbidden() > 0) {
            part.addSources(SourceFault.newBuilder()
                    .setSource(name())
                    .setStatus(ReadStatus.READ_STATUS_NO_PERMISSION)
                    .setDetail("the environment of " + table.forbidden()
                            + (table.forbidden() == 1 ? " process" : " processes")
                            + " may not be read, even as root where the kernel protects it; a rank among them is not"
                            + " seen. Run the collector as root or with CAP_SYS_PTRACE"));
        }
        return Reading.of(part.build());
    }

    @Override
    public void close() {}

    private List<Rank> ranks(Map<Integer, BeatPids.Found> beating) {
        Set<Integer> holders = gpuPids.get();
        List<RankPicker.Candidate> candidates = new ArrayList<>();
        table.claims()
                .forEach((stat, claim) -> candidates.add(new RankPicker.Candidate(
                        stat, claim, holders.contains(stat.pid()), beating.containsKey(stat.pid()))));
        List<Rank> ranks = new ArrayList<>();
        Set<Integer> taken = new HashSet<>();
        for (RankPicker.Candidate each : RankPicker.pick(candidates, table::parentOf)) {
            BeatPids.Found found = beating.get(each.stat().pid());
            ranks.add(new Rank(each.stat(), each.claim(), found == null ? null : found.beat()));
            taken.add(each.stat().pid());
        }
        beating.forEach((pid, found) -> {
            if (!taken.contains(pid)) {
                ranks.add(new Rank(found.stat(), null, found.beat()));
            }
        });
        ranks.sort(Comparator.comparingInt(Rank::number)
                .thenComparingInt(rank -> rank.stat().pid()));
        return ranks;
    }

    private JobIdentity job(Rank rank) {
        JobIdentity.Builder job = rank.claim() == null ? JobIdentity.newBuilder() : rank.claim().job().toBuilder();
        Beat beat = rank.beat();
        if (beat != null) {
            job.setHeartbeat(beat.job()).setAnnounces(beat.announces());
            if (beat.world() > 0) {
                job.setWorld(beat.world());
            }
        }
        if (rank.claim() == null && job.getHeartbeat().isEmpty()) {
            // Spawned siblings have one parent.
            int parent = rank.stat().parent();
            ProcStat stat = proc.stat(parent);
            job.setLocal("parent:" + parent + "/" + (stat == null ? 0 : stat.startTicks()));
        }
        return job.build();
    }
}

package dev.unhang.collector;

import dev.unhang.collector.Collector.Paced;
import dev.unhang.collector.serve.GpuLease;
import dev.unhang.collector.source.Source;
import dev.unhang.collector.source.clock.ClockSource;
import dev.unhang.collector.source.heartbeat.HeartbeatSource;
import dev.unhang.collector.source.heartbeat.HeartbeatTable;
import dev.unhang.collector.source.kernel.KernelSource;
import dev.unhang.collector.source.kernel.LogDevice;
import dev.unhang.collector.source.libc.KernelClock;
import dev.unhang.collector.source.nccl.NcclSource;
import dev.unhang.collector.source.nccl.RankProcess;
import dev.unhang.collector.source.net.NetSource;
import dev.unhang.collector.source.net.RdmaSource;
import dev.unhang.collector.source.nvml.NvmlHost;
import dev.unhang.collector.source.nvml.NvmlSource;
import dev.unhang.collector.source.process.ProcessSource;
import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.NodeSample;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The sources of this machine, as the settings ask for them.
 *
 * @param all each with how often it is read
 * @param lease lets go of the GPUs, where they are read
 */
public record Sources(List<Paced> all, GpuLease lease) {

    /** chronyd measures each minute or so; asking it more often tells nothing new. */
    private static final Duration CLOCK_PACE = Duration.ofSeconds(4);

    /** An Xid is told at once, so the log is read between samples too. */
    private static final Duration KERNEL_PACE = Duration.ofMillis(200);

    public Sources {
        all = List.copyOf(all);
    }

    /** Opens nothing yet: each source opens what it needs on its own thread. */
    public static Sources of(CollectorConfig config, Clock wall, LongSupplier nanos) {
        Path sys = Path.of("/sys");
        Path proc = Path.of("/proc");
        Duration each = config.interval();
        Set<String> enabled = config.enabled();
        List<Paced> all = new ArrayList<>();
        GpuLease lease = GpuLease.none();
        Supplier<Set<Integer>> gpuPids = Set::of;
        if (enabled.contains("nvml")) {
            NvmlSource nvml = new NvmlSource(config.nvml(), NvmlHost.real(), nanos);
            GpuPids watched = new GpuPids(nvml);
            all.add(new Paced(watched, each));
            lease = lease(nvml);
            gpuPids = watched;
        }
        if (enabled.contains("net")) {
            all.add(new Paced(NetSource.ofThisMachine(config.net(), nanos), each));
        }
        if (enabled.contains("rdma")) {
            all.add(new Paced(new RdmaSource(sys, nanos), each));
        }
        if (enabled.contains("clock")) {
            all.add(new Paced(new ClockSource(config.chrony(), KernelClock::read, wall), longer(each, CLOCK_PACE)));
        }
        if (enabled.contains("kernel")) {
            all.add(new Paced(new KernelSource(LogDevice.at(Path.of("/dev/kmsg")), nanos), KERNEL_PACE));
        }
        HeartbeatTable beats = new HeartbeatTable();
        if (enabled.contains("heartbeat")) {
            CollectorConfig.Address listen = config.heartbeat();
            all.add(new Paced(
                    new HeartbeatSource(new InetSocketAddress(listen.host(), listen.port()), beats, nanos), each));
        }
        if (enabled.contains("process")) {
            SeenRanks ranks = new SeenRanks(new ProcessSource(proc, beats, gpuPids, nanos));
            all.add(new Paced(ranks, each));
            if (enabled.contains("nccl")) {
                all.add(new Paced(new NcclSource(proc, ranks, nanos), each));
            }
        }
        return new Sources(all, lease);
    }

    private static Duration longer(Duration a, Duration b) {
        return a.compareTo(b) > 0 ? a : b;
    }

    private static GpuLease lease(NvmlSource nvml) {
        return new GpuLease() {
            @Override
            public Outcome release(Duration lease) {
                NvmlSource.Release release = nvml.release(lease);
                return new Outcome(release.closed(), release.detail());
            }

            @Override
            public Outcome giveBack() {
                nvml.giveBack();
                return new Outcome(true, "the GPUs are read again");
            }
        };
    }

    /** Remembers the ranks that may be watched, for the source that reads their logs. */
    private static final class SeenRanks implements Source, Supplier<List<RankProcess>> {

        private final Source process;
        private volatile List<RankProcess> ranks = List.of();

        SeenRanks(Source process) {
            this.process = process;
        }

        @Override
        public List<RankProcess> get() {
            return ranks;
        }

        @Override
        public String name() {
            return process.name();
        }

        @Override
        public Duration deadline() {
            return process.deadline();
        }

        @Override
        public Reading read() throws java.io.IOException {
            Reading reading = process.read();
            NodeSample part = reading.part();
            ranks = part.getRanksList().stream()
                    .filter(rank -> !part.getJobs(rank.getJob()).getMode().equals("off"))
                    .map(rank -> new RankProcess(rank.getPid(), rank.getStartTicks(), rank.getRank()))
                    .toList();
            return reading;
        }

        @Override
        public void close() {
            process.close();
        }
    }

    /** Remembers which processes hold a GPU, for the source that looks at processes. */
    private static final class GpuPids implements Source, Supplier<Set<Integer>> {

        private final Source nvml;
        private volatile Set<Integer> pids = Set.of();

        GpuPids(Source nvml) {
            this.nvml = nvml;
        }

        @Override
        public Set<Integer> get() {
            return pids;
        }

        @Override
        public String name() {
            return nvml.name();
        }

        @Override
        public Duration deadline() {
            return nvml.deadline();
        }

        @Override
        public Reading read() throws java.io.IOException {
            Reading reading = nvml.read();
            Set<Integer> now = new HashSet<>();
            for (GpuReading gpu : reading.part().getGpusList()) {
                now.addAll(gpu.getPidsList());
            }
            // GPUs that were let go or are lost tell nothing of their processes.
            if (!now.isEmpty()) {
                pids = Set.copyOf(now);
            }
            return reading;
        }

        @Override
        public void close() {
            nvml.close();
        }
    }
}

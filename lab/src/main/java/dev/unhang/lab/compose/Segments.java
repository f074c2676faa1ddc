package dev.unhang.lab.compose;

import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.RankReading;
import dev.unhang.healer.replay.Trace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The recorded traces, cut to what a rank did second by second. Read once, then only looked up; safe for threads. */
final class Segments {

    private final Map<Part, List<List<Second>>> parts = new EnumMap<>(Part.class);

    private Segments() {}

    /** {@code traces}: the folder {@code lab/traces}. */
    static Segments read(Path traces) throws IOException {
        Segments segments = new Segments();
        for (Part part : Part.values()) {
            List<List<Second>> sources = new ArrayList<>();
            for (Recordings.Window window : Recordings.of(part)) {
                sources.add(cut(traces, window));
            }
            segments.parts.put(part, List.copyOf(sources));
        }
        return segments;
    }

    /** The second {@code at} of a part, which is looped; {@code source} chooses among its recordings. */
    Second at(Part part, int source, int at) {
        List<List<Second>> sources = parts.getOrDefault(part, List.of());
        List<Second> seconds = sources.get(Math.floorMod(source, sources.size()));
        return seconds.get(Math.floorMod(at, seconds.size()));
    }

    /** All seconds of one recording. */
    List<Second> all(Part part, int source) {
        List<List<Second>> sources = parts.getOrDefault(part, List.of());
        return sources.get(Math.floorMod(source, sources.size()));
    }

    private static List<Second> cut(Path traces, Recordings.Window window) throws IOException {
        Path file = traces.resolve(window.trace() + ".jsonl.gz");
        String node = "node-" + window.node();
        List<Second> seconds = new ArrayList<>();
        NodeSample before = null;
        try (Trace trace = Trace.open(file, true)) {
            for (Trace.Item item = trace.next(); item != null; item = trace.next()) {
                if (!(item instanceof Trace.Item.Sample sample)
                        || !sample.node().equals(node)) {
                    continue;
                }
                double t = (sample.stampMs() - Trace.EPOCH_MS) / 1000.0;
                if (before != null && t - 1 >= window.from() - 0.1 && t <= window.to()) {
                    seconds.add(between(before, sample.sample(), window.rank()));
                }
                before = sample.sample();
            }
        }
        if (seconds.isEmpty()) {
            throw new IOException(file + " holds nothing of rank " + window.rank() + " on " + node + " from second "
                    + window.from() + " to " + window.to());
        }
        return List.copyOf(seconds);
    }

    private static Second between(NodeSample a, NodeSample b, int rank) {
        double seconds = (b.getMonoNs() - a.getMonoNs()) / 1e9;
        RankReading before = rank(a, rank);
        RankReading now = rank(b, rank);
        int index = now != null && now.getGpusCount() > 0 ? now.getGpus(0) : Math.min(rank, b.getGpusCount() - 1);
        GpuReading gpu = b.getGpus(index);
        GpuReading old = a.getGpus(index);
        NicReading nic = b.getNicsCount() == 0 ? NicReading.getDefaultInstance() : b.getNics(0);
        NicReading oldNic = a.getNicsCount() == 0 ? NicReading.getDefaultInstance() : a.getNics(0);
        return new Second(
                gpu.getUtil(),
                gpu.getMemUtil(),
                gpu.getPowerMw(),
                grown(gpu.getEnergyMj(), old.getEnergyMj()) / seconds,
                gpu.getSmMhz(),
                gpu.getMemMhz(),
                gpu.getTempC(),
                gpu.getMemUsedMib(),
                gpu.getEventReasons(),
                grown(gpu.getNvlinkTxKib(), old.getNvlinkTxKib()) / seconds,
                grown(gpu.getNvlinkRxKib(), old.getNvlinkRxKib()) / seconds,
                wrapped(gpu.getPcieTxB32(), old.getPcieTxB32()) / seconds,
                wrapped(gpu.getPcieRxB32(), old.getPcieRxB32()) / seconds,
                grown(nic.getRxBytes(), oldNic.getRxBytes()) / seconds,
                grown(nic.getTxBytes(), oldNic.getTxBytes()) / seconds,
                grown(nic.getRxPackets(), oldNic.getRxPackets()) / seconds,
                grown(nic.getTxPackets(), oldNic.getTxPackets()) / seconds,
                now == null ? 'S' : (char) now.getState(),
                now == null || before == null ? 0 : grown(now.getCpuTicks(), before.getCpuTicks()) / seconds);
    }

    private static @Nullable RankReading rank(NodeSample sample, int rank) {
        for (RankReading reading : sample.getRanksList()) {
            if (reading.getRank() == rank) {
                return reading;
            }
        }
        return null;
    }

    private static double grown(long now, long before) {
        return Math.max(0, now - before);
    }

    private static double wrapped(int now, int before) {
        return Integer.toUnsignedLong(now - before);
    }
}

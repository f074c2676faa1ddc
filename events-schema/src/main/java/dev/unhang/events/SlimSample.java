package dev.unhang.events;

import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.RankReading;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * What of a sample goes over the wire. A node of 8 busy GPUs reads about 1.6 kB a second; the log holds 1.1 kB of it.
 * {@link #slim} leaves out what a reader can derive, what is as usual, and what no reader acts on; {@link #restored}
 * puts back what can be derived, and {@link Codec#decode} calls it, so detectors see whole readings. Pure functions.
 */
public final class SlimSample {

    /** A GPU this many degrees or more below its slowdown limit does not say how far. */
    static final int TEMP_MARGIN_C = 15;

    /** A rank whose last heartbeat is younger does not say how old it is. */
    static final int HEARTBEAT_AGE_MS = 3000;

    private static final String VIRTUAL = "virtual/";

    private SlimSample() {}

    /** The sample as it is sent. {@code nicNames} holds name by id as the last inventory told them. */
    public static NodeSample slim(NodeSample sample, Map<String, String> nicNames) {
        NodeSample.Builder slim = sample.toBuilder();
        Map<Integer, Set<Integer>> tied = ranksByGpu(sample);
        for (int i = 0; i < slim.getGpusCount(); i++) {
            slim.setGpus(i, slim(sample.getGpus(i), tied.getOrDefault(i, Set.of())));
        }
        for (int i = 0; i < slim.getNicsCount(); i++) {
            slim.setNics(i, slim(sample.getNics(i), nicNames));
        }
        for (int i = 0; i < slim.getRanksCount(); i++) {
            slim.setRanks(i, slim(sample.getRanks(i)));
        }
        return slim.build();
    }

    /** The sample with all that can be derived from the rest of it. Restoring twice changes nothing. */
    public static NodeSample restored(NodeSample slim) {
        Map<Integer, Set<Integer>> tied = ranksByGpu(slim);
        NodeSample.Builder whole = slim.toBuilder();
        tied.forEach((index, pids) -> {
            Set<Integer> all = new LinkedHashSet<>(pids);
            all.addAll(slim.getGpus(index).getPidsList());
            whole.getGpusBuilder(index).clearPids().addAllPids(all);
        });
        for (int i = 0; i < slim.getNicsCount(); i++) {
            NicReading nic = slim.getNics(i);
            boolean up = nic.getState() == OperState.OPER_STATE_UP;
            boolean virtual = nic.getName().isEmpty() && nic.getId().startsWith(VIRTUAL);
            if (up && !nic.hasAdminUp()) {
                whole.getNicsBuilder(i).setAdminUp(true);
            }
            if (up && !nic.hasCarrier()) {
                whole.getNicsBuilder(i).setCarrier(true);
            }
            if (virtual) {
                whole.getNicsBuilder(i).setName(nic.getId().substring(VIRTUAL.length()));
            }
        }
        return whole.build();
    }

    private static GpuReading slim(GpuReading gpu, Set<Integer> ranks) {
        GpuReading.Builder slim = gpu.toBuilder().clearMemMhz().clearPids();
        gpu.getPidsList().stream().filter(pid -> !ranks.contains(pid)).forEach(slim::addPids);
        if (gpu.hasEnergyMj()) {
            slim.clearPowerMw();
        }
        if (gpu.hasNvlinkRxKib() && gpu.hasNvlinkTxKib()) {
            slim.clearPcieRxB32().clearPcieTxB32();
        }
        if (gpu.getPersistenceMode() != 0) {
            slim.clearPersistenceMode();
        }
        if (gpu.getTempMarginC() > TEMP_MARGIN_C) {
            slim.clearTempMarginC();
        }
        return slim.build();
    }

    private static NicReading slim(NicReading nic, Map<String, String> names) {
        NicReading.Builder slim = nic.toBuilder();
        if (nic.getState() == OperState.OPER_STATE_UP) {
            // Up means both, by RFC 2863; a reading that contradicts itself is sent as it was read.
            if (nic.getAdminUp()) {
                slim.clearAdminUp();
            }
            if (nic.getCarrier()) {
                slim.clearCarrier();
            }
        }
        if (nic.hasRxBytes() && nic.hasTxBytes()) {
            slim.clearRxPackets().clearTxPackets();
        }
        boolean named =
                nic.getId().equals(VIRTUAL + nic.getName()) || nic.getName().equals(names.get(nic.getId()));
        if (named) {
            slim.clearName();
        }
        return slim.build();
    }

    private static RankReading slim(RankReading rank) {
        RankReading.Builder slim = rank.toBuilder();
        if (rank.getHeartbeatAgeMs() <= HEARTBEAT_AGE_MS) {
            slim.clearHeartbeatAgeMs();
        }
        if (rank.getGpusCount() > 0) {
            slim.clearLocalRank();
        }
        return slim.build();
    }

    private static Map<Integer, Set<Integer>> ranksByGpu(NodeSample sample) {
        Map<Integer, Set<Integer>> pids = new HashMap<>();
        for (RankReading rank : sample.getRanksList()) {
            for (int gpu : rank.getGpusList()) {
                if (gpu >= 0 && gpu < sample.getGpusCount()) {
                    pids.computeIfAbsent(gpu, ignored -> new LinkedHashSet<>()).add(rank.getPid());
                }
            }
        }
        return pids;
    }
}

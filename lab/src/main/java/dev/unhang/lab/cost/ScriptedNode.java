package dev.unhang.lab.cost;

import com.google.protobuf.ByteString;
import dev.unhang.collector.source.Source;
import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.Phase;
import dev.unhang.events.v1.RankReading;
import java.time.Duration;
import java.util.Random;

/** A busy node that needs no hardware: GPUs, NICs and ranks whose counters move at each read. One thread at a time. */
final class ScriptedNode implements Source {

    private final int devices;
    private long reads;

    ScriptedNode(int devices) {
        this.devices = devices;
    }

    @Override
    public String name() {
        return "scripted";
    }

    @Override
    public Duration deadline() {
        return Duration.ofSeconds(1);
    }

    @Override
    public Reading read() {
        reads++;
        NodeSample.Builder part = NodeSample.newBuilder()
                .addJobs(JobIdentity.newBuilder().setHeartbeat("train-17").setWorld(1024));
        for (int i = 0; i < devices; i++) {
            part.addGpus(gpu(i)).addNics(nic(i)).addRanks(rank(i));
        }
        return Reading.of(part.build());
    }

    @Override
    public void close() {}

    private GpuReading.Builder gpu(int i) {
        byte[] uuid = new byte[16];
        new Random(i).nextBytes(uuid);
        return GpuReading.newBuilder()
                .setUuid(ByteString.copyFrom(uuid))
                .setUtil(100)
                .setMemUtil((int) (40 + reads % 10))
                .setEnergyMj(1_135_200_000_000L + reads * 650_000)
                .setPowerMw(650_000)
                .setSmMhz(1980)
                .setTempC(61)
                .setMemUsedMib(131_072)
                .setNvlinkTxKib(177_000_000_000_000L + reads * 100_000_000)
                .setNvlinkRxKib(177_000_000_000_000L + reads * 100_000_000)
                .setPcieTxB32((int) reads * 1_000_003)
                .setPcieRxB32((int) reads * 1_000_003)
                .addPids(1_834_211 + i)
                .setEventReasons(4)
                .setMemMhz(3201)
                .setPersistenceMode(1)
                .setTempMarginC(26);
    }

    private NicReading.Builder nic(int i) {
        return NicReading.newBuilder()
                .setId("0000:5c:0" + i + ".0/0")
                .setName("enp92s" + i + "np0")
                .setState(OperState.OPER_STATE_UP)
                .setAdminUp(true)
                .setCarrier(true)
                .setRxBytes(900_000_000_000_000L + reads * 2_000_000_000)
                .setTxBytes(900_000_000_000_000L + reads * 2_000_000_000)
                .setRxPackets(600_000_000_000L + reads * 1_000_000)
                .setTxPackets(600_000_000_000L + reads * 1_000_000)
                .setCarrierChanges(2);
    }

    private RankReading.Builder rank(int i) {
        return RankReading.newBuilder()
                .setPid(1_834_211 + i)
                .setStartTicks(178_000_000)
                .setRank(1016 + i)
                .setState('R')
                .setCpuTicks(340_000_000 + reads * 190)
                .setIoWriteKib(4_000_000_000L)
                .setIoReadKib(9_000_000_000L + reads * 1000)
                .setPhase(Phase.PHASE_TRAIN)
                .setStep(183_211 + reads)
                .setProgressAgeMs(420)
                .setHeartbeatAgeMs(420);
    }
}

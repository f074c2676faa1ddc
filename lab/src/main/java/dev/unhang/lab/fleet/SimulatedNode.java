package dev.unhang.lab.fleet;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.ClockReading;
import dev.unhang.events.v1.GpuInventory;
import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.NicInventory;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.Phase;
import dev.unhang.events.v1.RankReading;
import java.nio.ByteBuffer;
import java.util.Random;

/**
 * One node of a fleet: what its sources would read at some instant. Levels are those measured on H200 GPUs (a training
 * step at 150 to 440 W, a waiting GPU at 121 W and 100 %, a stopped one at 121 W and 0 %). The envelope (boot, start,
 * seq, times) is the sampler's. Confined to the caller's thread.
 */
public final class SimulatedNode {

    private static final double TRAINING_WATTS = 420;
    private static final double CONTEXT_WATTS = 121;
    private static final double NIC_BYTES_PER_SECOND = 2.3e9;
    private static final double BACKGROUND_BYTES_PER_SECOND = 20_000;
    private static final int FIRST_PID = 4_000;

    private final String name;
    private final int index;
    private final int gpus;
    private final SimulatedJob job;
    private final boolean heartbeats;
    private final Random noise;
    private volatile boolean nicUp = true;
    private volatile long clockOffsetNs;

    /** @param index the node's number in the fleet; its ranks are index × gpus and up */
    public SimulatedNode(String name, int index, int gpus, SimulatedJob job, boolean heartbeats, long seed) {
        this.name = name;
        this.index = index;
        this.gpus = gpus;
        this.job = job;
        this.heartbeats = heartbeats;
        this.noise = new Random(seed * 31 + index);
    }

    public String name() {
        return name;
    }

    public void nicUp(boolean up) {
        nicUp = up;
    }

    /** How far the node's clock is ahead of true time, ns, as chrony on it would tell. */
    public void clockOffset(long ns) {
        clockOffsetNs = ns;
    }

    /** What all sources together read. {@code at}: seconds of the simulation. */
    public NodeSample read(double at) {
        NodeSample.Builder sample = NodeSample.newBuilder();
        double worked = job.worked(at);
        for (int i = 0; i < gpus; i++) {
            int rank = index * gpus + i;
            SimulatedJob.Doing doing = job.doing(rank, at);
            double idle = at - worked;
            double joules = worked * TRAINING_WATTS + idle * CONTEXT_WATTS;
            boolean works = doing == SimulatedJob.Doing.WORKS;
            sample.addGpus(GpuReading.newBuilder()
                    .setUuid(uuid(rank))
                    .setUtil(doing == SimulatedJob.Doing.STOPPED ? 0 : works ? 97 + noise.nextInt(3) : 100)
                    .setMemUtil(works ? 20 + noise.nextInt(5) : 0)
                    .setEnergyMj((long) (joules * 1000) + 5_000_000_000L)
                    .setPowerMw(works ? 150_000 + noise.nextInt(290_000) : 121_000)
                    .setSmMhz(1_980)
                    .setTempC(works ? 52 : 38)
                    .setMemUsedMib(98_304)
                    .setNvlinkTxKib(7_000_000_000L)
                    .setNvlinkRxKib(7_000_000_000L)
                    .addPids(FIRST_PID + i));
            RankReading.Builder reading = RankReading.newBuilder()
                    .setPid(FIRST_PID + i)
                    .setStartTicks(123_456L + i)
                    .setJob(0)
                    .setRank(rank)
                    .setLocalRank(i)
                    .setState(doing == SimulatedJob.Doing.STOPPED ? 'T' : 'R')
                    .setCpuTicks((long) (worked * 190 + (doing == SimulatedJob.Doing.WAITS ? idle * 190 : 0)))
                    .setIoWriteKib(600)
                    .setIoReadKib(90_000 + (long) (worked * 40))
                    .addGpus(i);
            if (heartbeats) {
                reading.setPhase(Phase.PHASE_TRAIN)
                        .setStep(job.step(at))
                        .setProgressAgeMs((int) (job.progressAge(at) * 1000))
                        .setHeartbeatAgeMs(noise.nextInt(1_000));
            }
            sample.addRanks(reading);
        }
        sample.addJobs(JobIdentity.newBuilder()
                .setHeartbeat(heartbeats ? job.id() : "")
                .setSlurm("77.0")
                .setWorld(job.world())
                .setEpoch(0)
                .setEpochKnown(true));
        double bytes = worked * NIC_BYTES_PER_SECOND + at * BACKGROUND_BYTES_PER_SECOND + 8e12;
        sample.addNics(NicReading.newBuilder()
                .setId("0000:5c:00.0/0")
                .setName("eth1")
                .setState(nicUp ? OperState.OPER_STATE_UP : OperState.OPER_STATE_DOWN)
                .setAdminUp(true)
                .setCarrier(nicUp)
                .setRxBytes((long) bytes)
                .setTxBytes((long) bytes)
                .setRxPackets((long) (bytes / 4_000))
                .setTxPackets((long) (bytes / 4_000))
                .setCarrierChanges(nicUp ? 2 : 3));
        sample.setClock(ClockReading.newBuilder()
                .setOffsetNs(clockOffsetNs + noise.nextInt(20_000) - 10_000)
                .setRootDelayNs(300_000)
                .setRootDispersionNs(400_000)
                .setStratum(3)
                .setReferenceAgeS(20)
                .setSkewPpb(40)
                .setKernelSynced(true)
                .setKernelMaxerrorUs(2_000));
        return sample.build();
    }

    /** What rarely changes. */
    public NodeInventory inventory() {
        NodeInventory.Builder inventory = NodeInventory.newBuilder()
                .setHostname(name)
                .setDriverVersion("580.159.04")
                .setCpus(96)
                .setMemoryMib(2_000_000)
                .putLabels("rack", "r" + index / 16)
                .addNics(NicInventory.newBuilder()
                        .setId("0000:5c:00.0/0")
                        .setName("eth1")
                        .setDriver("mlx5_core")
                        .setSpeedMbps(400_000)
                        .setPhysical(true));
        for (int i = 0; i < gpus; i++) {
            inventory.addGpus(GpuInventory.newBuilder()
                    .setUuid(uuid(index * gpus + i))
                    .setName("NVIDIA H200")
                    .setPci(String.format(java.util.Locale.ROOT, "0000:%02x:00", 0x1a + i))
                    .setIndex(i)
                    .setMemoryMib(143_771)
                    .setPowerLimitMw(700_000));
        }
        return inventory.build();
    }

    private static ByteString uuid(int rank) {
        return ByteString.copyFrom(
                ByteBuffer.allocate(16).putLong(0x5151_0000_4000L).putLong(rank).array());
    }
}

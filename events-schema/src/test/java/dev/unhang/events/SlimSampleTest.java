package dev.unhang.events;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.ClockReading;
import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.Phase;
import dev.unhang.events.v1.RankReading;
import java.time.Instant;
import java.util.Map;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class SlimSampleTest {

    private static final Map<String, String> NAMES =
            Map.of("0000:5c:00.0/0", "enp92s0f0np0", "0000:5c:00.0/1", "enp92s0f1np1");

    @Test
    void aBusyNodeAfterThreeWeeksStaysUnderElevenHundredBytes() {
        NodeSample whole = busyNode();
        NodeSample slim = SlimSample.slim(whole, NAMES);

        assertThat(whole.getSerializedSize()).isGreaterThan(1400);
        assertThat(slim.getSerializedSize()).isLessThanOrEqualTo(1100);
    }

    @Test
    void whatIsDerivableComesBackThroughTheCodec() {
        NodeSample whole = busyNode();
        NodeSample slim = SlimSample.slim(whole, NAMES);
        assertThat(slim.getGpus(0).getPidsList()).isEmpty();

        Codec.Decoded decoded = Codec.decode(Codec.headers(slim, "id", "/nodes/n", Instant.EPOCH), slim.toByteArray());

        NodeSample read = (NodeSample) ((Codec.Decoded.Known) decoded).message();
        for (int i = 0; i < 8; i++) {
            assertThat(read.getGpus(i).getPidsList()).isEqualTo(whole.getGpus(i).getPidsList());
        }
        assertThat(read.getNics(0).getAdminUp()).isTrue();
        assertThat(read.getNics(0).getCarrier()).isTrue();
        assertThat(SlimSample.restored(read)).isEqualTo(read);
    }

    @Test
    void aProcessThatIsNoRankKeepsItsPid() {
        NodeSample whole = sample(
                gpu -> gpu.addPids(7).addPids(9),
                nic -> nic,
                rank -> rank.setPid(7).addGpus(0));

        assertThat(SlimSample.slim(whole, Map.of()).getGpus(0).getPidsList()).containsExactly(9);
        assertThat(SlimSample.restored(SlimSample.slim(whole, Map.of()))
                        .getGpus(0)
                        .getPidsList())
                .containsExactly(7, 9);
    }

    @Test
    void whatIsNotAsUsualIsSent() {
        NodeSample hot = SlimSample.slim(
                sample(
                        gpu -> gpu.setTempMarginC(15).setPersistenceMode(0).setPowerMw(5),
                        nic -> nic.setState(OperState.OPER_STATE_DOWN)
                                .setAdminUp(true)
                                .setCarrier(false),
                        rank -> rank.setHeartbeatAgeMs(3001).setLocalRank(3)),
                Map.of());

        assertThat(hot.getGpus(0).getTempMarginC()).isEqualTo(15);
        assertThat(hot.getGpus(0).hasPersistenceMode()).isTrue();
        assertThat(hot.getGpus(0).hasPowerMw()).isTrue();
        assertThat(hot.getNics(0).hasAdminUp()).isTrue();
        assertThat(hot.getNics(0).hasCarrier()).isTrue();
        assertThat(hot.getRanks(0).getHeartbeatAgeMs()).isEqualTo(3001);
        assertThat(hot.getRanks(0).getLocalRank()).isEqualTo(3);
    }

    @Test
    void whatIsAsUsualIsLeftOut() {
        NodeSample usual = SlimSample.slim(
                sample(
                        gpu -> gpu.setTempMarginC(16)
                                .setPersistenceMode(1)
                                .setPowerMw(5)
                                .setEnergyMj(9),
                        nic -> nic.setState(OperState.OPER_STATE_UP)
                                .setAdminUp(true)
                                .setCarrier(true),
                        rank -> rank.setHeartbeatAgeMs(3000).setLocalRank(3).addGpus(0)),
                Map.of());

        assertThat(usual.getGpus(0).hasTempMarginC()).isFalse();
        assertThat(usual.getGpus(0).hasPersistenceMode()).isFalse();
        assertThat(usual.getGpus(0).hasPowerMw()).isFalse();
        assertThat(usual.getNics(0).hasAdminUp()).isFalse();
        assertThat(usual.getNics(0).hasCarrier()).isFalse();
        assertThat(usual.getRanks(0).hasHeartbeatAgeMs()).isFalse();
        assertThat(usual.getRanks(0).getLocalRank()).isZero();
    }

    @Test
    void aNameThatTheInventoryDoesNotKnowIsSent() {
        NodeSample whole = sample(gpu -> gpu, nic -> nic.setId("0000:5c:00.0/0").setName("eth9"), rank -> rank);

        assertThat(SlimSample.slim(whole, NAMES).getNics(0).getName()).isEqualTo("eth9");
        assertThat(SlimSample.slim(whole, Map.of("0000:5c:00.0/0", "eth9"))
                        .getNics(0)
                        .getName())
                .isEmpty();
    }

    @Test
    void theNameOfAVirtualNicIsDerivedFromItsId() {
        NodeSample whole = sample(gpu -> gpu, nic -> nic.setId("virtual/veth0").setName("veth0"), rank -> rank);

        NodeSample slim = SlimSample.slim(whole, Map.of());

        assertThat(slim.getNics(0).getName()).isEmpty();
        assertThat(SlimSample.restored(slim).getNics(0).getName()).isEqualTo("veth0");
    }

    private static NodeSample sample(
            UnaryOperator<GpuReading.Builder> gpu,
            UnaryOperator<NicReading.Builder> nic,
            UnaryOperator<RankReading.Builder> rank) {
        return NodeSample.newBuilder()
                .addGpus(gpu.apply(GpuReading.newBuilder()))
                .addNics(nic.apply(NicReading.newBuilder()))
                .addRanks(rank.apply(RankReading.newBuilder()))
                .build();
    }

    /** Eight busy H200s three weeks after boot: counters of the size that such a node has. */
    private static NodeSample busyNode() {
        NodeSample.Builder sample = NodeSample.newBuilder()
                .setBootId(bytes(99))
                .setCollectorStart(1_790_000_000_000L)
                .setSeq(1_209_600)
                .setMonoNs(1_814_400_000_000_000L)
                .setWallNs(1_790_000_000_000_000_000L)
                .setLateMs(1)
                .setQueuedMs(2);
        for (int i = 0; i < 8; i++) {
            sample.addGpus(GpuReading.newBuilder()
                    .setUuid(bytes(i))
                    .setUtil(100)
                    .setMemUtil(47)
                    .setEnergyMj(1_135_200_000_000L + i)
                    .setPowerMw(652_310)
                    .setSmMhz(1980)
                    .setTempC(61)
                    .setMemUsedMib(131_072)
                    .setNvlinkTxKib(177_000_000_000_000L)
                    .setNvlinkRxKib(177_000_000_000_000L)
                    .setPcieTxB32(1_234_567_890)
                    .setPcieRxB32(987_654_321)
                    .addPids(1_834_211 + i)
                    .setEventReasons(4)
                    .setMemMhz(3201)
                    .setPersistenceMode(1)
                    .setTempMarginC(26));
            sample.addRanks(RankReading.newBuilder()
                    .setPid(1_834_211 + i)
                    .setStartTicks(178_000_000)
                    .setRank(1016 + i)
                    .setState('R')
                    .setCpuTicks(340_000_000 + i)
                    .setIoWriteKib(4_000_000_000L)
                    .setIoReadKib(9_000_000_000L)
                    .setPhase(Phase.PHASE_TRAIN)
                    .setStep(183_211)
                    .setProgressAgeMs(420)
                    .setHeartbeatAgeMs(420)
                    .addGpus(i)
                    .setLocalRank(i));
        }
        NAMES.forEach((id, name) -> sample.addNics(NicReading.newBuilder()
                .setId(id)
                .setName(name)
                .setState(OperState.OPER_STATE_UP)
                .setAdminUp(true)
                .setCarrier(true)
                .setRxBytes(900_000_000_000_000L)
                .setTxBytes(900_000_000_000_000L)
                .setRxPackets(600_000_000_000L)
                .setTxPackets(600_000_000_000L)
                .setRxDropped(1234)
                .setCarrierChanges(2)));
        return sample.addJobs(JobIdentity.newBuilder()
                        .setHeartbeat("llama-70b-pretrain")
                        .setSlurm("1834211.0")
                        .setMaster("10.12.0.17:29500")
                        .setWorld(1024)
                        .setEpoch(1)
                        .setEpochKnown(true))
                .addJobs(JobIdentity.newBuilder()
                        .setSlurm("1834999.0")
                        .setMaster("10.12.0.17:29501")
                        .setWorld(4)
                        .setEpochKnown(true))
                .setClock(ClockReading.newBuilder()
                        .setOffsetNs(-12_345)
                        .setLastOffsetNs(8_321)
                        .setRootDelayNs(412_000)
                        .setRootDispersionNs(310_000)
                        .setStratum(3)
                        .setLeap(0)
                        .setReferenceAgeS(211)
                        .setSkewPpb(34)
                        .setKernelSynced(true)
                        .setKernelMaxerrorUs(123_000))
                .build();
    }

    private static ByteString bytes(int seed) {
        byte[] bytes = new byte[16];
        new Random(seed).nextBytes(bytes);
        return ByteString.copyFrom(bytes);
    }
}

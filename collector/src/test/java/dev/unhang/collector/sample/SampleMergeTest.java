package dev.unhang.collector.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.Loss;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.RankReading;
import java.util.List;
import org.junit.jupiter.api.Test;

class SampleMergeTest {

    @Test
    void partsOfSourcesBecomeOneSample() {
        NodeSample whole = merge(
                NodeSample.newBuilder().addGpus(GpuReading.newBuilder().setUtil(1)),
                NodeSample.newBuilder().addNics(NicReading.newBuilder().setId("a")));

        assertThat(whole.getGpusCount()).isEqualTo(1);
        assertThat(whole.getNics(0).getId()).isEqualTo("a");
    }

    @Test
    void aRankGetsTheGpusThatItsProcessUses() {
        NodeSample whole = merge(
                NodeSample.newBuilder()
                        .addRanks(RankReading.newBuilder().setPid(7).setRank(0))
                        .addRanks(RankReading.newBuilder().setPid(8).setRank(1)),
                NodeSample.newBuilder()
                        .addGpus(GpuReading.newBuilder().addPids(9))
                        .addGpus(GpuReading.newBuilder().addPids(7).addPids(9))
                        .addGpus(GpuReading.newBuilder().addPids(7)));

        assertThat(whole.getRanks(0).getGpusList()).containsExactly(1, 2);
        assertThat(whole.getRanks(1).getGpusList()).isEmpty();
    }

    @Test
    void jobsOfTwoPartsAreToldApartAndEqualOnesAreOne() {
        JobIdentity a = JobIdentity.newBuilder().setHeartbeat("a").build();
        JobIdentity b = JobIdentity.newBuilder().setHeartbeat("b").build();
        NodeSample whole = merge(
                NodeSample.newBuilder()
                        .addJobs(a)
                        .addRanks(RankReading.newBuilder().setPid(1).setJob(0)),
                NodeSample.newBuilder()
                        .addJobs(b)
                        .addJobs(a)
                        .addRanks(RankReading.newBuilder().setPid(2).setJob(0))
                        .addRanks(RankReading.newBuilder().setPid(3).setJob(1)));

        assertThat(whole.getJobsList()).containsExactly(a, b);
        assertThat(whole.getRanksList().stream().map(RankReading::getJob)).containsExactly(0, 1, 0);
    }

    @Test
    void whatTwoSourcesSayOfOneProcessIsOneRank() {
        NodeSample whole = merge(
                NodeSample.newBuilder()
                        .addRanks(RankReading.newBuilder().setPid(7).setCpuTicks(5)),
                NodeSample.newBuilder()
                        .addRanks(RankReading.newBuilder().setPid(7).setStep(12)));

        assertThat(whole.getRanksList())
                .containsExactly(RankReading.newBuilder()
                        .setPid(7)
                        .setCpuTicks(5)
                        .setStep(12)
                        .build());
    }

    @Test
    void lossesOfOneKindAddUp() {
        Loss.Builder two = Loss.newBuilder().setKind("heartbeat-rate").setCount(2);

        assertThat(merge(
                                NodeSample.newBuilder().addLost(two),
                                NodeSample.newBuilder().addLost(two))
                        .getLostList())
                .containsExactly(two.setCount(4).build());
    }

    private static NodeSample merge(NodeSample.Builder... parts) {
        return SampleMerge.merge(
                        List.of(parts).stream().map(NodeSample.Builder::build).toList())
                .build();
    }
}

package dev.unhang.healer.detect.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.Accusation;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.NcclEvent;
import dev.unhang.events.v1.NcclKind;
import dev.unhang.events.v1.NicInventory;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.RankReading;
import java.util.List;
import org.junit.jupiter.api.Test;

class NcclWordsTest {

    private static final List<String> A = List.of("a");

    private final Partition partition = new Partition();
    private long eventSeq;

    private void oneRank(NodeSample.Builder sample) {
        sample.addNics(Partition.nic(OperState.OPER_STATE_UP))
                .addJobs(JobIdentity.newBuilder().setSlurm("7.0"))
                .addRanks(RankReading.newBuilder()
                        .setPid(400)
                        .setStartTicks(9)
                        .setRank(2)
                        .setState('R'));
    }

    private static NcclEvent.Builder completion(int status, String peer) {
        return NcclEvent.newBuilder()
                .setPid(400)
                .setStartTicks(9)
                .setKind(NcclKind.NCCL_KIND_COMPLETION)
                .setCode(status)
                .setPeer(peer)
                .setCount(1);
    }

    private void says(NcclEvent.Builder event) {
        partition.feed(
                "a",
                NodeEvent.newBuilder()
                        .setBootId(Partition.boot("a"))
                        .setCollectorStart(77)
                        .setSeq(++eventSeq)
                        .setMonoNs((partition.stampMs - Partition.START_MS + 5_000) * 1_000_000)
                        .setNccl(event)
                        .build());
    }

    private NodeReport last() {
        List<NodeReport> reports = partition.reports();
        return reports.get(reports.size() - 1);
    }

    private List<Accusation> words() {
        return last().getRanks(0).getAccusationsList();
    }

    @Test
    void whomARankNamesStandsInItsReportWithItsAge() {
        partition.seconds(3, A, this::oneRank);
        says(completion(12, "10.0.0.7"));
        says(completion(12, "10.0.0.7").setCount(4));
        partition.seconds(3, A, this::oneRank);

        assertThat(words())
                .containsExactly(Accusation.newBuilder()
                        .setPeer("10.0.0.7")
                        .setKind(NcclKind.NCCL_KIND_COMPLETION)
                        .setCode(12)
                        .setAgeMs(words().get(0).getAgeMs())
                        .setCount(5)
                        .build());
        assertThat(words().get(0).getAgeMs()).isBetween(2_000, 3_000);
    }

    @Test
    void aFlushIsAConsequenceAndATimeoutABlameOfNobody() {
        partition.seconds(3, A, this::oneRank);
        says(completion(5, "10.0.0.7"));
        says(completion(0, "").setKind(NcclKind.NCCL_KIND_WATCHDOG_TIMEOUT));
        says(completion(0, "").setKind(NcclKind.NCCL_KIND_FLIGHT_RECORDER));
        partition.seconds(12, A, this::oneRank);

        assertThat(words()).isEmpty();
    }

    @Test
    void aDesyncReportOfASubgroupNamesNobodyForItsNumbersAreItsOwn() {
        partition.seconds(3, A, this::oneRank);
        says(completion(0, "").setKind(NcclKind.NCCL_KIND_DESYNC).addRanks(3).setOtherGroup(true));
        says(completion(0, "").setKind(NcclKind.NCCL_KIND_DESYNC).addRanks(1));
        partition.seconds(12, A, this::oneRank);

        assertThat(words())
                .singleElement()
                .satisfies(word -> assertThat(word.getRanksList()).containsExactly(1));
    }

    @Test
    void onlyTheLastFourAreKept() {
        partition.seconds(3, A, this::oneRank);
        for (int i = 1; i <= 5; i++) {
            says(completion(12, "10.0.0." + i));
        }
        says(completion(12, "10.0.0.2"));
        partition.seconds(12, A, this::oneRank);

        assertThat(words())
                .extracting(Accusation::getPeer)
                .containsExactly("10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.2");
    }

    @Test
    void wordsAreForgottenAfterTenMinutesAndNotBefore() {
        partition.seconds(3, A, this::oneRank);
        says(completion(12, "10.0.0.7"));
        partition.seconds(590, A, this::oneRank);
        assertThat(words()).hasSize(1);
        partition.seconds(25, A, this::oneRank);

        assertThat(words()).isEmpty();
    }

    @Test
    void wordsOfAProcessThatIsNoRankAreNotKept() {
        partition.seconds(3, A, this::oneRank);
        says(completion(12, "10.0.0.7").setStartTicks(8));
        partition.seconds(12, A, this::oneRank);
        assertThat(words()).isEmpty();
    }

    @Test
    void theReportTellsTheAddressesByWhichPeersNameTheNode() {
        partition.feed(
                "a",
                NodeInventory.newBuilder()
                        .setBootId(Partition.boot("a"))
                        .setCollectorStart(77)
                        .addNics(NicInventory.newBuilder()
                                .setId("0000:5c:00.0/0")
                                .setName("eth1")
                                .addAddresses("10.0.0.7"))
                        .build());
        partition.seconds(3, A, this::oneRank);

        assertThat(last().getNics(0).getAddressesList()).containsExactly("10.0.0.7");
    }
}

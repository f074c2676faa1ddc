package dev.unhang.healer.detect.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.Accusation;
import dev.unhang.events.v1.NcclKind;
import dev.unhang.events.v1.NicReport;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.healer.detect.job.Accusations.Accused;
import dev.unhang.healer.detect.job.Accusations.Witness;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AccusationsTest {

    private static final int STILL_MS = 40_000;

    private final AddressBook book = new AddressBook();
    private final List<Witness> ranks = new ArrayList<>();

    /** Sixteen ranks, one a node: rank 7 on node-7 with 10.0.0.7. */
    @BeforeEach
    void aJob() {
        for (int rank = 0; rank < 16; rank++) {
            address("node-" + rank, "10.0.0." + rank);
            ranks.add(new Witness(rank, "node-" + rank, List.of(), 0));
        }
    }

    private void address(String node, String... addresses) {
        book.onReport(NodeReport.newBuilder()
                .setNode(node)
                .addNics(NicReport.newBuilder().addAllAddresses(List.of(addresses)))
                .build());
    }

    private static Accusation completion(int status, String peer) {
        return Accusation.newBuilder()
                .setKind(NcclKind.NCCL_KIND_COMPLETION)
                .setCode(status)
                .setPeer(peer)
                .setAgeMs(20_000)
                .setCount(1)
                .build();
    }

    private static Accusation desync(Integer... named) {
        return Accusation.newBuilder()
                .setKind(NcclKind.NCCL_KIND_DESYNC)
                .addAllRanks(List.of(named))
                .build();
    }

    private void says(int rank, Accusation... words) {
        ranks.set(rank, new Witness(rank, ranks.get(rank).node(), List.of(words), 0));
    }

    private List<Accused> accused() {
        return Accusations.of(ranks, book, STILL_MS);
    }

    @Test
    void eachDistinctAccuserIsAPointAndASentenceNamesThePeer() {
        says(6, completion(12, "10.0.0.7"), completion(13, "10.0.0.7"));
        says(8, completion(12, "10.0.0.7"));
        says(3, completion(12, "10.0.0.7"));

        assertThat(accused())
                .containsExactly(new Accused(
                        "node-7",
                        null,
                        3,
                        3,
                        "3 of 16 ranks name node-7 (10.0.0.7) as the peer that does not answer: NCCL completion error 12"
                                + " (no answer after all retries)"));
        assertThat(accused().get(0).means(7, "node-7")).isTrue();
        assertThat(accused().get(0).means(6, "node-6")).isFalse();
    }

    @Test
    void fivePointsAreTheMost() {
        for (int rank = 0; rank < 6; rank++) {
            says(rank, completion(12, "10.0.0.7"));
        }

        assertThat(accused()).singleElement().satisfies(each -> {
            assertThat(each.accusers()).isEqualTo(6);
            assertThat(each.points()).isEqualTo(5);
        });
    }

    @Test
    void nobodyWhoSaysNothingIsHeard() {
        assertThat(accused()).isEmpty();
    }

    @Test
    void wordsOlderThanTheStandstillAndItsMarginDoNotCount() {
        says(
                6,
                completion(12, "10.0.0.7").toBuilder()
                        .setAgeMs(STILL_MS + 15_000)
                        .build());
        assertThat(accused()).hasSize(1);

        says(
                6,
                completion(12, "10.0.0.7").toBuilder()
                        .setAgeMs(STILL_MS + 15_001)
                        .build());
        assertThat(accused()).isEmpty();
    }

    @Test
    void theTimeSinceTheReportCameAddsToTheAge() {
        Accusation word =
                completion(12, "10.0.0.7").toBuilder().setAgeMs(STILL_MS).build();
        ranks.set(6, new Witness(6, "node-6", List.of(word), 15_001));

        assertThat(accused()).isEmpty();
    }

    @Test
    void aLocalErrorWeighsAgainstTheOneThatSaysItAndNotAgainstThePeer() {
        says(6, completion(4, "10.0.0.7"));

        assertThat(accused())
                .containsExactly(new Accused(
                        "node-6",
                        6,
                        1,
                        5,
                        "rank 6 on node-6 reports of itself: NCCL completion error 4 (local protection error)"));
    }

    @Test
    void aFailedDeviceWeighsAgainstItsOwnRankAndAChangedGidTableAgainstNobody() {
        Accusation failed = Accusation.newBuilder()
                .setKind(NcclKind.NCCL_KIND_ASYNC_EVENT)
                .setCode(8)
                .build();
        says(2, failed);
        says(3, failed.toBuilder().setCode(18).build());

        assertThat(accused()).singleElement().satisfies(each -> {
            assertThat(each.rank()).isEqualTo(2);
            assertThat(each.points()).isEqualTo(5);
            assertThat(each.sentence()).contains("async event 8 (its RDMA device failed)");
        });
    }

    @Test
    void whatMoreThanHalfOfTheRanksSayOfThemselvesIsACommonCause() {
        for (int rank = 0; rank < 8; rank++) {
            says(rank, completion(4, ""));
        }
        assertThat(accused()).hasSize(8);

        says(8, completion(4, ""));
        assertThat(accused()).isEmpty();
    }

    @Test
    void aRankThatTheDesyncReportNamesGetsFivePoints() {
        says(0, desync(7));
        says(1, desync(7));

        assertThat(accused())
                .containsExactly(new Accused(
                        "node-7",
                        7,
                        2,
                        5,
                        "PyTorch's desync report of 2 ranks names rank 7 on node-7 as the one that is behind"));
    }

    @Test
    void aDesyncReportThatNamesMoreThanHalfOfTheRanksNamesNobody() {
        for (Witness each : List.copyOf(ranks)) {
            says(each.rank(), desync(0, 1, 2, 3, 4, 5, 6, 7));
        }
        assertThat(accused()).hasSize(8);

        says(0, desync(8));
        assertThat(accused()).isEmpty();
    }

    @Test
    void aFlushAndAPeerOutsideTheJobAndOneselfWeighAgainstNobody() {
        address("node-99", "10.0.0.99");
        says(6, completion(5, "10.0.0.7"), completion(12, "10.0.0.99"), completion(12, "10.0.0.6"));
        says(7, completion(12, "192.168.1.1"));

        assertThat(accused()).isEmpty();
    }

    @Test
    void theOneThatMoreNameComesFirst() {
        says(7, completion(12, "10.0.0.6"), completion(12, "10.0.0.8"));
        says(6, completion(12, "10.0.0.7"));
        says(8, completion(12, "10.0.0.7"));

        assertThat(accused()).extracting(Accused::node).containsExactly("node-7", "node-6", "node-8");
    }

    @Test
    void aHostNameMeansTheNodeOfThatNameWithOrWithoutItsDomain() {
        assertThat(book.node("node-7")).isEqualTo("node-7");
        assertThat(book.node("NODE-7.cluster.example")).isEqualTo("node-7");
        assertThat(book.node("other")).isNull();
    }

    @Test
    void anIpv6AddressIsTheSameInEachSpelling() {
        address("node-7", "2001:db8:0:0:0:0:0:7");

        assertThat(book.node("2001:db8::7")).isEqualTo("node-7");
        assertThat(book.node("2001:DB8::7")).isEqualTo("node-7");
        assertThat(book.node("not:an:address")).isNull();
    }

    @Test
    void anAddressThatSeveralNodesHaveMeansNobodyUntilOneIsGone() {
        address("node-1", "10.0.0.1", "172.17.0.1");
        address("node-2", "10.0.0.2", "172.17.0.1");
        assertThat(book.node("172.17.0.1")).isNull();

        book.forget("node-2");
        assertThat(book.node("172.17.0.1")).isEqualTo("node-1");
    }

    @Test
    void anAddressThatMovedMeansTheNodeThatHasItNow() {
        address("node-1", "10.0.1.1");
        address("node-2", "10.0.0.1", "10.0.0.2");

        assertThat(book.node("10.0.0.1")).isEqualTo("node-2");
    }
}

package dev.unhang.healer.detect.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.Accusation;
import dev.unhang.events.v1.NcclKind;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.Suspect;
import java.util.List;
import org.junit.jupiter.api.Test;

class SuspectsTest {

    private final Crew crew = new Crew(16).still(20);
    private final AddressBook addresses = new AddressBook();
    private final Offenders past = new Offenders();

    private List<Suspect> suspects() {
        RollCall roll = crew.roll();
        Hearsay hearsay = new Hearsay(crew.views(), addresses, List.of(past), crew.nowMs);
        return new Suspects(roll, HardSign.of(roll, 20_000, 0, false), hearsay, 20_000).list();
    }

    private void only(int rank, double points, String confidence, String... why) {
        assertThat(suspects()).singleElement().satisfies(suspect -> {
            assertThat(suspect.getRank()).isEqualTo(rank);
            assertThat(suspect.getNode()).isEqualTo("n" + rank);
            assertThat(suspect.getScore()).isEqualTo(points);
            assertThat(suspect.getConfidence()).isEqualTo(confidence);
            assertThat(suspect.getEvidenceList()).containsExactly(why);
        });
    }

    @Test
    void wherePeersAreAlikeThereIsNoSuspect() {
        assertThat(suspects()).isEmpty();
    }

    @Test
    void aHardSignIsEnough() {
        crew.gone(21, 3);

        only(3, 6, "high", "the process of rank 3 on n3 is gone for 21 s");
    }

    @Test
    void anIdleGpuWhileTheOthersWait() {
        crew.idle(3);

        only(3, 4, "medium", "the GPU of rank 3 is idle while 15 of 16 ranks wait in a collective");
    }

    @Test
    void whereNobodyHasAGpuWhoExchangesNothing() {
        Crew others = new Crew(4).withoutGpus().spin(0, 1, 2).idle(3);
        RollCall roll = others.roll();

        assertThat(new Suspects(roll, List.of(), others.nothingSaid(), 20_000).list())
                .singleElement()
                .satisfies(suspect -> assertThat(suspect.getEvidenceList())
                        .containsExactly("rank 3 exchanges nothing while 3 of 4 ranks wait in a collective"));
    }

    @Test
    void anEighthMayIdleForFourPointsAndMoreForTwo() {
        crew.idle(3, 4);
        assertThat(suspects()).extracting(Suspect::getScore).containsExactly(4.0, 4.0);
        crew.idle(5);
        assertThat(suspects()).extracting(Suspect::getScore).containsExactly(2.0, 2.0, 2.0);
        crew.idle(6, 7, 8, 9, 10, 11);
        assertThat(suspects()).as("more idle than wait").isEmpty();
    }

    @Test
    void aGpuThatWorksWhileTheOthersWait() {
        crew.work(3);
        crew.rank(3).setStillMs(0);
        only(3, 3, "low", "the GPU of rank 3 works while the others wait");
        crew.work(4, 5);
        assertThat(suspects()).isEmpty();
    }

    @Test
    void whoUsesLessCpuThanThoseThatWait() {
        crew.each(rank -> rank.setCpuMillicores(1000));
        crew.idle(3);
        crew.rank(3).setCpuMillicores(240);
        assertThat(suspects().get(0).getScore()).isEqualTo(6);
        assertThat(suspects().get(0).getEvidenceList()).contains("rank 3 uses 24 % of a core, those that wait 100 %");
        crew.rank(3).setCpuMillicores(250);
        assertThat(suspects().get(0).getScore()).isEqualTo(5);
        crew.rank(3).setCpuMillicores(700);
        assertThat(suspects().get(0).getScore()).isEqualTo(4);
    }

    @Test
    void whereThoseThatWaitUseNoCpuItTellsNothing() {
        crew.each(rank -> rank.setCpuMillicores(199));
        crew.idle(3);
        crew.rank(3).setCpuMillicores(0);

        assertThat(suspects().get(0).getScore()).isEqualTo(4);
    }

    @Test
    void whoIsBehindByAStep() {
        crew.rank(3).setStep(99);
        only(3, 2, "low", "rank 3 is at step 99, others at 100");
        for (int rank = 4; rank < 7; rank++) {
            crew.rank(rank).setStep(99);
        }
        assertThat(suspects()).hasSize(3);
        crew.rank(7).setStep(99);
        assertThat(suspects()).as("more than a quarter").isEmpty();
    }

    @Test
    void uninterruptibleSleep() {
        crew.rank(3).setState('D');

        only(3, 2, "low", "rank 3 is in uninterruptible sleep (D)");
    }

    @Test
    void anXidThatIsNotFatalWithinTwoMinutes() {
        crew.rank(3).setLastXid(31).setLastXidAgeMs(120_000);
        only(3, 3, "low", "Xid 31 on a GPU of rank 3");
        crew.rank(3).setLastXidAgeMs(120_001);
        assertThat(suspects()).isEmpty();
    }

    @Test
    void whoStoppedClearlyFirst() {
        crew.rank(3).setStillMs(22_499);
        assertThat(suspects()).isEmpty();
        crew.rank(3).setStillMs(22_500);
        only(3, 1, "low", "rank 3 stopped 2 s before any other");
    }

    @Test
    void whomTheLogsOfItsPeersName() {
        addresses.onReport(NodeReport.newBuilder().setNode("n3").build());
        for (int rank : new int[] {5, 6}) {
            crew.rank(rank)
                    .addAccusations(Accusation.newBuilder()
                            .setKind(NcclKind.NCCL_KIND_COMPLETION)
                            .setCode(12)
                            .setPeer("n3"));
        }

        only(
                3,
                2,
                "low",
                "2 of 16 ranks name n3 as the peer that does not answer: NCCL completion error 12 (no answer after all"
                        + " retries)");
    }

    @Test
    void whoWasNamedBeforeThisStandstill() {
        past.named("n3", crew.nowMs - 100_000, crew.nowMs - 90_000);
        only(3, 1, "low", "node n3 was named 1 time in the last seven days");
        past.over();
        past.named("n3", crew.nowMs - 20_000, crew.nowMs);
        only(3, 1, "low", "node n3 was named 1 time in the last seven days");
    }

    @Test
    void whatMayFollowFromTheDeathOfAnotherRankCountsHalf() {
        crew.idle(3).gone(21, 9);

        assertThat(suspects()).extracting(Suspect::getRank).containsExactly(9, 3);
        assertThat(suspects()).extracting(Suspect::getScore).containsExactly(6.0, 2.0);
    }

    @Test
    void ofProcessesThatEndedTheFirst() {
        crew.gone(20, 3, 9);
        crew.rank(9).setGoneMs(21_499);
        assertThat(suspects()).extracting(Suspect::getScore).containsExactly(6.0, 6.0);
        crew.rank(9).setGoneMs(21_500);
        assertThat(suspects()).extracting(Suspect::getScore).containsExactly(7.0, 6.0);
        assertThat(suspects().get(0).getEvidenceList()).contains("rank 9 ended 1 s before any other");
    }

    @Test
    void pointsAddUpAndTheBestAreNamedFirst() {
        crew.idle(3).stopped(22, 9);
        crew.rank(3).setState('D');

        assertThat(suspects()).extracting(Suspect::getRank).containsExactly(9, 3);
        assertThat(suspects()).extracting(Suspect::getScore).containsExactly(10.0, 4.0);
        assertThat(suspects()).extracting(Suspect::getConfidence).containsExactly("high", "medium");
    }
}

package dev.unhang.healer.detect.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.ActivityClass;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.GpuReport;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.JobProfile;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.ProbeResult;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.Watch;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A job of four ranks, one a node, as the nodes report it. */
class JobsTest {

    private static final JobIdentity MASTER =
            JobIdentity.newBuilder().setMaster("10.0.0.1:29500").build();
    private static final JobIdentity NAMED =
            MASTER.toBuilder().setHeartbeat("llm").build();

    private final Jobs jobs = new Jobs();
    private final List<Finding> said = new ArrayList<>();
    private final Crew crew = new Crew(4);
    private JobIdentity identity = NAMED;

    @BeforeEach
    void watched() {
        say();
        said.clear();
    }

    private NodeReport report(int rank, String node) {
        return crew.node(rank)
                .clone()
                .setNode(node)
                .clearRanks()
                .addGpus(GpuReport.getDefaultInstance())
                .addRanks(crew.rank(rank).clone().setJob(identity))
                .build();
    }

    private void hear(NodeReport report) {
        jobs.onReport(report, crew.nowMs, 0, said);
    }

    private void say() {
        for (int rank = 0; rank < 4; rank++) {
            hear(report(rank, "n" + rank));
        }
    }

    private void seconds(int count) {
        for (int i = 0; i < count; i++) {
            crew.second();
            say();
            jobs.look(crew.nowMs, 0, said);
        }
    }

    private void quietSeconds(int count) {
        for (int i = 0; i < count; i++) {
            crew.nowMs += 1000;
            jobs.look(crew.nowMs, 0, said);
        }
    }

    private void hang() {
        crew.still(0);
        seconds(10);
    }

    private List<String> subjects(Standing standing) {
        return said.stream()
                .filter(finding -> finding.getStanding() == standing)
                .map(Finding::getSubject)
                .toList();
    }

    @Test
    void aHangIsSuspectedUnderTheFirstNameThatIsPresent() {
        hang();

        assertThat(subjects(Standing.SUSPECTED)).containsExactly("job:llm@0");
    }

    @Test
    void aJobNamedByItsMasterIsRenamedByAHeartbeatBeforeItIsArmed() {
        identity = JobIdentity.newBuilder().setMaster("10.0.0.2:29500").build();
        crew.each(rank -> rank.setArmed(false));
        seconds(3);
        identity = identity.toBuilder().setHeartbeat("other").build();
        seconds(3);
        crew.each(rank -> rank.setArmed(true));
        seconds(3);
        hang();

        assertThat(subjects(Standing.SUSPECTED)).containsExactly("job:other@0");
    }

    @Test
    void onceArmedItKeepsItsName() {
        identity = JobIdentity.newBuilder().setMaster("10.0.0.2:29500").build();
        seconds(3);
        identity = identity.toBuilder().setHeartbeat("other").build();
        seconds(3);
        hang();

        assertThat(subjects(Standing.SUSPECTED)).containsExactly("job:10.0.0.2:29500@0");
    }

    @Test
    void twoThatTurnOutToBeOneJobMerge() {
        JobIdentity one = JobIdentity.newBuilder().setMaster("10.0.0.2:1").build();
        JobIdentity two = JobIdentity.newBuilder().setSlurm("7.0").build();
        for (int rank = 0; rank < 4; rank++) {
            identity = rank < 2 ? one : two;
            hear(report(rank, "n" + rank));
        }
        identity =
                JobIdentity.newBuilder().setMaster("10.0.0.2:1").setSlurm("7.0").build();
        seconds(3);
        hang();

        assertThat(subjects(Standing.SUSPECTED)).containsExactly("job:7.0@0");
        assertThat(said.get(said.size() - 1).getNodesList()).containsExactly("n0", "n1", "n2", "n3");
    }

    @Test
    void aNewEpochClosesWhatWasSaidForGood() {
        identity = NAMED.toBuilder().setEpochKnown(true).build();
        seconds(3);
        hang();
        identity = identity.toBuilder().setEpoch(1).build();
        crew.work(0, 1, 2, 3);
        seconds(1);

        assertThat(said).element(1).satisfies(finding -> {
            assertThat(finding.getStanding()).isEqualTo(Standing.WELL);
            assertThat(finding.getOver()).isTrue();
            assertThat(finding.getEvidenceList()).containsExactly("the job runs at a new epoch, 1");
        });
        assertThat(jobs.standing(crew.nowMs)).isEmpty();
    }

    @Test
    void whatAnOlderEpochSaysLateIsNoEvidence() {
        identity = NAMED.toBuilder().setEpochKnown(true).setEpoch(2).build();
        seconds(3);
        JobIdentity now = identity;
        crew.gone(30, 2);
        identity = now.toBuilder().setEpoch(1).build();
        NodeReport late = report(2, "n2");
        identity = now;
        crew.work(2);
        crew.rank(2).setGoneMs(0);
        for (int i = 0; i < 40; i++) {
            seconds(1);
            hear(late);
        }

        assertThat(said).isEmpty();
    }

    @Test
    void aReplacedProcessBeginsANewEpochAndOnlyOne() {
        seconds(3);
        crew.each(rank -> rank.setStartTicks(10));
        seconds(3);
        hang();

        assertThat(subjects(Standing.SUSPECTED)).containsExactly("job:llm@1");
    }

    @Test
    void whoIsGoneOnOneNodeAndRunsOnAnotherIsNotGone() {
        seconds(3);
        crew.gone(2, 3);
        NodeReport old = report(3, "n3");
        crew.work(3);
        crew.rank(3).setGoneMs(0).setStartTicks(77);
        for (int i = 0; i < 60; i++) {
            crew.second();
            for (int rank = 0; rank < 3; rank++) {
                hear(report(rank, "n" + rank));
            }
            hear(old);
            hear(report(3, "n9"));
            jobs.look(crew.nowMs, 0, said);
            hear(old);
            jobs.look(crew.nowMs, 0, said);
        }
        assertThat(said).isEmpty();
        crew.still(0);
        for (int i = 0; i < 10; i++) {
            crew.second();
            for (int rank = 0; rank < 3; rank++) {
                hear(report(rank, "n" + rank));
            }
            hear(report(3, "n9"));
            hear(old);
            jobs.look(crew.nowMs, 0, said);
        }
        assertThat(said).singleElement().satisfies(finding -> {
            assertThat(finding.getSubject()).isEqualTo("job:llm@1");
            assertThat(finding.getNodesList()).containsExactly("n0", "n1", "n2", "n9");
        });
    }

    @Test
    void anotherRunOfTheSameNameDoesNotBeginAnEpochAtEachReport() {
        seconds(3);
        for (int i = 0; i < 10; i++) {
            seconds(1);
            int before = crew.rank(1).getPid();
            crew.rank(1).setPid(4711);
            hear(report(1, "n7"));
            crew.rank(1).setPid(before);
        }
        hang();

        assertThat(subjects(Standing.SUSPECTED)).containsExactly("job:llm@0");
    }

    @Test
    void reportsThatComeTwiceChangeNothing() {
        for (int i = 0; i < 30; i++) {
            seconds(1);
            say();
        }
        assertThat(said).isEmpty();
        crew.still(0);
        for (int i = 0; i < 10; i++) {
            seconds(1);
            say();
        }
        assertThat(subjects(Standing.SUSPECTED)).containsExactly("job:llm@0");
    }

    @Test
    void workersThatTorchelasticStartsAnewWithoutCountingAreWatchedAgain() {
        identity = NAMED.toBuilder().setEpochKnown(true).setEpoch(1).build();
        seconds(3);
        crew.gone(3, 0, 1, 2, 3);
        seconds(3);
        crew.work(0, 1, 2, 3).each(rank -> rank.setGoneMs(0).setStartTicks(20));
        seconds(5);
        hang();

        assertThat(subjects(Standing.SUSPECTED)).contains("job:llm@1");
    }

    @Test
    void ranksThatAreNotSeenButTrainAreNoLongerAwaited() {
        identity = JobIdentity.newBuilder().setHeartbeat("five").setWorld(5).build();
        crew.idle(0, 1, 2, 3).each(rank -> rank.setArmed(false).clearStep().clearProgressAgeMs());
        seconds(200);
        assertThat(subjects(Standing.SUSPECTED)).isNotEmpty();
        assertThat(said.get(0).getKind()).isEqualTo(IncidentKind.RANK_MISSING);
        crew.work(0, 1, 2, 3).each(rank -> rank.setArmed(true).setStep(1).setProgressAgeMs(100));
        seconds(3);

        assertThat(jobs.standing(crew.nowMs)).isEmpty();
    }

    @Test
    void ofAJobOnNodesThatAreSilentForGoodNothingStandsForEver() {
        seconds(3);
        crew.still(0);
        seconds(20);
        assertThat(jobs.standing(crew.nowMs)).hasSize(1);
        crew.silent(12, 0, 1, 2, 3);
        seconds(599);
        assertThat(jobs.standing(crew.nowMs)).hasSize(1);
        seconds(10);

        assertThat(jobs.standing(crew.nowMs)).isEmpty();
    }

    @Test
    void aJobThatIsForgottenIsKnownWhenItComesBack() {
        seconds(3);
        crew.idle(0).rank(0).setStillMs(0);
        crew.spin(1, 2, 3).each(rank -> rank.setStillMs(0));
        seconds(30);
        crew.work(0, 1, 2, 3);
        seconds(3);
        assertThat(jobs.learned(crew.nowMs)).containsOnlyKeys("llm");
        assertThat(jobs.learned(crew.nowMs)).isEmpty();
        quietSeconds(700);
        said.clear();
        crew.each(rank -> rank.setStartTicks(50));
        seconds(3);
        crew.idle(0).spin(1, 2, 3).each(rank -> rank.setStillMs(0));
        seconds(30);

        assertThat(said).as("as long a pause as before").isEmpty();
    }

    @Test
    void whatWasLearnedOfAJobIsForgottenAfterAWeek() {
        jobs.restore("gone", JobProfile.newBuilder().setHeardLogMs(5).build());
        long week = 7L * 24 * 3600 * 1000;

        assertThat(jobs.learned(5 + week)).isEmpty();
        assertThat(jobs.learned(6 + week)).containsEntry("gone", null);
        assertThat(jobs.learned(7 + week)).isEmpty();
    }

    @Test
    void allRanksGoneIsTheEndOfTheJobAndNoFault() {
        seconds(3);
        crew.gone(0, 0, 1, 2, 3).each(rank -> rank.setGoneMs(1).setActivity(ActivityClass.ACTIVITY_CLASS_GONE));
        seconds(60);

        assertThat(said).isEmpty();
    }

    @Test
    void aNodeThatAPersonForgetsIsNoPlaceForAnAbsentRank() {
        crew.each(rank -> rank.setArmed(false));
        identity = JobIdentity.newBuilder().setHeartbeat("young").setWorld(5).build();
        hear(NodeReport.newBuilder()
                .setNode("spare")
                .setWatch(Watch.WATCH_WATCHED)
                .addGpus(GpuReport.getDefaultInstance())
                .build());
        seconds(185);
        assertThat(said).last().satisfies(finding -> {
            assertThat(finding.getKind()).isEqualTo(IncidentKind.RANK_MISSING);
            assertThat(finding.getSuspects(0).getNode()).isEqualTo("spare");
        });

        jobs.forget("spare");
        seconds(1);
        assertThat(said)
                .last()
                .satisfies(
                        finding -> assertThat(finding.getSuspects(0).getNode()).isEmpty());
    }

    @Test
    void aNodeThatSaidGoodbyeIsNoEvidence() {
        seconds(3);
        for (int node = 0; node < 4; node++) {
            crew.node(node).setWatch(Watch.WATCH_UNWATCHED);
        }
        crew.still(0);
        seconds(60);

        assertThat(said).isEmpty();
    }

    private void look(int rank, String calls) {
        jobs.onProbe(
                ProbeResult.newBuilder()
                        .setNode("n" + rank)
                        .setPid(crew.rank(rank).getPid())
                        .setStartTicks(crew.rank(rank).getStartTicks())
                        .putFindings("state", "S")
                        .putFindings("threads", "2 S futex_wait_queue")
                        .putFindings("calls", calls)
                        .build(),
                crew.nowMs);
    }

    /** Rank 0 idles and the others wait for it. */
    private void pauses() {
        crew.still(0).idle(0);
    }

    @Test
    void aRankThatALookFindsStoringIsInACheckpointAsLongAsLooksGoOn() {
        pauses();
        seconds(12);
        assertThat(subjects(Standing.SUSPECTED)).isNotEmpty();
        said.clear();
        for (int i = 0; i < 10; i++) {
            look(0, "1 fsync of a file");
            seconds(30);
        }
        assertThat(said).hasSize(1);
        assertThat(said.get(0).getStanding()).isEqualTo(Standing.WELL);
        assertThat(said.get(0).getEvidenceList()).anyMatch(each -> each.contains("a look at rank 0: "));
    }

    @Test
    void aStorageCallThatMovesNothingDoesNotExplainButDelays() {
        pauses();
        crew.rank(0).setWriteBps(0).setReadBps(0);
        for (int i = 0; i < 20; i++) {
            look(0, "1 write of a file");
            seconds(29);
        }
        assertThat(subjects(Standing.CONFIRMED)).isEmpty();
        look(0, "1 write of a file");
        seconds(44);
        assertThat(subjects(Standing.CONFIRMED)).isNotEmpty();
    }

    @Test
    void aRankThatALookFindsWaitingIsConfirmedAsIfItsReadsAndWritesWereKnown() {
        pauses();
        crew.each(rank -> rank.clearWriteBps().clearReadBps());
        for (int i = 0; i < 6; i++) {
            look(0, "2 futex");
            seconds(29);
        }
        assertThat(subjects(Standing.CONFIRMED)).containsExactly("job:llm@0");
        assertThat(said.get(said.size() - 1).getEvidenceList())
                .anyMatch(each -> each.contains("none of them for storage"));
    }

    @Test
    void withoutALookTheSamePauseIsNotConfirmedForTenMinutes() {
        pauses();
        crew.each(rank -> rank.clearWriteBps().clearReadBps());
        seconds(590);
        assertThat(subjects(Standing.CONFIRMED)).isEmpty();
    }

    @Test
    void aLookAtAnotherProcessWithTheSameNumberTellsNothing() {
        pauses();
        seconds(12);
        said.clear();
        crew.rank(0).setStartTicks(10);
        look(0, "1 fsync of a file");
        crew.rank(0).setStartTicks(9);
        seconds(5);
        assertThat(subjects(Standing.WELL)).isEmpty();
    }
}

package dev.unhang.healer.detect.job;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.Phase;
import dev.unhang.events.v1.RankProcess;
import dev.unhang.events.v1.SchedulerFact;
import dev.unhang.events.v1.Standing;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the decider sees of a job of four ranks, two a node: before it decides, and after it repaired. */
class JobSightTest {

    private static final ByteString BOOT = ByteString.copyFrom("boot", StandardCharsets.UTF_8);

    private final Jobs jobs = new Jobs();
    private final List<Finding> said = new ArrayList<>();
    private final Crew crew = new Crew(4, 2);
    private final JobIdentity.Builder identity = JobIdentity.newBuilder()
            .setHeartbeat("llm")
            .setSlurm("4711.0")
            .setTorchelastic("run")
            .setWorld(4);

    private void say(int... ranks) {
        for (int node = 0; node < 2; node++) {
            NodeReport.Builder report = crew.node(node).clone().clearRanks().setBootId(BOOT);
            for (int rank : ranks) {
                if (rank / 2 == node) {
                    report.addRanks(crew.rank(rank));
                }
            }
            jobs.onReport(report.build(), crew.nowMs, 0, said);
        }
    }

    private void begin() {
        crew.each(rank -> rank.setJob(identity));
        say(0, 1, 2, 3);
    }

    private void step() {
        crew.second().each(rank -> rank.setStep(rank.getStep() + 1));
        say(0, 1, 2, 3);
    }

    private void seconds(int count) {
        for (int i = 0; i < count; i++) {
            crew.second();
            say(0, 1, 2, 3);
            jobs.look(crew.nowMs, 0, said);
        }
    }

    private JobSight sight() {
        return jobs.sight("llm").orElseThrow();
    }

    private void fact(String job, String state) {
        jobs.onFact(
                SchedulerFact.newBuilder()
                        .setScheduler("slurm")
                        .setJob(job)
                        .setJobState(state)
                        .build(),
                0,
                said);
    }

    @Test
    void aJobIsSeenWithItsNodesSizeAndLauncher() {
        begin();

        assertThat(sight().nodes()).containsExactly("n0", "n1");
        assertThat(sight().world()).isEqualTo(4);
        assertThat(sight().ranks()).isEqualTo(4);
        assertThat(sight().identity().getTorchelastic()).isEqualTo("run");
        assertThat(sight().mode()).isEmpty();
        assertThat(jobs.on("n1")).containsExactly("llm");
        assertThat(jobs.on("n2")).isEmpty();
        assertThat(jobs.sight("other")).isEmpty();
    }

    @Test
    void itTrainsOnceTheStepOfEachRankHasMoved() {
        begin();
        assertThat(sight().trains()).isFalse();

        crew.second().rank(0).setStep(101);
        say(0, 1, 2, 3);
        assertThat(sight().trains()).isFalse();
        assertThat(sight().sinceMs()).isEqualTo(-1);

        step();
        assertThat(sight().trains()).isTrue();
        assertThat(sight().sinceMs()).isEqualTo(crew.nowMs);
        long since = crew.nowMs;
        step();
        assertThat(sight().sinceMs()).isEqualTo(since);
    }

    @Test
    void aRankThatHasNotComeOrIsGoneLeavesItUntrained() {
        crew.each(rank -> rank.setJob(identity));
        say(0, 1, 2);
        crew.second().each(rank -> rank.setStep(101));
        say(0, 1, 2);
        assertThat(sight().trains()).isFalse();

        say(0, 1, 2, 3);
        step();
        assertThat(sight().trains()).isTrue();

        crew.gone(1, 2);
        say(0, 1, 2, 3);
        assertThat(sight().trains()).isFalse();
        assertThat(jobs.on("n1")).containsExactly("llm");
    }

    @Test
    void withoutHeartbeatsItTrainsOnceAllAreArmedAndAtWork() {
        identity.clearHeartbeat();
        crew.withoutHeartbeats().each(rank -> rank.setArmed(false));
        begin();
        assertThat(jobs.sight("4711.0").orElseThrow().trains()).isFalse();

        crew.each(rank -> rank.setArmed(true)).spin(3);
        say(0, 1, 2, 3);
        assertThat(jobs.sight("4711.0").orElseThrow().trains()).isFalse();

        crew.work(3);
        say(0, 1, 2, 3);
        assertThat(jobs.sight("4711.0").orElseThrow().trains()).isTrue();
    }

    @Test
    void whileItCompilesItDoesNotTrain() {
        crew.each(rank -> rank.clearStep().setPhase(Phase.PHASE_COMPILE));
        begin();

        assertThat(sight().trains()).isFalse();
    }

    @Test
    void processesThatWereReplacedMustTrainAnew() {
        begin();
        step();
        assertThat(sight().trains()).isTrue();

        crew.each(rank -> rank.setStartTicks(10).setStep(7));
        say(0, 1, 2, 3);
        assertThat(sight().epoch()).isEqualTo(1);
        assertThat(sight().trains()).isFalse();
        step();
        assertThat(sight().trains()).isTrue();
    }

    @Test
    void theStrictestModeOfAnyRankCounts() {
        begin();
        crew.rank(2).setJob(identity.clone().setMode("observe"));
        say(0, 1, 2, 3);
        assertThat(sight().mode()).isEqualTo("observe");

        crew.rank(3).setJob(identity.clone().setMode("off"));
        say(0, 1, 2, 3);
        assertThat(sight().mode()).isEqualTo("off");
    }

    @Test
    void aFindingNamesTheLauncherAndTheSuspectsProcess() {
        begin();
        crew.still(0).stopped(0, 2);
        seconds(10);

        assertThat(said).isNotEmpty().first().satisfies(finding -> {
            assertThat(finding.getIdentity().getSlurm()).isEqualTo("4711.0");
            assertThat(finding.getProcessesList())
                    .containsExactly(RankProcess.newBuilder()
                            .setNode("n1")
                            .setBootId(BOOT)
                            .setPid(102)
                            .setStartTicks(9)
                            .setRank(2)
                            .build());
        });
    }

    @Test
    void whereNobodyIsSuspectedItNamesTheLowestRankThatIsThere() {
        begin();
        crew.still(0).gone(3, 0);
        crew.rank(0).setPhase(Phase.PHASE_END);
        seconds(70);

        assertThat(said).isNotEmpty().last().satisfies(finding -> {
            assertThat(finding.getProcessesList())
                    .extracting(RankProcess::getRank)
                    .containsExactly(1);
        });
    }

    @Test
    void aProcessThatIsGoneIsNamedToNobody() {
        begin();
        crew.still(0).gone(0, 3);
        seconds(25);

        assertThat(said).last().satisfies(finding -> {
            assertThat(finding.getKind()).isEqualTo(IncidentKind.RANK_MISSING);
            assertThat(finding.getStanding()).isEqualTo(Standing.CONFIRMED);
            assertThat(finding.getSuspects(0).getRank()).isEqualTo(3);
            assertThat(finding.getProcessesList())
                    .extracting(RankProcess::getRank)
                    .doesNotContain(3);
        });
    }

    @Test
    void aJobThatTheSchedulerHasEndedIsOverAndItsDyingProcessesBeginNothing() {
        begin();
        crew.still(0).gone(0, 3);
        seconds(25);
        said.clear();

        fact("4711", "COMPLETING");
        assertThat(said).singleElement().satisfies(finding -> {
            assertThat(finding.getStanding()).isEqualTo(Standing.WELL);
            assertThat(finding.getOver()).isTrue();
            assertThat(finding.getEvidence(0)).isEqualTo("slurm says of its job 4711: COMPLETING, so it has ended");
        });
        said.clear();
        seconds(200);

        assertThat(said).isEmpty();
        assertThat(jobs.sight("llm")).isEmpty();
        assertThat(jobs.on("n0")).isEmpty();
    }

    @Test
    void aRequeuedJobIsMissingNoRankUntilItRunsAgainAsANewEpoch() {
        begin();
        fact("4711", "PENDING");
        seconds(700);
        assertThat(said).isEmpty();

        fact("4711", "RUNNING");
        crew.each(rank -> rank.setStartTicks(20).setStep(0));
        say(0, 1, 2, 3);
        assertThat(sight().epoch()).isEqualTo(1);
        step();
        assertThat(sight().trains()).isTrue();
    }

    @Test
    void otherAllocationsAreNotTouched() {
        begin();
        fact("471", "DONE");
        fact("4711.0", "DONE");
        fact("4711", "UNKNOWN");
        fact("", "DONE");

        assertThat(jobs.sight("llm")).isPresent();
    }

    @Test
    void theEndOfAnEarlierAllocationEndsNothingOfTheOneThatRuns() {
        begin();
        crew.each(rank -> rank.setJob(identity.setSlurm("4712.0")).setStartTicks(30));
        say(0, 1, 2, 3);
        fact("4711", "CANCELLED by 1000");

        assertThat(sight().epoch()).isEqualTo(1);
        fact("4712", "CANCELLED by 1000");
        assertThat(jobs.sight("llm")).isEmpty();
    }
}

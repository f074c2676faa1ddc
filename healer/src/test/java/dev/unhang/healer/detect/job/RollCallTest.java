package dev.unhang.healer.detect.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.RankReport;
import dev.unhang.events.v1.Watch;
import dev.unhang.healer.detect.job.Picture.Kind;
import dev.unhang.healer.detect.job.RankView.Doing;
import java.util.List;
import org.junit.jupiter.api.Test;

class RollCallTest {

    private static Crew blocked(int size) {
        Crew crew = new Crew(size).withoutGpus().idle(all(size));
        return crew.each(rank -> rank.setState('S').setCpuMillicores(1));
    }

    private static int[] all(int size) {
        int[] all = new int[size];
        for (int i = 0; i < size; i++) {
            all[i] = i;
        }
        return all;
    }

    private static Doing doing(RollCall roll, int rank) {
        assertThat(roll.rank(rank).rank).isEqualTo(rank);
        return roll.doing(rank);
    }

    @Test
    void theLastWordOfADeadRankIsNoProgressOfTheJob() {
        Crew crew = new Crew(4);
        crew.each(RankReport.Builder::clearProgressAgeMs);
        crew.rank(0).setProgressAgeMs(100);
        assertThat(crew.roll().beats).isTrue();

        crew.gone(5, 0);
        assertThat(crew.roll().beats).isFalse();
    }

    @Test
    void whereNobodyHasAGpuTheOneThatBurnsItsCpuIsWhomTheOthersWaitFor() {
        Crew crew = blocked(4);
        crew.rank(2).setCpuMillicores(100);

        assertThat(doing(crew.roll(), 2)).isEqualTo(Doing.IDLE);
        assertThat(crew.roll().count(Doing.SPIN)).isEqualTo(3);
    }

    @Test
    void aProcessThatIsRunnableIsBusyEvenWithoutACoreAndOneThatSleepsIsNot() {
        Crew crew = blocked(4);
        crew.rank(2).setState('R').setCpuMillicores(0);
        assertThat(crew.roll().picture).isEqualTo(new Picture(Kind.FEW_IDLE, List.of(2)));

        crew.rank(2).setState('S').setCpuMillicores(0);
        assertThat(crew.roll().picture.kind()).isEqualTo(Kind.ALL_IDLE);
    }

    @Test
    void aStoppedProcessIsWhomTheOthersWaitForUnlessADebuggerStoppedIt() {
        Crew crew = blocked(4);
        crew.rank(1).setState('T').setCpuMillicores(0);
        assertThat(doing(crew.roll(), 1)).isEqualTo(Doing.IDLE);
        assertThat(crew.roll().count(Doing.SPIN)).isEqualTo(3);

        crew.rank(1).setTracerPid(7);
        assertThat(crew.roll().picture.kind()).isEqualTo(Kind.ALL_IDLE);
    }

    @Test
    void allBlockedAreAllIdle() {
        assertThat(blocked(4).roll().picture.kind()).isEqualTo(Kind.ALL_IDLE);
    }

    @Test
    void asManyBusyAsBlockedOnesMayBeWhomTheyWaitForButNotMore() {
        Crew crew = blocked(4);
        crew.rank(0).setCpuMillicores(900);
        crew.rank(1).setCpuMillicores(900);
        assertThat(crew.roll().count(Doing.SPIN)).isEqualTo(2);

        crew.rank(2).setCpuMillicores(900);
        assertThat(crew.roll().count(Doing.SPIN)).isZero();
    }

    @Test
    void whatUsesMoreThanNothingIsNotBlocked() {
        Crew crew = blocked(3);
        crew.rank(0).setCpuMillicores(900);
        crew.rank(1).setCpuMillicores(30);
        crew.rank(2).setCpuMillicores(31);

        assertThat(doing(crew.roll(), 1)).isEqualTo(Doing.SPIN);
        assertThat(doing(crew.roll(), 2)).isEqualTo(Doing.IDLE);
    }

    @Test
    void ofAProcessWhoseCpuIsNotKnownNothingIsSaid() {
        Crew crew = blocked(2);
        crew.rank(0).setCpuMillicores(900);
        crew.rank(1).clearCpuMillicores();

        assertThat(doing(crew.roll(), 1)).isEqualTo(Doing.IDLE);
    }

    @Test
    void withGpusTheGpuTellsAndNotTheCpu() {
        Crew crew = new Crew(4).idle(0, 1, 2, 3);
        crew.each(rank -> rank.setState('S').setCpuMillicores(0));
        crew.rank(2).setCpuMillicores(900);

        assertThat(crew.roll().picture.kind()).isEqualTo(Kind.ALL_IDLE);
    }

    @Test
    void whenHalfOfTheNodesFallSilentTheTelemetryIsIllAndWhenAQuarterDoesItIsNot() {
        assertThat(new Crew(8).silent(12, 0, 1, 2, 3).roll().blind()).isTrue();
        assertThat(new Crew(8).silent(12, 0, 1, 2).roll().blind()).isFalse();
        assertThat(new Crew(8).silent(12, 0, 1).roll().blind()).isFalse();
    }

    @Test
    void oneNodeOfTwoMayDie() {
        assertThat(new Crew(2).silent(12, 0).roll().blind()).isFalse();
        assertThat(new Crew(16, 8).silent(12, 0).roll().blind()).isFalse();
        assertThat(new Crew(2).silent(12, 0, 1).roll().blind()).isTrue();
    }

    @Test
    void unknownIsNeverQuiet() {
        Crew crew = new Crew(4).unknown(0, 1, 2, 3);

        assertThat(crew.roll().known()).isZero();
        assertThat(crew.roll().blind()).isTrue();
        assertThat(crew.roll().picture.kind()).isEqualTo(Kind.NOTHING_KNOWN);
        assertThat(new Crew(4).unknown(0, 1).roll().count(Doing.IDLE)).isZero();
    }

    @Test
    void aReportThatIsTooOldTellsNothingOfNow() {
        Crew crew = new Crew(1).spin(0);
        RankView rank = crew.views().get(0);
        assertThat(rank.doing(crew.nowMs + 5_000)).isEqualTo(Doing.SPIN);
        assertThat(rank.doing(crew.nowMs + 5_001)).isEqualTo(Doing.UNKNOWN);

        crew.node(0).setWell(true);
        RankView well = crew.views().get(0);
        assertThat(well.doing(crew.nowMs + 15_000)).isEqualTo(Doing.WORK);
        assertThat(well.doing(crew.nowMs + 15_001)).isEqualTo(Doing.UNKNOWN);
    }

    @Test
    void aNodeWhoseCollectorSaidGoodbyeIsUnknown() {
        Crew crew = new Crew(2).spin(0, 1);
        crew.node(0).setWatch(Watch.WATCH_UNWATCHED);

        assertThat(doing(crew.roll(), 0)).isEqualTo(Doing.UNKNOWN);
    }

    @Test
    void aNodeThatIsSilentForGoodIsUnknownInTheEnd() {
        Crew crew = new Crew(1).silent(12, 0);
        RankView rank = crew.views().get(0);

        assertThat(rank.doing(crew.nowMs + 15_000)).isEqualTo(Doing.SILENT);
        assertThat(rank.doing(crew.nowMs + 15_001)).isEqualTo(Doing.UNKNOWN);
    }
}

package dev.unhang.healer.detect.job;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ExplanationTest {

    private static Crew still() {
        return new Crew(4).still(20);
    }

    @Test
    void nothingExplainsAHang() {
        assertThat(Explanation.of(still().roll())).isEmpty();
    }

    @Test
    void aRankThatMovesDataAsACheckpointDoes() {
        Crew crew = still().idle(2);
        crew.rank(2).setWriteBps(19_999_999);
        assertThat(Explanation.of(crew.roll())).isEmpty();
        crew.rank(2).setWriteBps(20_000_000);
        assertThat(Explanation.of(crew.roll())).isEqualTo("rank 2 reads or writes, as for a checkpoint");
        crew.rank(2).setWriteBps(0).setReadBps(20_000_000);
        assertThat(Explanation.of(crew.roll())).isNotEmpty();
    }

    @Test
    void whatARankMovesThatComputesExplainsNothing() {
        Crew crew = still().work(2);
        crew.rank(2).setReadBps(900_000_000);

        assertThat(Explanation.of(crew.roll())).isEmpty();
    }

    @Test
    void aDebugger() {
        Crew crew = still();
        crew.rank(1).setTracerPid(4711);

        assertThat(Explanation.of(crew.roll())).isEqualTo("rank 1 is traced by process 4711: somebody looks into it");
    }

    @Test
    void allRanksStoppedAreAnOperatorAndAllButOneAreNot() {
        assertThat(Explanation.of(still().stopped(20, 0, 1, 2).roll())).isEmpty();
        assertThat(Explanation.of(still().stopped(20, 0, 1, 2, 3).roll())).startsWith("all ranks are stopped");
        assertThat(Explanation.of(still().stopped(20, 0, 1, 2).gone(20, 3).roll()))
                .startsWith("all ranks are stopped");
    }

    @Test
    void aJobOfOneRankThatIsStoppedIsNotExplained() {
        assertThat(Explanation.of(new Crew(1).stopped(20, 0).roll())).isEmpty();
    }

    @Test
    void whatWasSaidByANodeThatIsSilentNowExplainsNothing() {
        Crew crew = still();
        crew.rank(1).setTracerPid(4711);

        assertThat(Explanation.of(crew.silent(12, 1).roll())).isEmpty();
    }
}

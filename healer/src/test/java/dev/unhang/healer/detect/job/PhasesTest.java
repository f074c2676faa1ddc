package dev.unhang.healer.detect.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.Phase;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PhasesTest {

    private final Phases phases = new Phases(false, Map.of(), 0);
    private final Crew crew = new Crew(4);

    private boolean follow(long nowMs) {
        return phases.follow(crew.views(), true, nowMs);
    }

    @Test
    void oneRankInACheckpointPutsTheJobInIt() {
        assertThat(follow(1000)).isTrue();
        assertThat(phases.special()).isFalse();
        crew.rank(3).setPhase(Phase.PHASE_CHECKPOINT);
        assertThat(follow(2000)).isTrue();
        assertThat(phases.now()).isEqualTo(Phase.PHASE_CHECKPOINT);
        assertThat(phases.special()).isTrue();
        assertThat(phases.words()).isEqualTo("CHECKPOINT");
        assertThat(follow(3000)).isFalse();
    }

    @Test
    void ofTwoPhasesTheOneOfMoreRanksCounts() {
        crew.rank(0).setPhase(Phase.PHASE_CHECKPOINT);
        crew.rank(1).setPhase(Phase.PHASE_EVAL);
        crew.rank(2).setPhase(Phase.PHASE_EVAL);
        follow(1000);

        assertThat(phases.now()).isEqualTo(Phase.PHASE_EVAL);
    }

    @Test
    void oneRankThatHasEndedDoesNotEndTheTrainingOfTheOthers() {
        crew.rank(0).setPhase(Phase.PHASE_END);
        follow(1000);

        assertThat(phases.now()).isEqualTo(Phase.PHASE_TRAIN);
        assertThat(phases.ending(crew.roll())).isTrue();
    }

    @Test
    void itEndsWhenMoreThanHalfAreGone() {
        assertThat(phases.ending(new Crew(4).gone(5, 0, 1).roll())).isFalse();
        assertThat(phases.ending(new Crew(4).gone(5, 0, 1, 2).roll())).isTrue();
    }

    @Test
    void onlyACheckpointShowsThatCheckpointsAreAnnounced() {
        crew.rank(0).setPhase(Phase.PHASE_EVAL);
        follow(500);
        assertThat(phases.announces()).isFalse();
        crew.rank(0).setPhase(Phase.PHASE_COMPILE);
        follow(1000);
        assertThat(phases.announces()).isFalse();
        assertThat(phases.starting()).isTrue();
        crew.rank(0).setPhase(Phase.PHASE_CHECKPOINT);
        follow(2000);
        assertThat(phases.announces()).isTrue();
        crew.rank(0).setPhase(Phase.PHASE_TRAIN);
        follow(3000);
        assertThat(phases.announces()).isTrue();
    }

    @Test
    void theLongestOfEachPhaseIsKept() {
        for (int seconds : new int[] {10, 70, 30}) {
            crew.rank(0).setPhase(Phase.PHASE_CHECKPOINT);
            follow(100_000);
            crew.rank(0).setPhase(Phase.PHASE_TRAIN);
            follow(100_000 + 1000L * seconds);
        }
        assertThat(phases.longestMs()).containsExactly(Map.entry(Phase.PHASE_CHECKPOINT, 70_000L));
        assertThat(phases.longestSeconds()).isZero();
        crew.rank(0).setPhase(Phase.PHASE_CHECKPOINT);
        follow(200_000);
        assertThat(phases.longestSeconds()).isEqualTo(70);
    }

    @Test
    void withoutHeartbeatsThereIsNoPhase() {
        crew.rank(0).setPhase(Phase.PHASE_CHECKPOINT);
        phases.follow(crew.views(), false, 1000);

        assertThat(phases.special()).isFalse();
        assertThat(phases.announces()).isFalse();
    }

    @Test
    void aNewEpochKnowsWhatTheEarlierOnesAnnounced() {
        Phases next = new Phases(true, Map.of(Phase.PHASE_EVAL, 90_000L), 0);
        crew.rank(0).setPhase(Phase.PHASE_EVAL);
        next.follow(crew.views(), true, 5000);

        assertThat(next.announces()).isTrue();
        assertThat(next.longestSeconds()).isEqualTo(90);
    }
}

package dev.unhang.healer.detect.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.IncidentKind;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SlownessTest {

    private final Slowness slowness = new Slowness();
    private final Crew crew =
            new Crew(4).each(rank -> rank.setUsualStepUs(500_000).setWaitPm(100));
    private @Nullable Verdict last;

    private void steps(int milliseconds) {
        crew.each(rank -> rank.setStepUs(1000 * milliseconds));
    }

    /** Seconds until it says something like that; -1: it does not. */
    private int until(int most, boolean confirmed) {
        for (int second = 1; second <= most; second++) {
            crew.second();
            last = slowness.look("llm", crew.roll());
            if (last != null && !last.isWell() && (last.confirmed() || !confirmed)) {
                return second;
            }
        }
        return -1;
    }

    private void straggler(int rank) {
        crew.each(each -> each.setWaitPm(500));
        crew.rank(rank).setWaitPm(100);
    }

    @Test
    void aJobThatIsTwiceAsSlowIsSuspectedAndConfirmedByTheTimeThatItHasLost() {
        steps(500);
        until(20, false);
        steps(1000);
        straggler(2);

        // It loses 0.45 s a second: 4 s to be suspected, 8 s to be confirmed.
        assertThat(until(60, false)).isEqualTo(9);
        assertThat(until(60, true)).isEqualTo(9);
        assertThat(last).isNotNull().satisfies(verdict -> {
            assertThat(verdict.kind()).isEqualTo(IncidentKind.JOB_SLOW);
            assertThat(verdict.suspects()).singleElement().satisfies(suspect -> {
                assertThat(suspect.getRank()).isEqualTo(2);
                assertThat(suspect.getNode()).isEqualTo("n2");
            });
            assertThat(verdict.evidence())
                    .contains("rank 2 waits least: 10 % of its time, others 50 %")
                    .anyMatch(line -> line.startsWith("a step of llm takes 1.0 s, usually 500 ms (medians)"));
        });
    }

    @Test
    void theFirstLookCountsNothing() {
        steps(50_000);

        assertThat(slowness.look("llm", crew.roll())).isNull();
        assertThat(until(4, false)).isEqualTo(-1);
    }

    @Test
    void whereAllAreAlikeNobodyIsNamedAndItTakesAMinuteOfLoss() {
        steps(500);
        until(1, false);
        steps(1000);

        assertThat(until(60, false)).isEqualTo(9);
        assertThat(last).isNotNull().satisfies(verdict -> {
            assertThat(verdict.suspects()).isEmpty();
            assertThat(verdict.evidence()).contains("no rank waits less than the others: no suspect");
        });
        assertThat(until(300, true)).isBetween(120, 128);
    }

    @Test
    void whoWaitsAlmostAsLongAsTheOthersIsNotNamed() {
        steps(500);
        until(1, false);
        steps(1000);
        straggler(2);
        crew.rank(2).setWaitPm(260);
        assertThat(until(60, false)).isPositive();
        assertThat(last)
                .isNotNull()
                .satisfies(verdict -> assertThat(verdict.suspects()).isEmpty());
        crew.rank(2).setWaitPm(250);
        until(1, false);
        assertThat(last)
                .isNotNull()
                .satisfies(verdict -> assertThat(verdict.suspects()).hasSize(1));
    }

    @Test
    void aDriftBelowTenPercentIsNeverTold() {
        steps(549);

        assertThat(until(3_600, false)).isEqualTo(-1);
    }

    @Test
    void aSixthIsNotToldAndALittleMoreIsInTheEnd() {
        steps(575);
        assertThat(until(3_600, false)).isEqualTo(-1);
        steps(577);
        assertThat(until(3_600, false)).isBetween(60, 120);
    }

    @Test
    void oneLongPauseIsNoSlowness() {
        steps(500);
        until(30, false);
        crew.nowMs += 300_000;
        slowness.pause(crew.nowMs);

        assertThat(until(60, false)).isEqualTo(-1);
    }

    @Test
    void theTimeOfAPauseIsNotLostASecondTime() {
        steps(1000);
        until(5, false);
        crew.nowMs += 300_000;
        slowness.pause(crew.nowMs);

        assertThat(until(3, false)).isEqualTo(-1);
    }

    @Test
    void aJobThatMakesNoStepAtAllIsNotSlow() {
        steps(1000);
        crew.still(10);

        assertThat(until(60, false)).isEqualTo(-1);
    }

    @Test
    void itIsWellWhenItHasBeenFastForTenSeconds() {
        steps(500);
        until(1, false);
        steps(1000);
        until(60, false);
        steps(500);
        for (int i = 0; i < 9; i++) {
            crew.second();
            assertThat(slowness.look("llm", crew.roll())).isNull();
        }
        crew.second();
        assertThat(slowness.look("llm", crew.roll()))
                .isNotNull()
                .satisfies(verdict -> assertThat(verdict.isWell()).isTrue());
        assertThat(slowness.concerned(crew.views())).isFalse();
    }

    @Test
    void unlessHalfOfTheRanksTellTheirStepsNothingIsSaid() {
        steps(1000);
        crew.each(rank -> rank.clearStepUs());
        crew.rank(0).setStepUs(1_000_000);

        assertThat(until(120, false)).isEqualTo(-1);
    }
}

package dev.unhang.healer.detect.node;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RunningLevelTest {

    @Test
    void aLevelOfTooFewValuesIsUnknown() {
        RunningLevel level = new RunningLevel(0.5);
        level.add(5);
        level.add(5);
        level.add(5);
        assertThat(level.value(4)).isNaN();
        level.add(5);
        assertThat(level.value(4)).isEqualTo(5);
    }

    @Test
    void whatIsUnknownIsNotLearned() {
        RunningLevel level = new RunningLevel(0.5);
        level.add(Double.NaN);
        level.add(-1);

        assertThat(level.seen()).isZero();
    }

    @Test
    void aLongLifeIsKeptInFewValuesAndEachPartOfItWeighsByItsLength() {
        RunningLevel low = new RunningLevel(0.2);
        RunningLevel median = new RunningLevel(0.5);
        for (int i = 0; i < 100_000; i++) {
            double value = i < 70_000 ? 100 : 900;
            low.add(value);
            median.add(value);
        }

        assertThat(low.value(4)).isEqualTo(100);
        assertThat(median.value(4)).isEqualTo(100);
        assertThat(median.toProto().getValuesCount()).isLessThanOrEqualTo(RunningLevel.KEPT);
    }

    @Test
    void itGoesOnWhereAnotherOneStoodButNeverForgetsForLess() {
        RunningLevel first = new RunningLevel(0.5);
        for (int i = 0; i < 200; i++) {
            first.add(50);
        }
        RunningLevel second = new RunningLevel(0.5);
        second.add(1);
        second.restore(first.toProto());
        assertThat(second.value(4)).isEqualTo(50);
        assertThat(second.seen()).isEqualTo(200);

        RunningLevel few = new RunningLevel(0.5);
        few.add(7);
        second.restore(few.toProto());
        assertThat(second.value(4)).isEqualTo(50);
    }
}

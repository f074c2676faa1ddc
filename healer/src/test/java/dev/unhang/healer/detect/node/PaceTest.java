package dev.unhang.healer.detect.node;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PaceTest {

    private final Pace pace = new Pace();

    private void steps(int count, double milliseconds) {
        for (int i = 0; i < count; i++) {
            pace.steps(1000 * milliseconds);
        }
    }

    @Test
    void whatTakesHowLongIsKnownAfterAFewSteps() {
        steps(3, 100);
        assertThat(pace.usual()).isNaN();
        assertThat(pace.recent()).isNaN();
        steps(1, 100);
        assertThat(pace.usual()).isEqualTo(100_000);
        assertThat(pace.recent()).isNaN();
        steps(1, 100);
        assertThat(pace.recent()).isEqualTo(100_000);
    }

    @Test
    void aSingleLongStepIsNoSlowness() {
        steps(20, 100);
        steps(1, 60_000);
        assertThat(pace.slow()).isFalse();
        steps(1, 60_000);
        assertThat(pace.slow()).isFalse();
        assertThat(pace.usual()).isEqualTo(100_000);
    }

    @Test
    void threeOfFiveLongStepsAreSlow() {
        steps(20, 100);
        steps(3, 200);

        assertThat(pace.slow()).isTrue();
    }

    @Test
    void aSixthMoreIsNotSlowAndALittleMoreThanThatIs() {
        steps(40, 100);
        steps(3, 114.9);
        assertThat(pace.slow()).isFalse();

        Pace other = new Pace();
        for (int i = 0; i < 40; i++) {
            other.steps(100_000);
        }
        for (int i = 0; i < 3; i++) {
            other.steps(115_100);
        }
        assertThat(other.slow()).isTrue();
    }

    @Test
    void nobodyIsSlowWhoseUsualStepIsNotKnown() {
        steps(4, 100);
        steps(3, 200);

        assertThat(pace.slow()).isFalse();
    }

    @Test
    void stepsThatVaryAnywayAreNotSlow() {
        for (int i = 0; i < 20; i++) {
            steps(4, 100);
            steps(1, 119);
        }
        steps(5, 119);

        assertThat(pace.slow()).isFalse();
    }

    @Test
    void aLastingSlownessStaysSlow() {
        steps(50, 100);
        steps(10_000, 130);

        assertThat(pace.slow()).isTrue();
        assertThat(pace.usual()).isEqualTo(100_000);
        assertThat(pace.recent()).isEqualTo(130_000);
    }

    @Test
    void aFasterJobBecomesTheUsual() {
        steps(50, 100);
        steps(100, 50);
        assertThat(pace.usual()).isEqualTo(50_000);
        steps(5, 100);
        assertThat(pace.slow()).as("a third of its life was like that").isFalse();
        steps(1_000, 50);
        steps(5, 100);

        assertThat(pace.slow()).isTrue();
    }

    @Test
    void whatIsNoTimeIsNoStep() {
        steps(10, 100);
        pace.steps(Double.NaN);
        pace.steps(-1);

        assertThat(pace.level().seen()).isEqualTo(10);
        assertThat(pace.recent()).isEqualTo(100_000);
    }

    @Test
    void aNewOwnerKnowsWhatIsUsual() {
        steps(50, 100);
        Pace next = new Pace();
        next.level().restore(pace.level().toProto());
        for (int i = 0; i < 5; i++) {
            next.steps(200_000);
        }

        assertThat(next.usual()).isEqualTo(100_000);
        assertThat(next.slow()).isTrue();
    }
}

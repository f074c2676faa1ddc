package dev.unhang.healer.detect.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.JobProfile;
import org.junit.jupiter.api.Test;

class OffendersTest {

    private static final long WEEK_MS = 7L * 24 * 3600 * 1000;

    private final Offenders offenders = new Offenders();

    @Test
    void aStandstillNamesANodeOnce() {
        assertThat(offenders.named("n1", 1_000, 30_000)).isTrue();
        assertThat(offenders.named("n1", 1_000, 31_000)).isFalse();
        offenders.over();
        assertThat(offenders.named("n1", 90_000, 120_000)).isTrue();

        assertThat(offenders.before("n1", 200_000, 200_000)).isEqualTo(2);
    }

    @Test
    void theStandstillThatGoesOnDoesNotCountAgainstIt() {
        offenders.named("n1", 1_000, 30_000);

        assertThat(offenders.before("n1", 1_000, 40_000)).isZero();
        assertThat(offenders.before("n1", 30_001, 40_000)).isEqualTo(1);
        assertThat(offenders.before("n2", 30_001, 40_000)).isZero();
    }

    @Test
    void aNewDeciderDoesNotCountTheStandstillThatGoesOnTwice() {
        offenders.named("n1", 1_000, 30_000);
        Offenders next = restored();

        assertThat(next.before("n1", 1_000, 40_000)).isZero();
        assertThat(next.named("n1", 1_000, 40_000)).isFalse();
        assertThat(next.before("n1", 90_000, 90_000)).isEqualTo(1);
    }

    @Test
    void aWeekIsForgiven() {
        offenders.named("n1", 0, 1_000);

        assertThat(offenders.before("n1", WEEK_MS, 1_000 + WEEK_MS)).isEqualTo(1);
        assertThat(offenders.before("n1", WEEK_MS, 1_001 + WEEK_MS)).isZero();
    }

    @Test
    void whoHasNoNameIsNoOffender() {
        assertThat(offenders.named("", 0, 1_000)).isFalse();
    }

    @Test
    void theLastSixtyFourAreKept() {
        for (int i = 0; i < 100; i++) {
            offenders.named("n" + i, 0, 1_000);
        }
        assertThat(saved().getNamedCount()).isEqualTo(64);
        assertThat(offenders.before("n35", 2_000, 2_000)).isZero();
        assertThat(offenders.before("n36", 2_000, 2_000)).isEqualTo(1);
    }

    private JobProfile saved() {
        JobProfile.Builder profile = JobProfile.newBuilder();
        offenders.save(profile);
        return profile.build();
    }

    private Offenders restored() {
        Offenders next = new Offenders();
        next.restore(saved());
        return next;
    }
}

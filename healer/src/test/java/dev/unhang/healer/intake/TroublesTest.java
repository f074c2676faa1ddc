package dev.unhang.healer.intake;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.kafka.common.errors.DisconnectException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

class TroublesTest {

    private final Troubles troubles = new Troubles();

    @Test
    void aTroubleIsToldAtOnceAndThenOnceAMinuteWhateverItSays() {
        assertThat(troubles.aloud(new TimeoutException("in 2001ms"), 5)).isTrue();
        assertThat(troubles.aloud(new TimeoutException("in 2002ms"), 5 + Troubles.AGAIN_NS - 1))
                .isFalse();
        assertThat(troubles.aloud(new TimeoutException("in 2003ms"), 5 + Troubles.AGAIN_NS))
                .isTrue();
        assertThat(troubles.aloud(new TimeoutException("in 2001ms"), 6 + Troubles.AGAIN_NS))
                .isFalse();
    }

    @Test
    void troublesOfTwoKindsInTurnAreEachToldOnceAMinute() {
        assertThat(troubles.aloud(new TimeoutException("a"), 0)).isTrue();
        assertThat(troubles.aloud(new DisconnectException("b"), 1)).isTrue();
        assertThat(troubles.aloud(new TimeoutException("a"), 2)).isFalse();
        assertThat(troubles.aloud(new DisconnectException("b"), 3)).isFalse();
    }
}

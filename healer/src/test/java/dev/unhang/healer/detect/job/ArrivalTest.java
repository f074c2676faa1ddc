package dev.unhang.healer.detect.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.Suspect;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ArrivalTest {

    private static @Nullable Verdict judge(int world, int came, long waitedMs, Set<String> free) {
        return Arrival.judge("llm", world, came, rank -> rank < came, waitedMs, free);
    }

    private static Verdict after(int world, int came, long waitedMs, String... free) {
        Verdict verdict = judge(world, came, waitedMs, Set.of(free));
        assertThat(verdict).isNotNull();
        return Objects.requireNonNull(verdict);
    }

    @Test
    void threeMinutesAreEarlyAndThenItIsSuspected() {
        assertThat(judge(4, 3, 179_999, Set.of())).isNull();
        assertThat(after(4, 3, 180_000).confirmed()).isFalse();
        assertThat(after(4, 3, 180_000).kind()).isEqualTo(IncidentKind.RANK_MISSING);
    }

    @Test
    void afterTenMinutesItIsConfirmed() {
        assertThat(after(4, 3, 599_999).confirmed()).isFalse();
        assertThat(after(4, 3, 600_000).confirmed()).isTrue();
    }

    @Test
    void theMissingOnesAreNamedByNumber() {
        Verdict verdict = after(4, 2, 200_000);

        assertThat(verdict.suspects()).extracting(Suspect::getRank).containsExactly(2, 3);
        assertThat(verdict.evidence())
                .containsExactly("2 of 4 ranks of llm have never been seen (2, 3), and the others have waited for 200 s"
                        + " without a step");
    }

    @Test
    void ofManyEightAreNamed() {
        Verdict verdict = after(64, 16, 200_000);

        assertThat(verdict.suspects()).hasSize(8);
        assertThat(verdict.evidence().get(0)).contains("48 of 64").contains("16, 17, 18, 19, 20, 21, 22, 23, ...");
    }

    @Test
    void theOneFreeNodeIsWhereTheOneAbsentRankBelongs() {
        Verdict verdict = after(4, 3, 200_000, "n7");

        assertThat(verdict.suspects().get(0).getNode()).isEqualTo("n7");
        assertThat(verdict.evidence()).contains("node n7 has GPUs and runs no rank");
    }

    @Test
    void ofSeveralFreeNodesOrSeveralAbsentRanksNoneIsNamed() {
        assertThat(after(4, 3, 200_000, "n7", "n8").suspects().get(0).getNode()).isEmpty();
        assertThat(after(4, 2, 200_000, "n7").suspects().get(0).getNode()).isEmpty();
    }
}

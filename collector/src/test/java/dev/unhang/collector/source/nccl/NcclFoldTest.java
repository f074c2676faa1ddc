package dev.unhang.collector.source.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.NcclEvent;
import dev.unhang.events.v1.NcclKind;
import org.junit.jupiter.api.Test;

class NcclFoldTest {

    private final NcclFold fold = new NcclFold();

    private static NcclEvent closed(int pid, String peer) {
        return NcclEvent.newBuilder()
                .setPid(pid)
                .setKind(NcclKind.NCCL_KIND_CONNECTION_CLOSED)
                .setPeer(peer)
                .build();
    }

    @Test
    void theFirstGoesOutAtOnceAndTheRestEachTenSecondsWithACount() {
        fold.add(closed(1, "a"));
        assertThat(fold.flush(0))
                .containsExactly(closed(1, "a").toBuilder().setCount(1).build());
        fold.add(closed(1, "a"));
        fold.add(closed(1, "a"));
        assertThat(fold.flush(NcclFold.EACH_NS - 1)).isEmpty();
        assertThat(fold.flush(NcclFold.EACH_NS))
                .containsExactly(closed(1, "a").toBuilder().setCount(2).build());
    }

    @Test
    void afterTenSecondsOfSilenceTheNextIsNewsAgain() {
        fold.add(closed(1, "a"));
        fold.flush(0);
        assertThat(fold.flush(NcclFold.EACH_NS)).isEmpty();
        assertThat(fold.size()).isZero();
        fold.add(closed(1, "a"));
        assertThat(fold.flush(NcclFold.EACH_NS + 1)).hasSize(1);
    }

    @Test
    void ofMoreThanEightAtOnceTheRestWaitForTheNextCallAndNoneIsLost() {
        for (int i = 0; i < NcclFold.MOST_AT_ONCE + 1; i++) {
            fold.add(closed(1, "peer" + i));
        }
        assertThat(fold.flush(0)).hasSize(NcclFold.MOST_AT_ONCE);
        assertThat(fold.flush(1))
                .singleElement()
                .satisfies(last -> assertThat(last.getPeer()).isEqualTo("peer8"));
    }

    @Test
    void tooManyThatDifferAreOneWithoutNames() {
        for (int i = 0; i < NcclFold.MOST_KEYS + 500; i++) {
            fold.add(closed(1, "peer" + i));
        }

        assertThat(fold.size()).isEqualTo(NcclFold.MOST_KEYS + 1);
    }
}

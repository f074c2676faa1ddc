package dev.unhang.collector.source.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SpeakerTest {

    @Test
    void ncclTellsHostAndPid() {
        assertThat(Speaker.of("node-1:4711:4790 [5] transport/net_ib.cc:2244 NCCL WARN text"))
                .isEqualTo(new Speaker("node-1", 4711, -1));
        assertThat(Speaker.of("[2026-11-30 22:17:49] node-1:4711:4790 [0] NCCL INFO text"))
                .isEqualTo(new Speaker("node-1", 4711, -1));
    }

    @Test
    void pytorchTellsTheRank() {
        assertThat(Speaker.of("[rank12]:[E709 17:05:38.1 ProcessGroupNCCL.cpp:632] [Rank 0] text"))
                .isEqualTo(new Speaker("", 0, 12));
    }

    @Test
    void anyOtherLineTellsNobody() {
        assertThat(Speaker.of("step 12:34:56 [5] loss").known()).isFalse();
        assertThat(Speaker.of("[Rank 0] text").known()).isFalse();
        assertThat(Speaker.of("").known()).isFalse();
    }
}

package dev.unhang.healer.detect.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LookTest {

    @ParameterizedTest
    @ValueSource(strings = {"1 fsync of a file, 11 futex", "3 epoll_wait, 1 write of a file", "1 pwrite64 of a file"})
    void aCallOnAFileIsACheckpoints(String calls) {
        Look look = Look.at(Map.of("state", "S", "calls", calls));

        assertThat(look.says()).isEqualTo(Look.Says.STORES);
        assertThat(look.words()).contains(" of a file");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1 write of a socket", "1 read of a pipe, 4 futex", "1 write of a device"})
    void aCallOnAnythingElseIsNot(String calls) {
        assertThat(Look.at(Map.of("state", "S", "calls", calls)).says()).isEqualTo(Look.Says.NOTHING);
    }

    @ParameterizedTest
    @CsvSource({
        "D, folio_wait_bit_common",
        "D, rpc_wait_bit_killable",
        "D, ceph_fsync",
        "D, jbd2_log_wait_commit",
        "S, request_wait_answer",
        "D, balance_dirty_pages"
    })
    void aSleepForStorageInTheKernelIsACheckpoints(String state, String wchan) {
        Look look = Look.at(Map.of("state", state, "wchan", wchan, "threads", "1 " + state + " " + wchan));

        assertThat(look.says()).isEqualTo(Look.Says.STORES);
        assertThat(look.words()).contains(wchan);
    }

    @Test
    void aDriverThatHangsIsNoStorage() {
        assertThat(Look.at(Map.of("state", "D", "wchan", "nvidia_ioctl", "threads", "1 D nvidia_ioctl"))
                        .says())
                .isEqualTo(Look.Says.NOTHING);
    }

    @Test
    void pythonsOwnFrameTellsASaveBetweenTwoCalls() {
        Look look = Look.at(
                Map.of(
                        "state", "R",
                        "python",
                                "Thread 9 (active): \"MainThread\"\n    _save (torch/serialization.py:850)\n    main (train.py:3)"));

        assertThat(look.says()).isEqualTo(Look.Says.STORES);
        assertThat(look.words()).contains("_save (torch/serialization.py:850)");
    }

    @Test
    void sleepersThatWaitForNoStorageWait() {
        assertThat(Look.at(Map.of("state", "S", "threads", "12 S futex_wait_queue, 1 S ep_poll"))
                        .says())
                .isEqualTo(Look.Says.WAITS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"12 S futex_wait_queue, 1 R", "1 D nvidia_ioctl", "2 T do_signal_stop"})
    void oneThreadThatDoesNotSleepMayBeAtAnything(String threads) {
        assertThat(Look.at(Map.of("state", "S", "threads", threads)).says()).isEqualTo(Look.Says.NOTHING);
    }

    @Test
    void nothingThatCouldBeReadSaysNothing() {
        assertThat(Look.at(Map.of())).isEqualTo(Look.NONE);
    }
}

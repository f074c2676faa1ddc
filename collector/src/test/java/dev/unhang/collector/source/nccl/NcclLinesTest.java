package dev.unhang.collector.source.nccl;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.NcclEvent;
import dev.unhang.events.v1.NcclKind;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Lines as NCCL and PyTorch print them: from issues, and from the format strings of their sources. */
class NcclLinesTest {

    private static final String WARN = "node-1:4711:4790 [5] transport/net_ib.cc:2244 NCCL WARN ";
    private static final String INFO = "node-1:4711:4790 [5] NCCL INFO ";
    private static final String TORCH = "[rank0]:[E709 17:05:38.162814866 ProcessGroupNCCL.cpp:2271] ";

    private final NcclLines lines = new NcclLines();

    private @Nullable NcclEvent parsed(String line) {
        NcclEvent.Builder event = lines.parse(line);
        return event == null ? null : event.build();
    }

    private NcclEvent event(String line) {
        return requireNonNull(parsed(line), line);
    }

    private static NcclEvent.Builder of(NcclKind kind) {
        return NcclEvent.newBuilder().setKind(kind);
    }

    @Test
    void aCompletionErrorOfOlderReleasesNamesPeerStatusAndDevice() {
        assertThat(event(WARN + "NET/IB : Got completion from peer 10.46.70.22<39226> with status=12 opcode=129"
                        + " len=65536 vendor err 129 (Recv) localGid fe80::9e63:c0ff:feab:938a"
                        + " remoteGidsfe80::9e63:c0ff:feab:b6b2 hca mlx5_10"))
                .isEqualTo(of(NcclKind.NCCL_KIND_COMPLETION)
                        .setPeer("10.46.70.22")
                        .setCode(12)
                        .setDevice("mlx5_10")
                        .build());
    }

    @Test
    void aCompletionErrorOfNewerReleasesSaysTheSame() {
        assertThat(event(WARN + "NET/IB: Got completion from peer 10.11.2.169<50673> with"
                        + " status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) vendor_err=129  hca mlx5_5"))
                .isEqualTo(of(NcclKind.NCCL_KIND_COMPLETION)
                        .setPeer("10.11.2.169")
                        .setCode(12)
                        .setDevice("mlx5_5")
                        .build());
    }

    @ParameterizedTest
    @CsvSource({"5,249", "9,138", "4,83", "11,137", "13,130"})
    void eachStatusIsKeptAsItIsForTheMeaningIsJudgedElsewhere(int status, int vendor) {
        assertThat(event(WARN + "NET/IB : Got completion from peer 10.0.0.7<1234> with status=" + status
                                + " opcode=0 len=0 vendor err " + vendor + " (Send) hca mlx5_0")
                        .getCode())
                .isEqualTo(status);
    }

    @Test
    void aPeerOfIpv6AndOneWithoutAPortAreRead() {
        assertThat(event(WARN + "NET/IB : Got completion from peer 2001:db8::7<1234> with status=12 opcode=0")
                        .getPeer())
                .isEqualTo("2001:db8::7");
        assertThat(event(WARN + "NET/IB: Got completion from peer fe80::7%eth0<1234> with status=12 opcode=0")
                        .getPeer())
                .isEqualTo("fe80::7");
        assertThat(event(WARN + "NET/IB: Got completion from peer 192.168.0.20 with status=12 opcode=0")
                        .getPeer())
                .isEqualTo("192.168.0.20");
    }

    @Test
    void theLastErrorThatPytorchRepeatsWithoutAFrameIsReadToo() {
        assertThat(event("NET/IB: Got completion from peer 10.0.0.7<1234> with status=12 opcode=0 len=0")
                        .getPeer())
                .isEqualTo("10.0.0.7");
        assertThat(event("socketProgress: Connection closed by remote peer node1<57557>")
                        .getPeer())
                .isEqualTo("node1");
    }

    @Test
    void aClosedConnectionNamesAHostOrAnAddress() {
        assertThat(event(WARN + "socketProgress: Connection closed by remote peer node1.cluster.example<57557>"))
                .isEqualTo(of(NcclKind.NCCL_KIND_CONNECTION_CLOSED)
                        .setPeer("node1.cluster.example")
                        .build());
        assertThat(event(WARN + "Net : Connection closed by remote peer 10.0.0.7<57557>")
                        .getPeer())
                .isEqualTo("10.0.0.7");
    }

    @Test
    void aPeerThatCannotBeReachedComesWithItsErrno() {
        assertThat(event(WARN
                        + "socketStartConnect: Connect to 10.0.0.7<44447> failed : Software caused connection abort"))
                .isEqualTo(of(NcclKind.NCCL_KIND_PEER_LOST)
                        .setPeer("10.0.0.7")
                        .setCode(103)
                        .build());
        assertThat(event(WARN + "Net : Call to recv from 10.0.0.7<44447> failed : Connection reset by peer")
                        .getCode())
                .isEqualTo(104);
        assertThat(event(WARN + "socketPollConnect: connect to 10.0.0.7<44447> returned Connection timed out")
                        .getCode())
                .isEqualTo(110);
        assertThat(event(WARN + "Net : Connect to 10.0.0.7<44447> failed : something new")
                        .getCode())
                .isZero();
    }

    @Test
    void whatGlooSaysOfAPeerIsReadToo() {
        assertThat(event("RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by"
                        + " peer [10.0.0.7]:13221"))
                .isEqualTo(of(NcclKind.NCCL_KIND_CONNECTION_CLOSED)
                        .setPeer("10.0.0.7")
                        .build());
        assertThat(event(
                        "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Read error [10.0.0.7]:6666:"
                                + " Connection reset by peer"))
                .isEqualTo(of(NcclKind.NCCL_KIND_PEER_LOST)
                        .setPeer("10.0.0.7")
                        .setCode(104)
                        .build());
    }

    @Test
    void aRetryAtTheStartOfAJobIsNoLoss() {
        assertThat(parsed(INFO + "Call to connect returned Connection refused, retrying"))
                .isNull();
        assertThat(parsed(INFO + "socketStartConnect: Connect to 10.0.0.7<44447> failed : Connection refused"))
                .isNull();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "NET/IB : Got async event : port error | 10 | ''",
                "NET/IB : mlx5_3:1 Got async error event: port error | 10 | mlx5_3",
                "NET/IB : mlx5_3:1 async fatal event: local catastrophic error | 8 | mlx5_3",
                "NET/IB : mlx5_3:1 async fatal event on QP (0x7f00): local work queue catastrophic error | 1 | mlx5_3",
                "NET/IB : mlx5_3:1 async fatal event on QP (0x7f00): invalid request local work queue error | 2 | mlx5_3",
                "NET/IB : mlx5_3:1 async fatal event on QP (0x7f00): local access violation work queue error|3|mlx5_3",
                "NET/IB : mlx5_3:1 async fatal event on CQ (0x7f00): CQ error | 0 | mlx5_3",
                "NET/IB : mlx5_3:1 GID table changed | 18 | mlx5_3"
            })
    void anEventOfItsOwnDeviceIsAnAsyncEvent(String text, int code, String device) {
        assertThat(event(WARN + text))
                .isEqualTo(of(NcclKind.NCCL_KIND_ASYNC_EVENT)
                        .setCode(code)
                        .setDevice(device)
                        .build());
    }

    @Test
    void aPortThatComesBackIsGoodNews() {
        assertThat(parsed(WARN + "NET/IB : Got async event : port active")).isNull();
    }

    @Test
    void aVerbsCallThatFailedIsASetupThatDoesNotFit() {
        assertThat(event(
                        WARN + "Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_1:1, curr state"
                                + " INIT, next state RTR, local GID index 3, local GID ::ffff:10.0.0.1"))
                .isEqualTo(of(NcclKind.NCCL_KIND_SETUP)
                        .setCode(110)
                        .setDevice("mlx5_1")
                        .build());
        assertThat(event(WARN + "Call to ibv_modify_qp failed with 22 Invalid argument")
                        .getCode())
                .isEqualTo(22);
        assertThat(event(WARN + "Call to ibv_modify_qp failed with error No such device")
                        .getCode())
                .isEqualTo(19);
        assertThat(event(WARN + "Call to ibv_reg_mr failed with error 12").getCode())
                .isEqualTo(12);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Bootstrap : no socket interface found",
                "NET/Socket : No usable listening interface found",
                "Mismatched NCCL version detected : rank 0 version 22703 rank 1 version 22602",
                "Multiple Ranks are using the same GPU",
                "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1a000",
                "Error: failed to extend /dev/shm/nccl-Zw3xKp to 33030532 bytes"
            })
    void whatIsSetUpWronglyOnItsOwnNodeIsSetup(String text) {
        assertThat(event(WARN + text)).isEqualTo(of(NcclKind.NCCL_KIND_SETUP).build());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"Cuda failure 999 'unknown error' | 1", "Cuda failure 'uncorrectable ECC error encountered' | 1"})
    void aFailureOfCudaIsItsOwn(String text, int code) {
        assertThat(event(WARN + text))
                .isEqualTo(of(NcclKind.NCCL_KIND_LOCAL_ERROR).setCode(code).build());
    }

    @Test
    void aProgramThatEndsOrAsksForTooMuchMemoryHasNoBrokenNode() {
        assertThat(parsed(WARN + "Cuda failure 4 'driver shutting down'")).isNull();
        assertThat(parsed(WARN + "Cuda failure 2 'out of memory'")).isNull();
    }

    @Test
    void aTraceTellsItsResult() {
        assertThat(event(INFO + "transport/net.cc:1298 -> 6"))
                .isEqualTo(of(NcclKind.NCCL_KIND_REMOTE_ERROR).setCode(6).build());
        assertThat(event(INFO + "proxy.cc:912 -> 6 [Progress Thread]").getKind())
                .isEqualTo(NcclKind.NCCL_KIND_REMOTE_ERROR);
        assertThat(event(INFO + "enqueue.cc:100 -> 1"))
                .isEqualTo(of(NcclKind.NCCL_KIND_LOCAL_ERROR).setCode(1).build());
        assertThat(parsed(INFO + "init.cc:100 -> 7")).isNull();
        assertThat(parsed(INFO + "init.cc:100 -> 0")).isNull();
    }

    @Test
    void theNamesOfResultsAreReadAsTheirNumbers() {
        assertThat(event("ncclRemoteError: A call failed possibly due to a network error or a remote process exiting"
                        + " prematurely."))
                .isEqualTo(of(NcclKind.NCCL_KIND_REMOTE_ERROR).setCode(6).build());
        assertThat(event("ncclUnhandledCudaError: Call to CUDA function failed."))
                .isEqualTo(of(NcclKind.NCCL_KIND_LOCAL_ERROR).setCode(1).build());
        assertThat(event("ncclSystemError: System call (e.g. socket, malloc) or external library call failed")
                        .getCode())
                .isEqualTo(2);
    }

    @Test
    void aTimeoutOfTheWatchdogTellsWhatWaited() {
        assertThat(
                        event(
                                "[rank0]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective"
                                        + " operation timeout: WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, NumelIn=466119168,"
                                        + " NumelOut=466119168, Timeout(ms)=600000) ran for 600060 milliseconds before timing out."))
                .isEqualTo(of(NcclKind.NCCL_KIND_WATCHDOG_TIMEOUT)
                        .setSeq(1580)
                        .setOp("ALLREDUCE")
                        .build());
        assertThat(event("[E ProcessGroupNCCL.cpp:475] [Rank 1] Watchdog caught collective operation timeout:"
                        + " WorkNCCL(OpType=_ALLGATHER_BASE, Timeout(ms)=1800000) ran for 1802710 milliseconds"))
                .isEqualTo(of(NcclKind.NCCL_KIND_WATCHDOG_TIMEOUT)
                        .setOp("_ALLGATHER_BASE")
                        .build());
        assertThat(event(TORCH + "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3,"
                                + " OpType=MY_SECRET_NAME, Timeout(ms)=1)")
                        .getOp())
                .isEmpty();
    }

    @Test
    void whatWasEnqueuedAndCompletedLastIsReadInEachSpelling() {
        assertThat(event(
                        "[rank0]:[E321 02:07:08.4 ProcessGroupNCCL.cpp:1785] [PG 0 Rank 0] Exception (either an error or"
                                + " timeout) detected by watchdog at work: 1580, last enqueued NCCL work: 1582, last completed NCCL"
                                + " work: 1579."))
                .isEqualTo(of(NcclKind.NCCL_KIND_LAST_WORK)
                        .setSeq(1580)
                        .setLastEnqueued(1582)
                        .setLastCompleted(1579)
                        .build());
        assertThat(event(TORCH + "[PG ID 0 PG GUID 0(default_pg) Rank 0]  failure detected by watchdog at work sequence"
                        + " id: 20585 PG status: last enqueued work: 20589, last completed work: 20584"))
                .isEqualTo(of(NcclKind.NCCL_KIND_LAST_WORK)
                        .setSeq(20585)
                        .setLastEnqueued(20589)
                        .setLastCompleted(20584)
                        .build());
        assertThat(event(TORCH
                        + "[PG ID 3 PG GUID 22(TENSOR_MODEL_PARALLEL_GROUP) Rank 0] PG status: last enqueued work:"
                        + " 39, last started work: 19 (_ALLGATHER_BASE), last completed work: 17"))
                .isEqualTo(of(NcclKind.NCCL_KIND_LAST_WORK)
                        .setLastEnqueued(39)
                        .setLastCompleted(17)
                        .setOtherGroup(true)
                        .build());
        assertThat(event(TORCH + "[PG ID 0 PG GUID 0(default_pg) Rank 1] Received a dump signal due to a collective"
                                + " timeout from  rank 7 and we will try our best to dump the debug info. Last enqueued NCCL"
                                + " work: -1, last completed NCCL work: -1.This is most likely caused by")
                        .getLastEnqueued())
                .isEqualTo(-1);
    }

    @Test
    void aDesyncReportNamesThoseThatAreBehind() {
        assertThat(event("\t     [1,3] finished collective #4, but didn't join collective #5 (count from 1)"))
                .isEqualTo(of(NcclKind.NCCL_KIND_DESYNC)
                        .addRanks(1)
                        .addRanks(3)
                        .setRanksNamed(2)
                        .setSeq(5)
                        .build());
        assertThat(event("\t   - [1, 3] joined but didn't finish collective #5 (count from 1)")
                        .getRanksList())
                .containsExactly(1, 3);
        assertThat(event(
                                "\t - To our best knowledge, ranks [2] are the lagging ranks that caused this timeout. They never"
                                        + " joined any collectives")
                        .getRanksList())
                .containsExactly(2);
    }

    @Test
    void ofMoreThanEightRanksOnlyTheNumberIsTold() {
        String eight = "0,1,2,3,4,5,6,7";

        assertThat(event("[" + eight + "] joined but didn't finish collective #39")
                        .getRanksCount())
                .isEqualTo(8);
        NcclEvent nine = event("[" + eight + ",8] joined but didn't finish collective #39");
        assertThat(nine.getRanksList()).isEmpty();
        assertThat(nine.getRanksNamed()).isEqualTo(9);
    }

    @Test
    void aDesyncReportOfAnotherGroupIsMarkedUntilTheDefaultGroupSpeaks() {
        String report = "\t     [1] finished collective #4, but didn't join collective #5 (count from 1)";
        assertThat(event(report).getOtherGroup()).isFalse();
        assertThat(parsed(TORCH + "[PG ID 5 PG GUID 22(TENSOR_MODEL_PARALLEL_GROUP) Rank 0] something"))
                .isNull();
        assertThat(event(report).getOtherGroup()).isTrue();
        assertThat(parsed(TORCH + "[PG ID 0 PG GUID 0(default_pg) Rank 0] something"))
                .isNull();
        assertThat(event(report).getOtherGroup()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[PG ID 0 PG GUID 0(default_pg) Rank 1] Observed flight recorder dump signal from another rank via TCPStore.",
                "[PG ID 0 PG GUID 0(default_pg) Rank 1] ProcessGroupNCCL preparing to dump debug info. Include stack trace: 1",
                "Finished writing Flight Recorder debug info to /tmp/nccl_trace_rank_1",
                "Finished writing NCCLPG debug info to /tmp/nccl_trace_rank_1",
                "[PG ID 0 PG GUID 0(default_pg) Rank 1] Flight Recorder trace successfully dumped."
            })
    void aDumpOfTheFlightRecorderIsToldWithoutItsPath(String text) {
        assertThat(event(TORCH + text))
                .isEqualTo(of(NcclKind.NCCL_KIND_FLIGHT_RECORDER).build());
    }

    @Test
    void aWatchdogThatDoesNotMoveIsTold() {
        assertThat(event(TORCH + "[PG ID 0 PG GUID 0(default_pg) Rank 0] ProcessGroupNCCL's watchdog got stuck for 480"
                        + " seconds without making progress in monitoring enqueued collectives."))
                .isEqualTo(of(NcclKind.NCCL_KIND_WATCHDOG_STUCK).build());
        assertThat(event(TORCH + "[PG 0 Rank 0] Heartbeat monitor timed out! Process will be terminated after dumping"
                                + " debug info. workMetaList_.size()=3")
                        .getKind())
                .isEqualTo(NcclKind.NCCL_KIND_WATCHDOG_STUCK);
    }

    @Test
    void aWatchdogThatEndsByAnErrorOfCudaIsALocalError() {
        assertThat(event("[PG 0 Rank 2] Process group watchdog thread terminated with exception: CUDA error: an illegal"
                        + " memory access was encountered"))
                .isEqualTo(of(NcclKind.NCCL_KIND_LOCAL_ERROR).setCode(1).build());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "step 100 loss 2.31",
                "node-1:4711:4790 [5] NCCL INFO Channel 00/08 : 0 1 2 3 4 5 6 7",
                "node-1:4711:4790 [5] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE ; OOB eth0:10.0.0.1<0>",
                "NCCL version 2.30.7+cuda13.0",
                "the number of peers with status=12 is 3",
                "[PG ID 0 PG GUID 0(default_pg) Rank 0] ProcessGroupNCCL initialization options: size: 8",
                "Stack trace of the failed collective not found, potentially because FlightRecorder is disabled."
            })
    void aLineThatSaysNothingOfTheKindIsNone(String line) {
        assertThat(parsed(line)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"hunter2_$ecret", "-bad-", "300.1.1.1", "1.2.3", "::zz", "a b"})
    void whatHasNotTheFormOfAnAddressOrAHostIsNoPeer(String peer) {
        NcclEvent event = parsed(WARN + "Connection closed by remote peer " + peer + "<1>");

        assertThat(event == null ? "" : event.getPeer()).isEmpty();
    }

    @Test
    void noOtherWordOfALineLeavesIt() {
        String secret = "sk-live-0123456789";
        for (String line : new String[] {
            WARN + "NET/IB : Got completion from peer 10.0.0.7<1234> with status=12 opcode=0 token=" + secret + " hca "
                    + secret,
            secret + ":4711:4790 [5] NCCL WARN socketProgress: Connection closed by remote peer 10.0.0.7<57557> "
                    + secret,
            WARN + "socketStartConnect: Connect to 10.0.0.7<44447> failed : " + secret,
            WARN + "NET/IB : mlx5_3:1 async fatal event: local catastrophic error " + secret,
            WARN + "Call to ibv_modify_qp failed with " + secret + " on dev " + secret,
            WARN + "Error: failed to extend /dev/shm/nccl-" + secret,
            WARN + "Cuda failure '" + secret + "'",
            TORCH + "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=X, " + secret,
            "Finished writing NCCLPG debug info to /home/" + secret + "/trace",
            "[1] finished collective #4, but didn't join collective #5 " + secret,
            "ncclRemoteError: " + secret,
        }) {
            assertThat(event(line).toString())
                    .as(line)
                    .doesNotContain("sk-live")
                    .doesNotContain("0123456789");
        }
    }
}

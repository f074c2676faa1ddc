package dev.unhang.healer.detect.node;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.ClockReading;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.GpuInventory;
import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.KernelEvent;
import dev.unhang.events.v1.KernelKind;
import dev.unhang.events.v1.NicInventory;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.RdmaReading;
import dev.unhang.events.v1.ReadStatus;
import dev.unhang.events.v1.SourceFault;
import dev.unhang.events.v1.Standing;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class PortsClocksAndGpusTest {

    private static final List<String> A = List.of("a");
    private static final ByteString UUID =
            ByteString.copyFrom(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});

    private final Partition partition = new Partition();

    private static Consumer<NodeSample.Builder> nic(OperState state) {
        return sample -> sample.addNics(Partition.nic(state));
    }

    private List<Finding> nicFaults(Standing standing) {
        return partition.findings(IncidentKind.NIC_FAULT, standing);
    }

    @Test
    void aPortThatGoesDownIsSuspectedAtOnceAndConfirmedAfterThreeSeconds() {
        partition.seconds(5, A, nic(OperState.OPER_STATE_UP));
        partition.seconds(1, A, nic(OperState.OPER_STATE_DOWN));
        assertThat(nicFaults(Standing.SUSPECTED)).hasSize(1);
        partition.seconds(2, A, nic(OperState.OPER_STATE_DOWN));
        assertThat(nicFaults(Standing.CONFIRMED)).isEmpty();
        partition.seconds(1, A, nic(OperState.OPER_STATE_DOWN));

        assertThat(nicFaults(Standing.CONFIRMED)).singleElement().satisfies(finding -> {
            assertThat(finding.getSubject()).isEqualTo("nic:a/0000:5c:00.0/0");
            assertThat(finding.getSuspects(0).getConfidence()).isEqualTo("high");
            assertThat(finding.getEvidence(0)).isEqualTo("eth1 (0000:5c:00.0/0) of a was up and its operstate is down");
        });
        assertThat(partition.reports().get(partition.reports().size() - 1).getWell())
                .isFalse();
    }

    @Test
    void aPortIsWellWhenItHasBeenUpForTwoSeconds() {
        partition.seconds(5, A, nic(OperState.OPER_STATE_UP));
        partition.seconds(5, A, nic(OperState.OPER_STATE_DOWN));
        partition.seconds(2, A, nic(OperState.OPER_STATE_UP));
        assertThat(nicFaults(Standing.WELL)).isEmpty();
        partition.seconds(1, A, nic(OperState.OPER_STATE_UP));
        assertThat(nicFaults(Standing.WELL)).hasSize(1);
    }

    @Test
    void aPortThatWasNeverUpIsNoFault() {
        partition.seconds(20, A, nic(OperState.OPER_STATE_DOWN));

        assertThat(partition.findings()).isEmpty();
    }

    @Test
    void aPortWithoutALinkBecauseOfTheOtherEndIsALowSuspicionOnly() {
        partition.seconds(5, A, nic(OperState.OPER_STATE_UP));
        partition.seconds(5, A, nic(OperState.OPER_STATE_LOWER_LAYER_DOWN));
        partition.seconds(1, A, nic(OperState.OPER_STATE_UP));

        assertThat(nicFaults(Standing.CONFIRMED))
                .isNotEmpty()
                .allSatisfy(finding ->
                        assertThat(finding.getSuspects(0).getConfidence()).isEqualTo("low"));
    }

    @Test
    void thatAPortWasTakenDownOnPurposeIsSaid() {
        partition.seconds(5, A, nic(OperState.OPER_STATE_UP));
        partition.seconds(
                5,
                A,
                sample ->
                        sample.addNics(Partition.nic(OperState.OPER_STATE_DOWN).setAdminUp(false)));

        assertThat(nicFaults(Standing.CONFIRMED).get(0).getEvidence(1))
                .isEqualTo("it was taken down on purpose: its flag IFF_UP is cleared");
    }

    @Test
    void aCardThatVanishedIsAFaultButNotWhenItsSourceDidNotAnswer() {
        partition.seconds(5, A, nic(OperState.OPER_STATE_UP));
        partition.seconds(
                5,
                A,
                sample -> sample.addSources(
                        SourceFault.newBuilder().setSource("net").setStatus(ReadStatus.READ_STATUS_STUCK)));
        assertThat(partition.findings()).isEmpty();
        partition.seconds(5, A, sample -> {});
        assertThat(nicFaults(Standing.CONFIRMED)).hasSize(1);
    }

    @Test
    void aPortThatIsUpAgainBeforeItWasConfirmedIsNotConfirmedAfterwards() {
        partition.seconds(5, A, nic(OperState.OPER_STATE_UP));
        partition.seconds(3, A, nic(OperState.OPER_STATE_DOWN));
        partition.seconds(5, A, nic(OperState.OPER_STATE_UP));

        assertThat(nicFaults(Standing.SUSPECTED)).isNotEmpty();
        assertThat(nicFaults(Standing.CONFIRMED)).isEmpty();
        assertThat(nicFaults(Standing.WELL)).hasSize(1);
    }

    @Test
    void aCardThatItsCollectorMissesIsAFaultAndAContainersDeviceIsNot() {
        partition.seconds(
                5,
                A,
                sample -> sample.addNics(Partition.nic(OperState.OPER_STATE_UP))
                        .addNics(Partition.nic(OperState.OPER_STATE_UP).setId("virtual/veth12")));
        partition.seconds(
                4,
                A,
                sample -> sample.addNics(Partition.nic(OperState.OPER_STATE_NOT_PRESENT)
                                .setStatus(ReadStatus.READ_STATUS_ABSENT))
                        .addNics(Partition.nic(OperState.OPER_STATE_NOT_PRESENT)
                                .setId("virtual/veth12")
                                .setStatus(ReadStatus.READ_STATUS_ABSENT)));

        assertThat(nicFaults(Standing.CONFIRMED))
                .singleElement()
                .satisfies(finding -> assertThat(finding.getEvidence(0))
                        .isEqualTo("eth1 (0000:5c:00.0/0) of a was up and is not there any more"));
    }

    @Test
    void aPortThatIsNotReadGetsNeitherWorseNorWell() {
        Consumer<NodeSample.Builder> unread = sample ->
                sample.addSources(SourceFault.newBuilder().setSource("net").setStatus(ReadStatus.READ_STATUS_PENDING));
        partition.seconds(5, A, nic(OperState.OPER_STATE_UP));
        partition.seconds(3, A, nic(OperState.OPER_STATE_DOWN));
        partition.seconds(10, A, unread);
        assertThat(nicFaults(Standing.CONFIRMED)).isEmpty();
        assertThat(nicFaults(Standing.WELL)).isEmpty();

        partition.seconds(1, A, nic(OperState.OPER_STATE_DOWN));
        assertThat(nicFaults(Standing.CONFIRMED)).hasSize(1);
    }

    @Test
    void aBridgeWithoutMembersAndAContainersDeviceAreNoFault() {
        partition.seconds(
                5,
                A,
                sample -> sample.addNics(Partition.nic(OperState.OPER_STATE_UP)
                                .setId("virtual/docker0")
                                .setName("docker0"))
                        .addNics(Partition.nic(OperState.OPER_STATE_UP)
                                .setId("virtual/veth12")
                                .setName("veth12")));
        partition.seconds(
                10,
                A,
                sample -> sample.addNics(Partition.nic(OperState.OPER_STATE_DOWN)
                        .setId("virtual/docker0")
                        .setName("docker0")));

        assertThat(partition.findings()).isEmpty();
    }

    @Test
    void anRdmaPortThatLeavesActiveIsAFaultOfItsPort() {
        partition.seconds(5, A, sample -> sample.addRdma(rdma(4)));
        partition.seconds(4, A, sample -> sample.addRdma(rdma(1)));

        assertThat(nicFaults(Standing.CONFIRMED))
                .extracting(Finding::getSubject)
                .containsExactly("nic:a/0000:5c:00.0/1");
    }

    private static RdmaReading.Builder rdma(int state) {
        return RdmaReading.newBuilder()
                .setId("0000:5c:00.0/1")
                .setName("mlx5_0/1")
                .setState(state);
    }

    @Test
    void whatWaitedInABacklogRaisesAndClearsNothing() {
        partition.seconds(5, A, nic(OperState.OPER_STATE_UP));
        partition.seconds(
                5,
                A,
                sample ->
                        sample.addNics(Partition.nic(OperState.OPER_STATE_DOWN)).setQueuedMs(3_001));
        assertThat(partition.findings()).isEmpty();
        partition.seconds(
                1,
                A,
                sample ->
                        sample.addNics(Partition.nic(OperState.OPER_STATE_DOWN)).setQueuedMs(3_000));
        assertThat(nicFaults(Standing.CONFIRMED))
                .describedAs("but how long it was down is measured on the node")
                .hasSize(1);
        partition.seconds(
                5,
                A,
                sample -> sample.addNics(Partition.nic(OperState.OPER_STATE_UP)).setQueuedMs(3_001));
        assertThat(nicFaults(Standing.WELL)).isEmpty();
    }

    @Test
    void doublesAndLateSamplesAreIgnored() {
        partition.seconds(5, A, nic(OperState.OPER_STATE_UP));
        NodeSample down = partition
                .sample("a")
                .addNics(Partition.nic(OperState.OPER_STATE_DOWN))
                .build();
        partition.feed("a", down.toBuilder().setSeq(5).build());
        partition.feed("a", down.toBuilder().setSeq(4).build());

        assertThat(partition.findings()).isEmpty();
    }

    private static Consumer<NodeSample.Builder> clock(double offsetSeconds) {
        return sample -> sample.setClock(ClockReading.newBuilder()
                .setOffsetNs((long) (offsetSeconds * 1e9))
                .setRootDelayNs(1_000_000)
                .setRootDispersionNs(1_000_000)
                .setStratum(3)
                .setLeap(0));
    }

    @Test
    void aClockThatIsAheadForThreeSamplesIsConfirmedWithSignAndSize() {
        partition.seconds(5, A, clock(0.001));
        partition.seconds(2, A, clock(2.5));
        assertThat(partition.findings(IncidentKind.CLOCK_OFFSET, Standing.CONFIRMED))
                .isEmpty();
        partition.seconds(1, A, clock(2.5));

        assertThat(partition.findings(IncidentKind.CLOCK_OFFSET, Standing.CONFIRMED))
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.getFiguresOrThrow("offset_seconds")).isEqualTo(2.5);
                    assertThat(finding.getEvidence(0))
                            .isEqualTo("clock of a is 2.500 s ahead of its time source (chrony), limit 0.1 s");
                });
    }

    @Test
    void aClockWithinTheLimitIsNoFindingAndOneBeyondItIs() {
        partition.seconds(10, A, clock(-0.095));
        assertThat(partition.findings(IncidentKind.CLOCK_OFFSET, Standing.CONFIRMED))
                .isEmpty();
        assertThat(partition.findings(IncidentKind.CLOCK_OFFSET, Standing.SUSPECTED))
                .isEmpty();
        partition.seconds(3, A, clock(-0.101));
        assertThat(partition.findings(IncidentKind.CLOCK_OFFSET, Standing.CONFIRMED))
                .singleElement()
                .satisfies(finding -> assertThat(finding.getEvidence(0)).contains("behind"));
    }

    @Test
    void aClockIsWellAfterFiveGoodSamplesAndStaysConfirmedUntilThen() {
        partition.seconds(5, A, clock(0.5));
        partition.seconds(4, A, clock(0.01));
        assertThat(partition.findings(IncidentKind.CLOCK_OFFSET, Standing.WELL)).isEmpty();
        partition.seconds(1, A, clock(0.01));
        assertThat(partition.findings(IncidentKind.CLOCK_OFFSET, Standing.WELL)).hasSize(1);
        assertThat(partition.findings(IncidentKind.CLOCK_OFFSET, Standing.SUSPECTED))
                .hasSize(1);
    }

    @Test
    void aMachineThatNeverHadATimeSourceIsANoteAndNoFinding() {
        partition.seconds(
                20,
                A,
                sample -> sample.setClock(
                        ClockReading.newBuilder().setOffsetNs(0).setLeap(3).setStratum(0)));

        assertThat(partition.findings()).isEmpty();
        assertThat(partition.reports().get(1).getNotesList()).containsExactly("clock: chrony is not synchronised");
    }

    private static Consumer<NodeSample.Builder> gpu(ReadStatus status) {
        return sample -> sample.addGpus(GpuReading.newBuilder().setUuid(UUID).setStatus(status));
    }

    @Test
    void aLostGpuIsSuspectedAtOnceAndConfirmedAfterThreeSeconds() {
        partition.seconds(3, A, gpu(ReadStatus.READ_STATUS_OK));
        partition.seconds(3, A, gpu(ReadStatus.READ_STATUS_GPU_IS_LOST));
        assertThat(partition.findings(IncidentKind.GPU_FAULT, Standing.SUSPECTED))
                .hasSize(1);
        assertThat(partition.findings(IncidentKind.GPU_FAULT, Standing.CONFIRMED))
                .isEmpty();
        partition.seconds(1, A, gpu(ReadStatus.READ_STATUS_GPU_IS_LOST));
        assertThat(partition.findings(IncidentKind.GPU_FAULT, Standing.CONFIRMED))
                .extracting(Finding::getSubject)
                .containsExactly("gpu:GPU-01020304-0506-0708-090a-0b0c0d0e0f10");
    }

    @Test
    void whatWasReleasedOrIsStuckIsUnknownAndNoFault() {
        partition.seconds(3, A, gpu(ReadStatus.READ_STATUS_OK));
        partition.seconds(5, A, gpu(ReadStatus.READ_STATUS_RELEASED));
        partition.seconds(5, A, gpu(ReadStatus.READ_STATUS_STUCK));

        assertThat(partition.findings()).isEmpty();
    }

    @Test
    void aFatalXidIsConfirmedAndOneOfAProgramIsNot() {
        partition.seconds(3, A, gpu(ReadStatus.READ_STATUS_OK));
        partition.feed(
                "a",
                NodeInventory.newBuilder()
                        .setBootId(Partition.boot("a"))
                        .addGpus(GpuInventory.newBuilder().setUuid(UUID).setPci("0000:1a:00"))
                        .build());
        partition.feed("a", xid(1, 31));
        partition.seconds(3, A, gpu(ReadStatus.READ_STATUS_OK));
        assertThat(partition.findings()).isEmpty();
        partition.feed("a", xid(2, 79));
        partition.seconds(1, A, gpu(ReadStatus.READ_STATUS_OK));

        assertThat(partition.findings(IncidentKind.GPU_FAULT, Standing.CONFIRMED))
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.getEvidence(0)).isEqualTo("Xid 79 (GPU has fallen off the bus): NVRM: Xid");
                    assertThat(finding.getNodesList()).containsExactly("a");
                    assertThat(finding.getFiguresMap())
                            .containsExactlyInAnyOrderEntriesOf(Map.of("xid", 79.0, "recovery_action", 0.0));
                });
    }

    @Test
    void whatAGpuNeverTellsIsNoFigure() {
        partition.seconds(3, A, gpu(ReadStatus.READ_STATUS_OK));
        partition.feed(
                "a",
                NodeInventory.newBuilder()
                        .setBootId(Partition.boot("a"))
                        .addGpus(GpuInventory.newBuilder()
                                .setUuid(UUID)
                                .setPci("0000:1a:00")
                                .addUnsupported("recovery_action"))
                        .build());
        partition.feed("a", xid(1, 79));
        partition.seconds(1, A, gpu(ReadStatus.READ_STATUS_OK));

        assertThat(partition.findings(IncidentKind.GPU_FAULT, Standing.CONFIRMED))
                .singleElement()
                .satisfies(finding -> assertThat(finding.getFiguresMap()).containsOnlyKeys("xid"));
    }

    @Test
    void whichPortBearsTheDefaultRouteStandsInTheReportOnceTheInventoryToldIt() {
        partition.seconds(2, A, sample -> sample.addNics(Partition.nic(OperState.OPER_STATE_UP)));
        assertThat(partition.reports())
                .isNotEmpty()
                .last()
                .satisfies(report ->
                        assertThat(report.getNics(0).hasDefaultRoute()).isFalse());
        partition.feed(
                "a",
                NodeInventory.newBuilder()
                        .setBootId(Partition.boot("a"))
                        .setHash(UUID)
                        .addNics(NicInventory.newBuilder()
                                .setId("0000:5c:00.0/0")
                                .setName("eth1")
                                .setDefaultRoute(true))
                        .build());
        partition.seconds(12, A, sample -> sample.addNics(Partition.nic(OperState.OPER_STATE_UP)));

        assertThat(partition.reports())
                .last()
                .satisfies(report ->
                        assertThat(report.getNics(0).getDefaultRoute()).isTrue());
    }

    private NodeEvent xid(long seq, int code) {
        return NodeEvent.newBuilder()
                .setBootId(Partition.boot("a"))
                .setCollectorStart(77)
                .setSeq(seq)
                .setMonoNs((partition.stampMs - Partition.START_MS + 5_000) * 1_000_000)
                .setKernel(KernelEvent.newBuilder()
                        .setKind(KernelKind.KERNEL_KIND_XID)
                        .setCode(code)
                        .setPci("0000:1a:00")
                        .setText("NVRM: Xid"))
                .build();
    }
}

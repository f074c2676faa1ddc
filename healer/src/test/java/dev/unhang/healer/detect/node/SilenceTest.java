package dev.unhang.healer.detect.node;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.ActionResult;
import dev.unhang.events.v1.CollectorStopped;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.Learned;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.Watch;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SilenceTest {

    private final Partition partition = new Partition();

    private static void plain(NodeSample.Builder sample) {}

    private void pulses(int seconds) {
        for (int i = 0; i < seconds; i++) {
            partition.tick(1000);
            partition.pulse();
        }
    }

    @Test
    void aNodeThatStopsSpeakingIsSuspectedAtTenSecondsConfirmedAtTwelveAndNoOtherWithIt() {
        partition.seconds(5, List.of("a", "b"), SilenceTest::plain);

        partition.seconds(9, List.of("b"), SilenceTest::plain);
        assertThat(partition.findings()).isEmpty();
        partition.seconds(1, List.of("b"), SilenceTest::plain);
        assertThat(partition.findings(IncidentKind.NODE_SILENT, Standing.SUSPECTED))
                .hasSize(1);
        partition.seconds(1, List.of("b"), SilenceTest::plain);
        assertThat(partition.findings(IncidentKind.NODE_SILENT, Standing.CONFIRMED))
                .isEmpty();
        partition.seconds(1, List.of("b"), SilenceTest::plain);

        assertThat(partition.findings(IncidentKind.NODE_SILENT, Standing.CONFIRMED))
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.getSubject()).isEqualTo("node:a");
                    assertThat(finding.getNodesList()).containsExactly("a");
                    assertThat(finding.getFiguresMap()).containsEntry("silent_seconds", 12.0);
                    assertThat(finding.getEvidence(0)).isEqualTo("no record of node a for 12 s, while the log goes on");
                });
        assertThat(partition.findings())
                .allMatch(finding -> finding.getSubject().equals("node:a"));
    }

    @Test
    void aFindingThatStandsIsSaidOnceAndAgainOnlyWhenAsked() {
        partition.seconds(2, List.of("a"), SilenceTest::plain);
        pulses(60);

        assertThat(partition.findings()).hasSize(2);
        assertThat(partition.detector.standing())
                .filteredOn(Finding.class::isInstance)
                .singleElement()
                .satisfies(
                        message -> assertThat(((Finding) message).getStanding()).isEqualTo(Standing.CONFIRMED));
    }

    @Test
    void aRecordOfAnyAgeProvesThatTheCollectorLives() {
        partition.seconds(2, List.of("a"), SilenceTest::plain);
        pulses(30);
        partition.tick(1000);
        partition.feed("a", partition.sample("a").setQueuedMs(25_000).build());

        assertThat(partition.findings(IncidentKind.NODE_SILENT, Standing.WELL)).hasSize(1);
    }

    @Test
    void whatTheActuatorSaysDoesNotProveThatTheCollectorLives() {
        partition.seconds(2, List.of("a"), SilenceTest::plain);
        ActionResult result = ActionResult.newBuilder().setNode("a").build();
        for (int i = 0; i < 13; i++) {
            partition.tick(1000);
            assertThat(partition.feed("a", result)).containsExactly(result);
            partition.pulse();
        }

        assertThat(partition.findings(IncidentKind.NODE_SILENT, Standing.CONFIRMED))
                .hasSize(1);
    }

    @Test
    void aGoodbyeMakesANodeUnwatchedForTenMinutesAndThenSilent() {
        partition.seconds(3, List.of("a"), SilenceTest::plain);
        partition.feed("a", goodbye(77));

        pulses(609);
        assertThat(partition.findings()).isEmpty();
        assertThat(partition.reports().get(partition.reports().size() - 1).getWatch())
                .isEqualTo(Watch.WATCH_UNWATCHED);
        pulses(1);
        assertThat(partition.findings(IncidentKind.NODE_SILENT, Standing.SUSPECTED))
                .hasSize(1);
    }

    @Test
    void theGoodbyeOfACollectorThatWasAlreadyReplacedCountsForNothing() {
        partition.seconds(3, List.of("a"), SilenceTest::plain);
        partition.seconds(1, List.of("a"), sample -> sample.setCollectorStart(78));
        partition.feed("a", goodbye(77));
        pulses(13);

        assertThat(partition.findings(IncidentKind.NODE_SILENT, Standing.CONFIRMED))
                .hasSize(1);
    }

    private NodeEvent goodbye(long start) {
        return NodeEvent.newBuilder()
                .setBootId(Partition.boot("a"))
                .setCollectorStart(start)
                .setSeq(1)
                .setStopped(CollectorStopped.getDefaultInstance())
                .build();
    }

    @Test
    void aBrokerThatIsAwayForAMinuteUnderTwentyHealthyNodesIsNoFinding() {
        List<String> nodes = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            nodes.add("n" + i);
        }
        partition.seconds(30, nodes, SilenceTest::plain);

        partition.tick(60_000);
        pulses(25); // the owner's connection is back long before the collectors'
        for (String node : nodes) {
            for (int i = 0; i < 85; i++) {
                partition.feed(
                        node,
                        partition.sample(node).setQueuedMs(85_000 - 1000 * i).build());
            }
        }
        partition.seconds(30, nodes, SilenceTest::plain);

        assertThat(partition.findings()).isEmpty();
    }

    @Test
    void aNodeThatNeverCameBackFromAnOutageIsStillFound() {
        partition.seconds(5, List.of("a", "b"), SilenceTest::plain);
        partition.tick(60_000);
        partition.pulse();
        partition.seconds(48, List.of("b"), SilenceTest::plain);

        assertThat(partition.findings(IncidentKind.NODE_SILENT, Standing.CONFIRMED))
                .extracting(Finding::getSubject)
                .containsExactly("node:a");
    }

    @Test
    void stampsThatJumpByAnHourBackAndForthAreNoFinding() {
        partition.seconds(5, List.of("a", "b"), SilenceTest::plain);
        for (int i = 0; i < 10; i++) {
            partition.tick(i % 2 == 0 ? 3_600_000 : -3_600_000);
            partition.seconds(5, List.of("a", "b"), SilenceTest::plain);
        }

        assertThat(partition.findings()).isEmpty();
    }

    @Test
    void aRollingUpgradeOfAllCollectorsIsNoFinding() {
        List<String> nodes = List.of("a", "b", "c");
        partition.seconds(5, nodes, SilenceTest::plain);
        for (String node : nodes) {
            partition.feed(node, goodbye(77));
            List<String> others =
                    nodes.stream().filter(other -> !other.equals(node)).toList();
            partition.seconds(40, others, SilenceTest::plain);
            partition.seconds(
                    3,
                    nodes,
                    sample -> sample.setCollectorStart(
                            sample.getBootId().equals(Partition.boot(node)) ? 90 : sample.getCollectorStart()));
        }

        assertThat(partition.findings()).isEmpty();
    }

    @Test
    void aNodeThatWasSilentIsSilentForTheNextOwnerToo() {
        partition.seconds(5, List.of("a", "b"), SilenceTest::plain);
        partition.seconds(70, List.of("b"), SilenceTest::plain);
        Learned learned = partition.detector.learnedIfDue().orElseThrow();

        Partition next = new Partition(2);
        next.stampMs = partition.stampMs;
        next.feed("", learned);
        next.seconds(2, List.of("b"), SilenceTest::plain);

        assertThat(next.findings(IncidentKind.NODE_SILENT, Standing.CONFIRMED))
                .extracting(Finding::getSubject)
                .containsExactly("node:a");
        assertThat(next.detector.standing())
                .filteredOn(NodeReport.class::isInstance)
                .hasSize(2);
    }

    @Test
    void twoMachinesUnderOneNameAreFoundWhenBothSpeak() {
        partition.seconds(3, List.of("a"), SilenceTest::plain);
        machine(77, "machine-one-----");
        partition.seconds(1, List.of("a"), sample -> sample.setCollectorStart(99));
        machine(99, "machine-two-----");
        partition.seconds(1, List.of("a"), sample -> sample.setCollectorStart(77));
        partition.seconds(1, List.of("a"), sample -> sample.setCollectorStart(99));

        assertThat(partition.findings(IncidentKind.DUPLICATE_NODE, Standing.CONFIRMED))
                .hasSize(1);
    }

    private void machine(long start, String id) {
        partition.feed(
                "a",
                dev.unhang.events.v1.NodeInventory.newBuilder()
                        .setBootId(Partition.boot("a"))
                        .setCollectorStart(start)
                        .setMachineId(ByteString.copyFromUtf8(id))
                        .build());
    }
}

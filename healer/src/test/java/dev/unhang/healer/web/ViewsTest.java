package dev.unhang.healer.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.Pulse;
import dev.unhang.events.v1.StateValue;
import dev.unhang.events.v1.Watch;
import org.junit.jupiter.api.Test;

class ViewsTest {

    private static final long T = 1_767_225_600_000L;

    private final Views views = new Views(new Views.Limits(2, 2, 100));

    private void incident(String id, IncidentState state) {
        views.onState(
                "incident/" + id,
                StateValue.newBuilder()
                        .setIncident(Incident.newBuilder().setId(id).setState(state))
                        .build());
    }

    private void report(String node, long generation, Watch watch) {
        views.onInbox(
                NodeReport.newBuilder()
                        .setNode(node)
                        .setOrigin(Served.origin(3, generation))
                        .setWatch(watch)
                        .build(),
                T,
                0);
    }

    private void covered(int partition, long generation, long stampMs, long lagMs) {
        views.onInbox(
                Covered.newBuilder()
                        .setOrigin(Served.origin(partition, generation))
                        .setLagMs(lagMs)
                        .build(),
                stampMs,
                0);
    }

    @Test
    void openIncidentsAreNeverLeftOutAndOfTheClosedTheNewestStay() {
        incident("open-1", IncidentState.INCIDENT_HELD);
        incident("open-2", IncidentState.INCIDENT_ESCALATED);
        incident("open-3", IncidentState.INCIDENT_SUSPECTED);
        incident("closed-1", IncidentState.INCIDENT_RESOLVED);
        incident("closed-2", IncidentState.INCIDENT_DISMISSED);
        incident("closed-3", IncidentState.INCIDENT_RESOLVED);
        assertThat(views.incidents())
                .extracting(Incident::getId)
                .containsExactlyInAnyOrder("open-1", "open-2", "open-3", "closed-2", "closed-3");
    }

    @Test
    void aTombstoneForgets() {
        incident("a", IncidentState.INCIDENT_HELD);
        views.onState("incident/a", null);
        assertThat(views.incident("a")).isEmpty();

        report("node-1", 1, Watch.WATCH_WATCHED);
        views.onState("node/node-1", null);
        assertThat(views.nodes()).isEmpty();
    }

    @Test
    void aForgottenNodeIsNotShown() {
        report("node-1", 1, Watch.WATCH_WATCHED);
        views.onState(
                "node/node-1",
                StateValue.newBuilder()
                        .setNode(NodeState.newBuilder().setForgotten(true))
                        .build());
        assertThat(views.knowsNode("node-1")).isFalse();
        report("node-1", 1, Watch.WATCH_SILENT);
        assertThat(views.knowsNode("node-1")).as("said again to be silent").isFalse();
        report("node-1", 1, Watch.WATCH_WATCHED);
        assertThat(views.knowsNode("node-1")).as("it speaks again").isTrue();
    }

    @Test
    void moreNodesThanTheLimitAreCountedAndNotKept() {
        report("a", 1, Watch.WATCH_WATCHED);
        report("b", 1, Watch.WATCH_WATCHED);
        report("c", 1, Watch.WATCH_WATCHED);
        report("a", 1, Watch.WATCH_SILENT);
        assertThat(views.nodes()).containsExactly("a", "b");
        assertThat(views.nodesLeftOut()).isEqualTo(1);
        assertThat(NodeJson.watch(views.seen("a"))).isEqualTo("silent");
    }

    @Test
    void anOwnerOfAnEarlierGenerationIsNotHeard() {
        report("a", 5, Watch.WATCH_WATCHED);
        report("a", 4, Watch.WATCH_SILENT);
        assertThat(NodeJson.watch(views.seen("a"))).isEqualTo("watched");
        covered(3, 5, T, 0);
        covered(3, 4, T, 60_000);
        assertThat(views.covered(3)).isTrue();
    }

    @Test
    void aCoverCountsWhileItIsYoungerThanFiveSecondsOfLogTimeAndItsLagIsUnderFive() {
        covered(3, 1, T, 4_999);
        assertThat(views.covered(3)).isTrue();
        covered(3, 1, T, 5_000);
        assertThat(views.covered(3)).isFalse();

        covered(3, 1, T, 0);
        pulse(T + 2_000);
        pulse(T + 4_000);
        pulse(T + 4_999);
        assertThat(views.covered(3)).isTrue();
        pulse(T + 5_000);
        assertThat(views.covered(3)).isFalse();
        assertThat(views.covered(4)).as("never covered").isFalse();
    }

    @Test
    void blindnessNamesThePartitionsTogether() {
        for (int partition = 0; partition < 12; partition++) {
            if (partition != 4 && partition != 7) {
                covered(partition, 1, T, partition == 9 ? 8_000 : 10);
            }
        }
        views.caughtUp(0);
        assertThat(views.blind(0))
                .containsExactly(
                        "telemetry partition 9 is judged 8 s late",
                        "telemetry partitions 4, 7 are not covered by any healer");
    }

    @Test
    void aQuietInboxIsBlindAfterFiveSeconds() {
        for (int partition = 0; partition < 12; partition++) {
            covered(partition, 1, T, 10);
        }
        views.caughtUp(0);
        assertThat(views.blind(4_999_999_999L)).isEmpty();
        assertThat(views.blind(5_000_000_000L))
                .singleElement()
                .asString()
                .startsWith("nothing came to the inbox for 5 s");
    }

    @Test
    void keysOfALaterVersionAreSkipped() {
        views.onState("quota/x", StateValue.getDefaultInstance());
        views.onState("", StateValue.getDefaultInstance());
        assertThat(views.incidents()).isEmpty();
    }

    private void pulse(long stampMs) {
        views.onInbox(Pulse.getDefaultInstance(), stampMs, 0);
    }
}

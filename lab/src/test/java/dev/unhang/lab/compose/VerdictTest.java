package dev.unhang.lab.compose;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.Suspect;
import dev.unhang.healer.replay.Line;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The rules of {@code lab/score.py}: what covers what, who is right, what is a false alarm. */
class VerdictTest {

    private static final Label FAULT =
            new Label("job-hang", 100, 200, "x", List.of(new Label.Culprit("node-1", 3)), List.of("node-7"), true);

    private static Line line(double seconds, String event, IncidentKind kind, String id, String node, int rank) {
        return new Line(
                seconds,
                event,
                "",
                Incident.newBuilder()
                        .setId(id)
                        .setKind(kind)
                        .setFinding(Finding.newBuilder()
                                .addSuspects(Suspect.newBuilder().setNode(node).setRank(rank)))
                        .build(),
                null);
    }

    private static Line hang(double seconds, String event, String id) {
        return line(seconds, event, IncidentKind.JOB_HANG, id, "node-1", 3);
    }

    private static Verdict verdict(List<Label> labels, List<Occasion> occasions, Line... lines) {
        Plan plan = new Plan(1, "x", Setting.draw(new Draw(1)), List.of(), List.of(), null, labels, occasions, 400);
        return Verdict.of(plan, true, occasions, List.of(lines));
    }

    @Test
    void aHangThatIsConfirmedWithItsCulpritAndClosedIsRight() {
        Verdict verdict = verdict(
                List.of(FAULT),
                List.of(),
                hang(106, "suspected", "a"),
                hang(120, "confirmed", "a"),
                hang(260, "resolved", "a"));

        assertThat(verdict.faults()).singleElement().satisfies(fault -> {
            assertThat(fault.outcome()).isEqualTo(Verdict.Outcome.RIGHT);
            assertThat(fault.suspected()).isEqualTo(6);
            assertThat(fault.confirmed()).isEqualTo(20);
            assertThat(fault.closed()).isTrue();
        });
        assertThat(verdict.shortfalls()).isEmpty();
    }

    @Test
    void anotherRankIsWrongAndAnAcceptedNodeIsNot() {
        Verdict wrong =
                verdict(List.of(FAULT), List.of(), line(120, "confirmed", IncidentKind.JOB_HANG, "a", "node-1", 2));
        Verdict accepted =
                verdict(List.of(FAULT), List.of(), line(120, "confirmed", IncidentKind.JOB_HANG, "a", "node-7", 2));

        assertThat(wrong.faults().get(0).outcome()).isEqualTo(Verdict.Outcome.WRONG);
        assertThat(accepted.faults().get(0).outcome()).isEqualTo(Verdict.Outcome.RIGHT);
    }

    @Test
    void aSecondIncidentForAFaultIsAFalseAlarm() {
        Verdict verdict = verdict(List.of(FAULT), List.of(), hang(120, "confirmed", "a"), hang(150, "confirmed", "b"));

        assertThat(verdict.falseAlarms()).singleElement().satisfies(alarm -> {
            assertThat(alarm.seconds()).isEqualTo(150);
            assertThat(alarm.during()).isEqualTo(FAULT);
        });
    }

    @Test
    void slownessSaidOfAHangIsAnotherKindAndAFalseAlarm() {
        Verdict verdict =
                verdict(List.of(FAULT), List.of(), line(120, "confirmed", IncidentKind.JOB_SLOW, "a", "node-1", 3));

        assertThat(verdict.faults().get(0).outcome()).isEqualTo(Verdict.Outcome.ANOTHER_KIND);
        assertThat(verdict.falseAlarms()).hasSize(1);
    }

    @Test
    void aFaultIsCoveredFromASecondBeforeItToTenAfterIt() {
        Verdict inside = verdict(List.of(FAULT), List.of(), hang(99, "suspected", "a"), hang(210, "confirmed", "a"));
        Verdict before = verdict(List.of(FAULT), List.of(), hang(98.9, "suspected", "a"));
        Verdict after = verdict(List.of(FAULT), List.of(), hang(210.1, "confirmed", "a"));

        assertThat(inside.uncovered()).isEmpty();
        assertThat(inside.falseAlarms()).isEmpty();
        assertThat(before.uncovered()).hasSize(1);
        assertThat(after.falseAlarms()).hasSize(1);
    }

    @Test
    void whatIsSaidInAPauseIsPutDownToIt() {
        Occasion pause = new Occasion("checkpoint by rank 0", 50, 90, true, false, true);
        Verdict verdict = verdict(List.of(), List.of(pause), hang(60, "suspected", "a"), hang(85, "confirmed", "a"));

        assertThat(verdict.falseAlarms()).extracting(Verdict.Alarm::occasion).containsExactly(pause);
        assertThat(verdict.uncovered()).extracting(Verdict.Alarm::occasion).containsExactly(pause);
        assertThat(new Confusion(List.of(verdict)).occasionTable())
                .contains("| checkpoint by rank 0 | first | I/O visible | 1 |  |  | 1 | 40 s |  |");
    }

    @Test
    void aFaultOfWhichNothingWasSaidIsMissed() {
        Verdict verdict = verdict(List.of(FAULT), List.of());

        assertThat(verdict.shortfalls()).containsOnlyKeys(Verdict.Shortfall.MISSED);
        assertThat(new Confusion(List.of(verdict)).shortfalls(5)).hasSize(2);
    }
}

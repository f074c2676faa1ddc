package dev.unhang.lab.compose;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Composed traces through detection and decision. The limits are what the detectors reach, with a little room: whoever
 * makes them better makes the limits tighter. The tables are written to {@code target}.
 */
class ComposedTracesTest {

    private static final Path HOME = Path.of("..");

    /** Reported apart: hardly to be told from slow or busy work by counters. */
    private static final List<String> APART = List.of(Cause.NO_PROGRESS.words(), Cause.STUCK_KERNEL.words());

    /**
     * What must hold of many traces.
     *
     * @param falseAlarms at most, likewise {@code uncovered} and {@code notClosed}
     * @param suspected at least this share of hangs, likewise {@code confirmed} and {@code right} of culprits
     */
    private record Limits(
            double falseAlarms, double uncovered, int notClosed, double suspected, double confirmed, double right) {}

    private static final int FEW = 60;
    private static final int MANY = 500;

    private static final Limits FEW_WITH = new Limits(6, 30, 0, 0.9, 0.8, 0.9);
    private static final Limits FEW_WITHOUT = new Limits(8, 50, 0, 0.75, 0.6, 0.9);
    private static final Limits MANY_WITH = new Limits(50, 250, 2, 0.9, 0.85, 0.9);
    private static final Limits MANY_WITHOUT = new Limits(50, 400, 2, 0.75, 0.65, 0.9);

    private static Runner runner;

    @BeforeAll
    static void readTheRecordings() throws IOException {
        runner = new Runner(Segments.read(HOME.resolve("lab/traces")));
    }

    private static Confusion confusion(int count, boolean heartbeats) throws IOException, InterruptedException {
        return new Confusion(runner.judge(0, count, heartbeats, done -> {}));
    }

    private static void within(Limits limits, Confusion confusion) {
        assertThat((double) confusion.falseAlarms()).as("false alarms").isLessThanOrEqualTo(limits.falseAlarms());
        assertThat((double) confusion.uncovered())
                .as("suspicions without a fault")
                .isLessThanOrEqualTo(limits.uncovered());
        assertThat(confusion.notClosed()).as("not closed").isLessThanOrEqualTo(limits.notClosed());
        assertThat(confusion.suspectedShare("job-hang", APART))
                .as("share of hangs suspected")
                .isGreaterThanOrEqualTo(limits.suspected());
        assertThat(confusion.confirmedShare("job-hang", APART))
                .as("share of hangs confirmed")
                .isGreaterThanOrEqualTo(limits.confirmed());
        assertThat(confusion.culpritsRight()).as("share of culprits right").isGreaterThanOrEqualTo(limits.right());
    }

    private static void judge(int count, Limits with, Limits without) throws IOException, InterruptedException {
        Confusion told = confusion(count, true);
        Confusion untold = confusion(count, false);
        Path page = Path.of("target", "confusion-" + count + ".md");
        Files.write(page, new ConfusionPage(0, count, told, untold).lines(), StandardCharsets.UTF_8);
        within(with, told);
        within(without, untold);
    }

    @Test
    void sixtyJobsAreJudgedWithinTheLimits() throws IOException, InterruptedException {
        judge(FEW, FEW_WITH, FEW_WITHOUT);
    }

    @Test
    @Tag("long")
    void fiveHundredJobsAreJudgedWithinTheLimits() throws IOException, InterruptedException {
        judge(MANY, MANY_WITH, MANY_WITHOUT);
    }

    @Test
    void aSecondRunSaysTheSame() throws IOException {
        assertThat(runner.judge(7, true).lines())
                .isEqualTo(runner.judge(7, true).lines())
                .isNotEmpty();
    }
}

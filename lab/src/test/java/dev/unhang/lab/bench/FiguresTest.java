package dev.unhang.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class FiguresTest {

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final Figures figures = new Figures(new PrintStream(printed, true, StandardCharsets.UTF_8));

    @Test
    void aPercentileIsOneOfTheMeasuredValues() {
        Percentiles hundred = new Percentiles(
                IntStream.rangeClosed(1, 100).mapToDouble(i -> 101 - i).toArray());
        assertThat(hundred.least()).isEqualTo(1);
        assertThat(hundred.median()).isEqualTo(50);
        assertThat(hundred.at(99)).isEqualTo(99);
        assertThat(hundred.most()).isEqualTo(100);
        assertThat(new Percentiles(new double[] {7}).at(99)).isEqualTo(7);
    }

    @Test
    void nothingMeasuredHasNoPercentile() {
        assertThatThrownBy(() -> new Percentiles(new double[0])).hasMessageContaining("no value was measured");
    }

    @Test
    void aLimitIsMissedOnItsWrongSideOnly() {
        figures.below("a", 249.9, "ms", 250);
        figures.below("b", 250, "ms", 250);
        figures.atMost("c", 2.5, "s", 2.5);
        figures.atMost("d", 2.51, "s", 2.5);
        figures.atLeast("e", 50_000, "records/s", 50_000);
        figures.atLeast("f", 49_999, "records/s", 50_000);
        figures.tell("g", 1, "");
        assertThat(figures.missed()).containsExactly("b", "d", "f");
        assertThat(printed.toString(StandardCharsets.UTF_8)).contains("49,999").contains(">= 50,000  MISSED");
    }

    @Test
    void theFirstHalfOfThePassesWarmsUpAndWhatADepthAddsIsItsOwn() {
        Percentiles starts = new Percentiles(new double[] {1.5});
        ReplaySpeed.Speed speed = ReplaySpeed.speed(
                starts,
                List.of(
                        "PARSE 9000000 9000000 100",
                        "DETECT 9000000 9000000 100",
                        "DECIDE 9000000 9000000 100",
                        "PARSE 1000000 2000000 100",
                        "DETECT 1500000 3000000 100",
                        "DECIDE 2000000 4000000 100"));
        assertThat(speed.parseUs()).isEqualTo(10);
        assertThat(speed.detectUs()).isEqualTo(5);
        assertThat(speed.decideUs()).isEqualTo(5);
        assertThat(speed.perCpuSecond().median()).isEqualTo(50_000);
        assertThat(speed.perWallSecond().median()).isEqualTo(25_000);
    }

    @Test
    void aMachineIsCalledByItsFirstProcessor() {
        assertThat(Machine.model(List.of("processor\t: 0", "model name\t: Some CPU @ 2 GHz", "model name\t: Other")))
                .isEqualTo("Some CPU @ 2 GHz");
        assertThat(Machine.model(List.of("processor\t: 0"))).isEqualTo("unknown");
    }
}

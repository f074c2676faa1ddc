package dev.unhang.healer.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * All recorded traces through detection and decision, with and without heartbeats. The labels are read here and nowhere
 * else. The figures are written to {@code target/scores.txt}.
 */
class TraceScoresTest {

    private static final Path TRACES = Path.of("../lab/traces");

    private static List<Path> traces() throws IOException {
        try (Stream<Path> files = Files.list(TRACES)) {
            return files.filter(file -> file.toString().endsWith(".jsonl.gz"))
                    .sorted()
                    .toList();
        }
    }

    private static Score score(boolean heartbeats) throws IOException {
        Score score = new Score();
        for (Path file : traces()) {
            List<Line> lines = new ArrayList<>();
            Replay.run(file, heartbeats, (name, line) -> lines.add(line));
            score.add(Labels.of(file), lines);
        }
        Path report = Path.of("target", heartbeats ? "scores.txt" : "scores-without-heartbeats.txt");
        Files.write(report, score.report(), StandardCharsets.UTF_8);
        return score;
    }

    @Test
    void withHeartbeatsEachHangIsSuspectedInSecondsAndNoPauseIsTakenForOne() throws IOException {
        Score score = score(true);

        assertThat(traces()).hasSize(21);
        assertThat(score.falseAlarms()).isEmpty();
        assertThat(score.uncoveredSuspicions()).isEmpty();
        assertThat(score.notSuspectedWithin(8)).isEmpty();
        assertThat(score.composedNotConfirmedWithin(80)).isEmpty();
        assertThat(score.wrongCulprits()).isEmpty();
        assertThat(score.notClosed()).isEmpty();
        assertThat(score.suspectedMedian()).isLessThanOrEqualTo(6);
        assertThat(score.composedConfirmedMedian()).isLessThanOrEqualTo(25);
        assertThat(score.slow("straggler").suspected()).isLessThanOrEqualTo(12);
        assertThat(score.slow("c-8-ranks-straggler").confirmed()).isLessThanOrEqualTo(15);
        assertThat(score.slow("c-8-ranks-straggler").culprit()).isTrue();
    }

    @Test
    void withoutHeartbeatsTheSameLater() throws IOException {
        Score score = score(false);

        assertThat(score.falseAlarms()).isEmpty();
        assertThat(score.uncoveredSuspicions()).isEmpty();
        assertThat(score.notSuspectedWithin(12)).isEmpty();
        assertThat(score.composedNotConfirmedWithin(155)).isEmpty();
        assertThat(score.wrongCulprits()).isEmpty();
        assertThat(score.notClosed()).isEmpty();
        assertThat(score.composedConfirmedMedian()).isLessThanOrEqualTo(25);
    }

    @Test
    void aRankThatNeverCameIsMissingAndItsNodeIsNamed() throws IOException {
        List<Line> lines = new ArrayList<>();
        Replay.run(TRACES.resolve("c-rank-absent.jsonl.gz"), true, (name, line) -> lines.add(line));

        assertThat(lines)
                .filteredOn(line -> line.event().equals("confirmed"))
                .singleElement()
                .satisfies(line -> {
                    assertThat(line.finding().getSuspects(0).getRank()).isEqualTo(1);
                    assertThat(line.finding().getSuspects(0).getNode()).isEqualTo("node-1");
                    assertThat(line.seconds()).isLessThan(660);
                });
    }

    @Test
    void aSecondReplayGivesTheSameLines() throws IOException {
        Path file = TRACES.resolve("c-stalls-twice.jsonl.gz");
        List<Line> first = new ArrayList<>();
        List<Line> second = new ArrayList<>();
        Replay.run(file, true, (name, line) -> first.add(line));
        Replay.run(file, true, (name, line) -> second.add(line));

        assertThat(second).isEqualTo(first).isNotEmpty();
    }

    @Test
    void theEvidenceOfAStoppedRankCanBeChecked() throws IOException {
        List<Line> lines = new ArrayList<>();
        Replay.run(TRACES.resolve("c-16-ranks-stopped.jsonl.gz"), true, (name, line) -> lines.add(line));
        String evidence = lines.stream()
                .filter(line -> line.event().equals("confirmed"))
                .map(line -> String.join("\n", line.finding().getEvidenceList()))
                .findFirst()
                .orElseThrow()
                .toLowerCase(Locale.ROOT);

        assertThat(evidence)
                .contains("no progress of train-c-16-ranks-stopped for ")
                .contains("rank 11 on node-11 is in process state t (stopped)")
                .contains("while 15 of 16 ranks wait in a collective");
    }
}

package dev.unhang.collector.source.nccl;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.collector.source.libc.RegularFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogTailTest {

    @TempDir
    Path dir;

    private final List<String> lines = new ArrayList<>();

    private Path file(String text) throws IOException {
        return Files.writeString(dir.resolve("log"), text);
    }

    private static void append(Path file, String text) throws IOException {
        Files.write(file, text.getBytes(StandardCharsets.ISO_8859_1), StandardOpenOption.APPEND);
    }

    private static RegularFile open(Path file) throws IOException {
        return RegularFile.open(file, requireNonNull(RegularFile.identity(file)));
    }

    private static LogTail fromEnd(Path file) throws IOException {
        return LogTail.fromEnd(open(file), LogTail.newBuffer());
    }

    @Test
    void onlyWhatIsWrittenFromNowOnIsRead() throws IOException {
        Path file = file("old\n");
        try (LogTail tail = fromEnd(file)) {
            append(file, "one\ntwo\nthr");
            tail.drain(lines::add);
            assertThat(lines).containsExactly("one", "two");
            append(file, "ee\n");
            tail.drain(lines::add);
            assertThat(lines).containsExactly("one", "two", "three");
            assertThat(tail.drain(lines::add)).isZero();
        }
    }

    @Test
    void aLineThatWasHalfWrittenWhenItBeganIsLeftOut() throws IOException {
        Path file = file("old\nhalf");
        try (LogTail tail = fromEnd(file)) {
            append(file, " a line\nnew\n");
            tail.drain(lines::add);

            assertThat(lines).containsExactly("new");
        }
    }

    @Test
    void aNewFileIsReadFromItsStart() throws IOException {
        try (LogTail tail = LogTail.fromStart(open(file("one\n")), LogTail.newBuffer())) {
            tail.drain(lines::add);

            assertThat(lines).containsExactly("one");
        }
    }

    @Test
    void aFileThatWasTruncatedIsReadFromItsStart() throws IOException {
        Path file = file("a long line of before\n");
        try (LogTail tail = fromEnd(file)) {
            append(file, "partial");
            tail.drain(lines::add);
            Files.writeString(file, "new\n");
            tail.drain(lines::add);

            assertThat(lines).containsExactly("new");
        }
    }

    @Test
    void aFileThatWasRenamedIsReadOnForItsWriterWritesOnInIt() throws IOException {
        Path file = file("");
        try (LogTail tail = fromEnd(file)) {
            Path moved = Files.move(file, dir.resolve("log.1"));
            append(moved, "late\n");
            tail.drain(lines::add);

            assertThat(lines).containsExactly("late");
        }
    }

    @Test
    void ofMoreThanACallTakesTheLatestIsReadAndTheRestIsCounted() throws IOException {
        Path file = file("");
        try (LogTail tail = fromEnd(file)) {
            append(file, "x".repeat(LogTail.MOST_A_CALL) + "\nlast\n");
            assertThat(tail.drain(lines::add)).isEqualTo(LogTail.MOST_A_CALL);

            assertThat(lines).containsExactly("last");
            assertThat(tail.skips()).isEqualTo(1);
        }
    }

    @Test
    void exactlyWhatACallTakesIsReadWhole() throws IOException {
        Path file = file("");
        try (LogTail tail = fromEnd(file)) {
            append(file, "first\n" + "x".repeat(LogTail.MOST_A_CALL - 7) + "\n");
            tail.drain(lines::add);

            assertThat(lines.get(0)).isEqualTo("first");
            assertThat(tail.skips()).isZero();
        }
    }

    @Test
    void ofAHugeLineOnlyTheBeginningCounts() throws IOException {
        Path file = file("");
        try (LogTail tail = fromEnd(file)) {
            for (int i = 0; i < 10; i++) {
                append(file, "y".repeat(200_000));
                tail.drain(lines::add);
            }
            append(file, "\nafter\n");
            tail.drain(lines::add);

            assertThat(lines).hasSize(2);
            assertThat(lines.get(0)).hasSize(LogTail.LONGEST_LINE);
            assertThat(lines.get(1)).isEqualTo("after");
        }
    }

    @Test
    void aProgressBarIsManyLines() throws IOException {
        Path file = file("");
        try (LogTail tail = fromEnd(file)) {
            append(file, "10%\r20%\r\n30%\0");
            tail.drain(lines::add);

            assertThat(lines).containsExactly("10%", "20%", "30%");
        }
    }

    @Test
    void binaryGarbageIsSurvivedAndWhatFollowsIsRead() throws IOException {
        byte[] garbage = new byte[100_000];
        new Random(7).nextBytes(garbage);
        Path file = file("");
        NcclLines parser = new NcclLines();
        try (LogTail tail = fromEnd(file)) {
            Files.write(file, garbage, StandardOpenOption.APPEND);
            append(file, "\nConnection closed by remote peer 10.0.0.7<5>\n");
            tail.drain(line -> {
                if (parser.parse(line) != null && Speaker.of(line).equals(Speaker.UNKNOWN)) {
                    lines.add(line);
                }
            });

            assertThat(lines).containsExactly("Connection closed by remote peer 10.0.0.7<5>");
        }
    }
}

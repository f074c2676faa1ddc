package dev.unhang.collector.source.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.collector.source.Source.Reading;
import dev.unhang.events.v1.NcclEvent;
import dev.unhang.events.v1.NcclKind;
import dev.unhang.events.v1.NodeEvent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Real files behind a tree in the shape of {@code /proc}. */
class NcclSourceTest {

    private static final long SECOND = 1_000_000_000L;
    private static final String CLOSED = "NCCL WARN socketProgress: Connection closed by remote peer ";

    @TempDir
    Path dir;

    private Path proc;
    private final AtomicLong now = new AtomicLong(100 * SECOND);
    private final List<RankProcess> ranks = new ArrayList<>();
    private NcclSource source;

    @BeforeEach
    void aNode() throws IOException {
        proc = dir.resolve("proc");
        write(proc.resolve("sys/kernel/hostname"), "node-1.cluster.example\n");
        source = new NcclSource(proc, () -> List.copyOf(ranks), now::get);
    }

    @AfterEach
    void close() {
        source.close();
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private static void append(Path file, String text) throws IOException {
        Files.write(file, text.getBytes(StandardCharsets.UTF_8), StandardOpenOption.APPEND, StandardOpenOption.CREATE);
    }

    /** A rank whose root directory is the test's own. */
    private void rank(int pid, int rank, String... environ) throws IOException {
        Path own = proc.resolve(Integer.toString(pid));
        write(own.resolve("status"), "Name:\tpython3\nNSpid:\t" + pid + "\t" + (pid + 10) + "\n");
        write(own.resolve("environ"), String.join("\0", environ) + "\0");
        Files.createDirectories(own.resolve("fd"));
        Files.createDirectories(dir.resolve("root"));
        Files.createSymbolicLink(own.resolve("root"), dir.resolve("root"));
        Files.createSymbolicLink(own.resolve("cwd"), dir.resolve("root"));
        ranks.add(new RankProcess(pid, 10L * pid, rank));
    }

    private void standardError(int pid, Path target) throws IOException {
        Path link = proc.resolve(pid + "/fd/2");
        Files.deleteIfExists(link);
        Files.createSymbolicLink(link, target);
    }

    private List<NcclEvent> read() {
        now.addAndGet(SECOND);
        Reading reading = source.read();
        return reading.events().stream().map(NodeEvent::getNccl).toList();
    }

    @Test
    void whatARankSaysOnItsStandardErrorIsItsOwn() throws IOException {
        Path file = dir.resolve("rank0.err");
        write(file, CLOSED + "10.0.0.1<5>\n");
        rank(40, 0);
        standardError(40, file);

        assertThat(read()).isEmpty();
        append(file, CLOSED + "10.0.0.7<5>\n");
        assertThat(read())
                .containsExactly(NcclEvent.newBuilder()
                        .setPid(40)
                        .setStartTicks(400)
                        .setKind(NcclKind.NCCL_KIND_CONNECTION_CLOSED)
                        .setPeer("10.0.0.7")
                        .setCount(1)
                        .build());
        assertThat(read()).isEmpty();
    }

    @Test
    void theFileThatNcclIsToldToWriteIsFoundWithHostAndPidAndReadFromItsStart() throws IOException {
        rank(40, 0, "NCCL_DEBUG_FILE=/logs/nccl.%h.%p.log");
        assertThat(read()).isEmpty();
        // NCCL writes the pid that it has in its own namespace.
        write(dir.resolve("root/logs/nccl.node-1.50.log"), CLOSED + "10.0.0.7<5>\n");

        assertThat(read()).hasSize(1);
    }

    @Test
    void inAContainerTheHostIsThatOfTheContainer() throws IOException {
        rank(40, 0, "NCCL_DEBUG_FILE=nccl.%h.log");
        write(dir.resolve("root/etc/hostname"), "pod-7\n");
        read();
        write(dir.resolve("root/nccl.pod-7.log"), "pod-7:50:60 [0] " + CLOSED + "10.0.0.7<5>\n");

        assertThat(read()).hasSize(1);
    }

    @Test
    void aFileThatIsThereAlreadyIsReadFromItsEnd() throws IOException {
        write(dir.resolve("root/nccl.log"), CLOSED + "10.0.0.1<5>\n");
        rank(40, 0, "NCCL_DEBUG_FILE=/nccl.log");

        assertThat(read()).isEmpty();
        append(dir.resolve("root/nccl.log"), CLOSED + "10.0.0.7<5>\n");
        assertThat(read()).extracting(NcclEvent::getPeer).containsExactly("10.0.0.7");
    }

    @Test
    void aFileThatNcclBeginsAnewIsReadFromItsStart() throws IOException {
        write(dir.resolve("root/nccl.log"), "x".repeat(500));
        rank(40, 0, "NCCL_DEBUG_FILE=/nccl.log");
        read();
        write(dir.resolve("root/nccl.log"), CLOSED + "10.0.0.7<5>\n");

        assertThat(read()).hasSize(1);
    }

    @Test
    void afterARotationBothFilesAreRead() throws IOException {
        Path file = dir.resolve("root/nccl.log");
        rank(40, 0, "NCCL_DEBUG_FILE=/nccl.log");
        write(file, "");
        read();
        Files.move(file, dir.resolve("root/nccl.log.1"));
        append(dir.resolve("root/nccl.log.1"), CLOSED + "10.0.0.7<5>\n");
        write(file, CLOSED + "10.0.0.8<5>\n");

        assertThat(read()).extracting(NcclEvent::getPeer).containsExactlyInAnyOrder("10.0.0.7", "10.0.0.8");
        assertThat(source.open()).isEqualTo(2);
        for (int i = 0; i < 61; i++) {
            read();
        }
        assertThat(source.open()).isEqualTo(1);
    }

    @Test
    void inAFileOfSeveralRanksEachLineIsOfTheOneThatSaysSo() throws IOException {
        Path file = dir.resolve("job.out");
        write(file, "");
        rank(40, 0);
        rank(41, 1);
        standardError(40, file);
        standardError(41, file);
        read();
        append(file, "node-1:51:9 [1] " + CLOSED + "10.0.0.7<5>\n");
        append(file, "node-2:50:9 [1] " + CLOSED + "10.0.0.8<5>\n"); // of another node that writes the same file
        append(file, "[rank0]:[E ProcessGroupNCCL.cpp:1] [PG ID 0 PG GUID 0(default_pg) Rank 0] NCCL work failed\n");
        append(file, "\t     [1] finished collective #4, but didn't join collective #5 (count from 1)\n");
        append(file, "[rank9]:[E ProcessGroupNCCL.cpp:1] " + CLOSED + "10.0.0.9<5>\n");

        assertThat(read())
                .extracting(NcclEvent::getPid, NcclEvent::getKind, NcclEvent::getPeer)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple(41, NcclKind.NCCL_KIND_CONNECTION_CLOSED, "10.0.0.7"),
                        org.assertj.core.groups.Tuple.tuple(40, NcclKind.NCCL_KIND_DESYNC, ""));
        assertThat(source.open()).isEqualTo(1);
    }

    @Test
    void aLineThatNamesNobodyInAFileOfSeveralRanksIsNobodys() throws IOException {
        Path file = dir.resolve("job.out");
        write(file, "");
        rank(40, 0);
        rank(41, 1);
        standardError(40, file);
        standardError(41, file);
        read();
        append(file, CLOSED + "10.0.0.7<5>\n");

        assertThat(read()).isEmpty();
    }

    @Test
    void theLastWordsOfARankThatEndsAreRead() throws IOException {
        Path file = dir.resolve("rank0.err");
        write(file, "");
        rank(40, 0);
        standardError(40, file);
        read();
        append(file, CLOSED + "10.0.0.7<5>\n");
        ranks.clear();

        assertThat(read()).hasSize(1);
        for (int i = 0; i < 5; i++) {
            read();
        }
        assertThat(source.open()).isZero();
    }

    @Test
    @Timeout(20)
    void aPipeIsNeverOpened() throws IOException, InterruptedException {
        Path pipe = dir.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        rank(40, 0, "NCCL_DEBUG_FILE=/pipe");
        Files.createSymbolicLink(dir.resolve("root/pipe"), pipe);
        standardError(40, pipe);

        assertThat(read()).isEmpty();
        assertThat(source.open()).isZero();
    }

    @Test
    void devicesAndKernelFilesAreNotLookedAt() throws IOException {
        rank(40, 0, "NCCL_DEBUG_FILE=/dev/../proc/stat");
        write(dir.resolve("root/proc/stat"), "");

        read();
        assertThat(source.open()).isZero();
    }

    @Test
    void aFileThatMayNotBeReadCostsNothingMore() throws IOException {
        Path file = dir.resolve("root/nccl.log");
        write(file, "");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("---------"));
        org.junit.jupiter.api.Assumptions.assumeFalse(Files.isReadable(file), "root may read everything");
        rank(40, 0, "NCCL_DEBUG_FILE=/nccl.log");

        assertThat(read()).isEmpty();
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        append(file, CLOSED + "10.0.0.7<5>\n");
        assertThat(read()).isEmpty();
        assertThat(source.open()).isZero();
    }

    @Test
    void whatWasTooMuchToReadIsCounted() throws IOException {
        Path file = dir.resolve("rank0.err");
        write(file, "");
        rank(40, 0);
        standardError(40, file);
        read();
        append(file, "x".repeat(LogTail.MOST_A_CALL + 1));
        now.addAndGet(SECOND);

        assertThat(source.read().part().getLost(0).getKind()).isEqualTo("nccl-log");
    }

    @Test
    void noMoreThanAFixedNumberOfFilesIsOpen() throws IOException {
        for (int i = 0; i < NcclSource.MOST_FILES + 3; i++) {
            Path file = dir.resolve("err" + i);
            write(file, "");
            rank(1000 + i, i);
            standardError(1000 + i, file);
        }
        read();

        assertThat(source.open()).isEqualTo(NcclSource.MOST_FILES);
    }

    /** A child writes when it is told to, and says when it has. */
    @Test
    @Timeout(30)
    void aRealProcessIsReadThroughTheRealProc() throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                "sh",
                "-c",
                "read a; echo \"" + CLOSED + "10.0.0.7<5>\" >&2; echo \"" + CLOSED + "10.0.0.8<5>\" > $NCCL_DEBUG_FILE;"
                        + " echo done; read b");
        builder.environment().put("NCCL_DEBUG_FILE", dir.resolve("nccl.log").toString());
        builder.redirectError(dir.resolve("err").toFile());
        Process child = builder.start();
        try (Writer in = child.outputWriter();
                BufferedReader out = child.inputReader()) {
            NcclSource real =
                    new NcclSource(Path.of("/proc"), () -> List.of(new RankProcess((int) child.pid(), 1, 0)), now::get);
            assertThat(real.read().events()).isEmpty();
            in.write("go\n");
            in.flush();
            assertThat(out.readLine()).isEqualTo("done");

            assertThat(real.read().events())
                    .extracting(event -> event.getNccl().getPeer())
                    .containsExactlyInAnyOrder("10.0.0.7", "10.0.0.8");
            real.close();
        } finally {
            child.destroyForcibly();
        }
    }

    @Test
    void aRankWithoutAnyLogSaysNothing() throws IOException {
        rank(40, 0, "PATH=/bin", "SECRET=hunter2");

        assertThat(read()).isEmpty();
        assertThat(source.deadline()).isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void theNameOfNcclsFileIsMadeAsNcclMakesIt() {
        assertThat(RankLogs.expand("/l/%h/%p%%.%x%", "node", 7)).isEqualTo("/l/node/7%.%x%");
    }
}

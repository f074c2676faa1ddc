package dev.unhang.healer.actuator.action;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.ProbeResult;
import dev.unhang.healer.actuator.process.NodeProcesses;
import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.RealPrograms;
import dev.unhang.healer.command.ProcessName;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Evidence and looks of a node whose {@code /proc} and programs are the test's. */
class CollectEvidenceTest {

    @TempDir
    Path folder;

    private final RealPrograms programs = new RealPrograms(System::nanoTime);
    private Path evidence = Path.of("");
    private FakeProc proc;
    private ProcessName rank;
    private String dmesg = "";
    private String pySpy = "";
    private long most = 1 << 20;
    private int keep = 3;

    @BeforeEach
    void aHungRank() throws IOException {
        Scripts scripts = new Scripts(folder);
        evidence = folder.resolve("state/evidence");
        proc = new FakeProc(folder.resolve("proc"));
        rank = proc.process(4711, "python3", 'D', 900);
        proc.file(4711, "wchan", "nvidia_ioctl");
        proc.file(4711, "task/4711/syscall", "1 0x8 0x7ffd 0x10");
        proc.file(4711, "task/4711/stat", "4711 (python3) D 900");
        proc.file(4711, "task/4711/wchan", "nvidia_ioctl");
        proc.opens(4711, 7, "/dev/nvidia3");
        proc.opens(4711, 8, "/home/user/secret-data");
        proc.file(4711, "root/tmp/fr_3", "flight recorder of rank 3");
        proc.file(4711, "environ", "RANK=3\0TORCH_FR_DUMP_TEMP_FILE=/tmp/fr_\0AWS_SECRET_ACCESS_KEY=hunter2\0");
        dmesg = scripts.write("dmesg", "echo 'usb 1-1: new device'; echo 'NVRM: Xid (PCI:0000:1a:00): 79'\n");
        pySpy = scripts.write("py-spy", """
                echo 'Process 4711: python3 train.py --token=hunter2'
                echo 'Thread 4711 (idle): "MainThread"'
                echo '    all_reduce (torch/distributed.py:9)'
                """);
    }

    private CollectEvidence repair() {
        return new CollectEvidence(
                new NodeProcesses(proc.root()),
                programs,
                new CollectEvidence.Limits(evidence, most, keep, dmesg, pySpy, "none", "", 0));
    }

    private Offer offer(String command) {
        return Offer.newBuilder()
                .setCommandId(command)
                .putParameters("processes", rank.toString())
                .build();
    }

    private End run(Offer offer) {
        return repair().run(offer, programs.nanos() + Duration.ofSeconds(30).toNanos(), () -> false);
    }

    private String kept(String command, String name) throws IOException {
        return Files.readString(evidence.resolve(command).resolve(name));
    }

    @Test
    void whatARestartWouldDestroyIsKeptForRootAlone() throws IOException {
        End end = run(offer("job-hang-1a-1"));
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_DONE);
        assertThat(end.detail()).contains("3 files in " + evidence.resolve("job-hang-1a-1"));
        assertThat(kept("job-hang-1a-1", "process-4711.txt"))
                .contains("state:\nD", "wchan:\nnvidia_ioctl", "1 D nvidia_ioctl", "/dev/nvidia3", "all_reduce");
        assertThat(kept("job-hang-1a-1", "process-4711-flight-recorder")).isEqualTo("flight recorder of rank 3");
        assertThat(kept("job-hang-1a-1", "kernel.log")).isEqualTo("NVRM: Xid (PCI:0000:1a:00): 79\n");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(evidence.resolve("job-hang-1a-1"))))
                .isEqualTo("rwx------");
    }

    @Test
    void noSecretOfTheUserIsInIt() throws IOException {
        run(offer("c-1"));
        try (Stream<Path> files = Files.list(evidence.resolve("c-1"))) {
            for (Path file : files.toList()) {
                assertThat(file).content(StandardCharsets.UTF_8).doesNotContain("hunter2", "secret");
            }
        }
    }

    @Test
    void aProcessThatIsGoneAndAProgramThatIsNotThereAreListedAndHarmNothing() throws IOException {
        dmesg = folder.resolve("none").toString();
        rank = new ProcessName(rank.bootId(), 4712, 1);
        End end = run(offer("c-1"));
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_FAILED);
        assertThat(end.detail())
                .contains("process-4712 (process 4712 has ended)", "kernel log (it could not be started");
    }

    @Test
    void itGrowsNoLargerThanItMay() throws IOException {
        most = 64;
        End end = run(offer("c-1"));
        assertThat(end.detail()).contains("cut off where they grew too large");
        try (Stream<Path> files = Files.list(evidence.resolve("c-1"))) {
            assertThat(files.mapToLong(file -> file.toFile().length()).sum()).isEqualTo(64);
        }
    }

    @Test
    void aDiskWithoutRoomIsARefusalThatTellsHowMuchThereIs() {
        most = Long.MAX_VALUE;
        assertThat(repair().refusal(offer("c-1")))
                .hasValueSatisfying(why -> assertThat(why).contains("is full", "KiB are free"));
        assertThat(run(offer("c-1")).how()).isEqualTo(ActionEnd.ACTION_REFUSED);
        assertThat(evidence).doesNotExist();
    }

    @Test
    void onlySoManyCommandsAreKept() throws IOException {
        for (int i = 0; i < 5; i++) {
            run(offer("c-" + i));
            Files.setLastModifiedTime(
                    evidence.resolve("c-" + i), java.nio.file.attribute.FileTime.fromMillis(1000L * i));
        }
        try (Stream<Path> folders = Files.list(evidence)) {
            assertThat(folders.map(each -> String.valueOf(each.getFileName())))
                    .containsExactlyInAnyOrder("c-2", "c-3", "c-4");
        }
    }

    @Test
    void aDumpThatIsALinkIsNotFollowed() throws IOException {
        Path dump = proc.root().resolve("4711/root/tmp/fr_3");
        Files.delete(dump);
        Files.createSymbolicLink(dump, Path.of("/etc/passwd"));
        run(offer("c-1"));
        assertThat(evidence.resolve("c-1/process-4711-flight-recorder")).doesNotExist();
    }

    @Test
    void theNameOfACommandIsNoWayOutOfTheFolder() throws IOException {
        run(offer("../../c"));
        try (Stream<Path> folders = Files.list(evidence)) {
            assertThat(folders).hasSize(1);
        }
    }

    @Test
    void aLookTellsTheSameAsTelemetry() {
        List<ProbeResult> told = new ArrayList<>();
        End end = new Look(
                        new NodeProcesses(proc.root()),
                        programs,
                        pySpy,
                        Clock.fixed(Instant.ofEpochSecond(7), ZoneOffset.UTC),
                        message -> told.add((ProbeResult) message))
                .run(offer("c-1"), programs.nanos() + Duration.ofSeconds(30).toNanos(), () -> false);
        assertThat(end).isEqualTo(End.done("looked at 1 process"));
        assertThat(told).hasSize(1);
        assertThat(told.get(0).getKind()).isEqualTo("look");
        assertThat(told.get(0).getPid()).isEqualTo(4711);
        assertThat(told.get(0).getStartTicks()).isEqualTo(47110);
        assertThat(told.get(0).getWallNs()).isEqualTo(7_000_000_000L);
        assertThat(told.get(0).getFindingsMap())
                .containsEntry("state", "D")
                .containsEntry("wchan", "nvidia_ioctl")
                .containsEntry("devices", "/dev/nvidia3")
                .containsEntry("threads", "1 D nvidia_ioctl")
                .containsEntry("calls", "1 write of a file");
        assertThat(told.get(0).toString()).doesNotContain("hunter2");
    }

    @Test
    void aLookAtAnotherProcessThanWasMeantIsRefused() {
        rank = new ProcessName(rank.bootId(), rank.pid(), 1);
        assertThat(new Look(new NodeProcesses(proc.root()), programs, "", Clock.systemUTC(), message -> {})
                        .refusal(offer("c-1")))
                .isPresent();
    }
}

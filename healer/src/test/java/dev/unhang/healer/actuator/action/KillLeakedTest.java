package dev.unhang.healer.actuator.action;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.Offer;
import dev.unhang.healer.actuator.process.NodeProcesses;
import dev.unhang.healer.actuator.repair.RealPrograms;
import dev.unhang.healer.command.ProcessName;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KillLeakedTest {

    private static final String GPU = "GPU-3e1f0d7a-0000-1111-2222-333344445555";

    @TempDir
    Path folder;

    private FakeProc proc;
    private ProcessName leaked;

    @BeforeEach
    void aNode() throws IOException {
        proc = new FakeProc(folder);
        proc.gpu("0000:1a:00.0", GPU, 3);
        proc.gpu("0000:2b:00.0", "GPU-other", 0);
        proc.process(1, "systemd", 'S', 0);
        leaked = proc.process(4711, "python3", 'S', 1);
        proc.opens(4711, 7, "/dev/nvidiactl");
        proc.opens(4711, 8, "/dev/nvidia3");
    }

    private Optional<String> refusal(String gpu) {
        return new KillLeaked(
                        new NodeProcesses(folder), folder, new RealPrograms(System::nanoTime), Duration.ofSeconds(1))
                .refusal(Offer.newBuilder()
                        .putParameters("gpu", gpu)
                        .putParameters("processes", leaked.toString())
                        .build());
    }

    @Test
    void aProcessThatHoldsTheGpuAndIsNoRankMayBeEnded() {
        assertThat(refusal(GPU)).isEmpty();
    }

    @Test
    void aProcessThatHoldsAnotherGpuMayNot() {
        assertThat(refusal("GPU-other"))
                .hasValueSatisfying(why -> assertThat(why).contains("does not hold /dev/nvidia0 any more"));
    }

    @Test
    void aGpuThatIsMappedIsHeld() throws IOException {
        leaked = proc.process(4712, "python3", 'S', 1);
        assertThat(refusal(GPU)).isPresent();
        proc.file(4712, "maps", "7f00-7f01 rw-s 00000000 00:05 812                  /dev/nvidia3\n");
        assertThat(refusal(GPU)).isEmpty();
    }

    @Test
    void aGpuThatIsNotHereIsARefusal() {
        assertThat(refusal("GPU-none")).isPresent();
        assertThat(refusal("")).isPresent();
    }

    @Test
    void aRankWhoseLauncherLivesMayNot() throws IOException {
        proc.process(900, "torchrun", 'S', 1);
        leaked = proc.process(4711, "python3", 'S', 900);
        proc.file(4711, "environ", "RANK=3\0TORCHELASTIC_RUN_ID=r1\0SECRET=x\0");
        assertThat(refusal(GPU))
                .hasValueSatisfying(
                        why -> assertThat(why).contains("living rank").doesNotContain("SECRET"));
    }

    @Test
    void aRankWhoseLauncherIsGoneMay() throws IOException {
        proc.file(4711, "environ", "RANK=3\0TORCHELASTIC_RUN_ID=r1\0");
        assertThat(refusal(GPU)).isEmpty();
    }

    @Test
    void aProcessWhoseEnvironmentCannotBeReadMayNot() throws IOException {
        java.nio.file.Files.delete(folder.resolve("4711/environ"));
        assertThat(refusal(GPU)).hasValueSatisfying(why -> assertThat(why).contains("cannot be read"));
    }

    /** A service of systemd has the first process as its parent, and trains. */
    @Test
    void aRankThatNoLauncherStartedMayNot() throws IOException {
        proc.file(4711, "environ", "RANK=3\0WORLD_SIZE=8\0");
        assertThat(refusal(GPU)).isPresent();
    }
}

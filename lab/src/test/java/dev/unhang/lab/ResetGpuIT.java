package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.ActionEnd;
import dev.unhang.healer.actuator.gpu.GpuSettings;
import dev.unhang.healer.actuator.gpu.ResetGpu;
import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Ran;
import dev.unhang.healer.actuator.repair.RealPrograms;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A reset against scripts in place of nvidia-smi, systemctl and dmesg, that keep their state in files and speak the texts
 * and exit codes of the real ones ({@code lab/scripts/gpu}), and a socket in place of the collector's.
 */
class ResetGpuIT {

    private static final String GPU = "GPU-59e1ec54-9791-bba6-8640-6d057b386b0e";

    @TempDir
    private Path work;

    private final List<String> collectorHeard = new CopyOnWriteArrayList<>();
    private final List<Process> processes = new ArrayList<>();
    private ServerSocketChannel collector;

    @BeforeEach
    void aNodeWithOneGpu() throws Exception {
        Files.createDirectories(work.resolve("dev"));
        Files.writeString(work.resolve("dev/nvidia0"), "");
        put("persistence", "Enabled");
        put("units", "nvidia-dcgm.service\n");
        put("architecture", "Hopper");
        put("mig", "Disabled");
        put("recovery", "GPU Reset Required");
        put("dmesg", "");
        put("reset", "well");
        collector = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        collector.bind(UnixDomainSocketAddress.of(work.resolve("collector.sock")));
        Thread answering = new Thread(this::answer, "collector");
        answering.setDaemon(true);
        answering.start();
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        processes.forEach(Process::destroyForcibly);
        collector.close();
    }

    @Test
    void aGpuIsResetAndAllIsGivenBack() throws Exception {
        assertThat(repair().refusal(GPU)).isEmpty();
        End end = run();
        assertThat(end.how()).as(end.detail()).isEqualTo(ActionEnd.ACTION_DONE);
        assertThat(end.detail()).contains("was reset and answers");
        allIsGivenBack();
        assertThat(collectorHeard).containsExactly("release-gpus 600", "give-back-gpus");
        assertThat(Files.readString(work.resolve("calls")))
                .containsSubsequence(
                        "systemctl stop nvidia-dcgm.service",
                        "nvidia-smi -pm 0 -i " + GPU,
                        "nvidia-smi --gpu-reset -i " + GPU,
                        "nvidia-smi -pm 1 -i " + GPU,
                        "systemctl start nvidia-dcgm.service",
                        "nvidia-smi -q -i " + GPU);
    }

    /** With persistence mode on the script refuses as the driver does; so it must have been switched off. */
    @Test
    void withPersistenceStuckTheDriverRefuses() throws Exception {
        put("persistence-stuck", "");
        End end = run();
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_FAILED);
        assertThat(end.detail()).contains("in use by another client", "could not be switched off");
        allIsGivenBack();
    }

    @Test
    void aProgramThatUsesTheGpuIsNamedAndLeftAlone() throws Exception {
        Process holder = hold();
        assertThat(repair().refusal(GPU).orElse("")).contains("in use by process " + holder.pid() + " (sleep)");
        End end = run();
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_REFUSED);
        assertThat(holder.isAlive()).isTrue();
        assertThat(Files.readString(work.resolve("calls"))).doesNotContain("stop", "-pm", "--gpu-reset");
        allIsGivenBack();
    }

    @Test
    void aProgramThatComputesIsRefusedEvenWhenItsFilesAreNotSeen() throws Exception {
        put("apps", GPU + ", 4711, python3\n");
        assertThat(repair().refusal(GPU).orElse("")).contains("in use by process 4711 (python3)");
    }

    @Test
    void aCollectorThatDoesNotLetGoFailsTheReset() throws Exception {
        put("collector", "{\"ok\":false,\"detail\":\"a call into the driver does not return\"}");
        End end = run();
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_FAILED);
        assertThat(end.detail()).contains("a call into the driver does not return");
        assertThat(Files.readString(work.resolve("calls"))).doesNotContain("--gpu-reset");
        assertThat(read("units")).contains("nvidia-dcgm.service");
    }

    @Test
    void migIsRefused() throws Exception {
        put("mig", "Enabled");
        refused("MIG mode");
    }

    @Test
    void aGpuThatFellOffTheBusIsRefused() throws Exception {
        put("lost", "");
        refused("needs a power cycle");
    }

    @Test
    void xid79IsRefusedAlsoWhenTheGpuStillAnswers() throws Exception {
        put(
                "dmesg",
                "[ 7.1] NVRM: Xid (PCI:0000:00:06): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n");
        refused("needs a power cycle");
        put(
                "dmesg",
                "[ 7.1] NVRM: Xid (PCI:0000:00:07): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n");
        assertThat(repair().refusal(GPU)).isEmpty();
    }

    @Test
    void aLibraryOfAnotherVersionIsRefused() throws Exception {
        put("mismatch", "");
        refused("differ in version");
    }

    @Test
    void aNodeThatWantsARebootIsRefused() throws Exception {
        put("recovery", "Node Reboot Required");
        refused("which a reset is not");
    }

    @Test
    void anAmpereWithNvSwitchesNeedsFabricManager() throws Exception {
        put("architecture", "Ampere");
        Files.writeString(work.resolve("dev/nvidia-nvswitch0"), "");
        refused("nvidia-fabricmanager.service does not run");
        put("units", "nvidia-dcgm.service\nnvidia-fabricmanager.service\n");
        assertThat(repair().refusal(GPU)).isEmpty();
        assertThat(run().how()).isEqualTo(ActionEnd.ACTION_DONE);
        assertThat(Files.readString(work.resolve("calls"))).doesNotContain("stop nvidia-fabricmanager");
    }

    @Test
    void aHopperWithNvSwitchesNeedsNoFabricManager() throws Exception {
        Files.writeString(work.resolve("dev/nvidia-nvswitch0"), "");
        assertThat(repair().refusal(GPU)).isEmpty();
    }

    @Test
    void aResetThatChangesNothingFails() throws Exception {
        put("reset", "no-effect");
        End end = run();
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_FAILED);
        assertThat(end.detail()).contains("the driver still asks for 'GPU Reset Required'");
        allIsGivenBack();
    }

    @Test
    void aResetThatHangsIsKilledAndAllIsGivenBack() throws Exception {
        put("reset", "hang");
        End end = run();
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_FAILED);
        assertThat(end.detail()).contains("did not end within 2 s and was killed");
        allIsGivenBack();
    }

    /** No script can be in state D, so the kernel's hold is told to the repair. */
    @Test
    void aResetThatCannotBeKilledIsUnknown() throws Exception {
        Programs real = tools("no such command");
        End end = new ResetGpu(new Held(real), settings()).run("gpu-fault-0a1b2c3d-1", GPU);
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_TIMED_OUT);
        assertThat(end.detail()).contains("may still be running");
        allIsGivenBack();
    }

    @Test
    void aCrashBeforeTheResetIsMadeGoodByTheNextStart() throws Exception {
        Programs dying = tools("--gpu-reset");
        try {
            new ResetGpu(dying, settings()).run("gpu-fault-0a1b2c3d-1", GPU);
        } catch (Crash expected) {
            assertThat(read("persistence")).isEqualTo("Disabled");
        }
        assertThat(read("units")).doesNotContain("nvidia-dcgm.service");
        assertThat(repair().refusal(GPU).orElse("")).contains("an earlier reset has no end yet");
        assertThat(repair().restoreAtStart().orElse("")).contains("are as before again");
        allIsGivenBack();
        assertThat(collectorHeard).endsWith("give-back-gpus");
        assertThat(repair().restoreAtStart()).isEmpty();
    }

    private void refused(String reason) throws Exception {
        assertThat(repair().refusal(GPU).orElse("")).contains(reason);
        assertThat(run().how()).isEqualTo(ActionEnd.ACTION_REFUSED);
        assertThat(Files.readString(work.resolve("calls"))).doesNotContain("stop", "-pm", "--gpu-reset");
        assertThat(collectorHeard).isEmpty();
    }

    private void allIsGivenBack() throws Exception {
        assertThat(read("persistence")).isEqualTo("Enabled");
        assertThat(read("units")).contains("nvidia-dcgm.service");
        assertThat(work.resolve("state/gpu-reset.json")).doesNotExist();
        assertThat(collectorHeard.size() % 2).as("%s", collectorHeard).isZero();
    }

    private ResetGpu repair() {
        return new ResetGpu(tools("no such command"), settings());
    }

    private End run() {
        return repair().run("gpu-fault-0a1b2c3d-1", GPU);
    }

    private GpuSettings settings() {
        return new GpuSettings(
                work.resolve("state"),
                work.resolve("collector.sock"),
                Path.of("/proc"),
                work.resolve("dev"),
                GpuSettings.PERSISTENCED,
                GpuSettings.FABRIC_MANAGER,
                List.of("nvidia-dcgm.service", "not-here.service"),
                Duration.ofSeconds(2));
    }

    /** Somebody pulled the plug. */
    private static final class Crash extends Error {
        private static final long serialVersionUID = 1;
    }

    private Programs tools(String crashBefore) {
        RealPrograms real = new RealPrograms(System::nanoTime);
        Path scripts = Path.of("scripts", "gpu").toAbsolutePath();
        return new Programs() {
            @Override
            public Ran run(Duration deadline, List<String> words) {
                if (String.join(" ", words).contains(crashBefore)) {
                    throw new Crash();
                }
                List<String> all = new ArrayList<>(List.of(
                        "env",
                        "FAKE=" + work,
                        "bash",
                        scripts.resolve(words.get(0)).toString()));
                all.addAll(words.subList(1, words.size()));
                return real.run(deadline, all);
            }

            @Override
            public void pause(Duration duration) {
                real.pause(duration);
            }

            @Override
            public long nanos() {
                return real.nanos();
            }
        };
    }

    private record Held(Programs real) implements Programs {

        @Override
        public Ran run(Duration deadline, List<String> words) {
            return words.contains("--gpu-reset")
                    ? new Ran(-1, "", "", Ran.Ending.HELD_BY_KERNEL)
                    : real.run(deadline, words);
        }

        @Override
        public void pause(Duration duration) {
            real.pause(duration);
        }

        @Override
        public long nanos() {
            return real.nanos();
        }
    }

    private Process hold() throws Exception {
        Process process =
                new ProcessBuilder("bash", "-c", "exec 9<\"$0\"; echo; exec sleep 60", work + "/dev/nvidia0").start();
        processes.add(process);
        assertThat(process.getInputStream().read()).isEqualTo('\n');
        while (!Files.readString(Path.of("/proc/" + process.pid() + "/comm")).startsWith("sleep")) {
            Thread.onSpinWait();
        }
        return process;
    }

    private void answer() {
        try {
            while (true) {
                try (SocketChannel channel = collector.accept()) {
                    ByteBuffer bytes = ByteBuffer.allocate(256);
                    channel.read(bytes);
                    String heard = new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8).strip();
                    collectorHeard.add(heard);
                    String answer = heard.startsWith("release") && Files.exists(work.resolve("collector"))
                            ? Files.readString(work.resolve("collector"))
                            : "{\"ok\":true,\"detail\":\"done\"}";
                    channel.write(ByteBuffer.wrap((answer + "\n").getBytes(StandardCharsets.UTF_8)));
                }
            }
        } catch (java.io.IOException e) {
            // The test is over.
        }
    }

    private void put(String name, String text) throws Exception {
        Files.writeString(work.resolve(name), text);
    }

    private String read(String name) throws Exception {
        return Files.readString(work.resolve(name)).strip();
    }
}

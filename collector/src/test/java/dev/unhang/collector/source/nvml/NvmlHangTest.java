package dev.unhang.collector.source.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.ReadStatus;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A call that hangs holds up its own GPU only; and NVML can be let go and taken again. */
@Timeout(60)
class NvmlHangTest {

    private static final String[] WELL = {"gpus = 2"};
    private static final String[] GPU_1_HANGS = {"gpus = 2", "gpu1.hang = 30000"};
    private static final Duration DEADLINE = Duration.ofSeconds(1);

    @TempDir
    Path folder;

    /** Close to the overflow, for a monotonic clock may start anywhere. */
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000_000_000L);

    private FakeNvml nvml;
    private NvmlSource source;

    @BeforeEach
    void twoGpus() {
        nvml = FakeNvml.in(folder).script(WELL);
        source = new NvmlSource(
                new NvmlConfig(nvml.library(), DEADLINE, Duration.ofSeconds(30)),
                new NvmlHost(pid -> true, folder),
                nanos::get);
    }

    @AfterEach
    void everythingIsClosedAndNoHandleWasMisused() {
        nvml.script(WELL);
        awaitUnstuck();
        source.close();
        assertThat(nvml.log()).noneMatch(line -> line.contains("VIOLATION")).endsWith("unloaded refs=0");
    }

    /** Each read waits for what is out, up to the deadline: so this is no busy loop. */
    private NodeSample awaitUnstuck() {
        NodeSample part = source.read().part();
        while (part.getSourcesList().stream().anyMatch(fault -> fault.getStatus() == ReadStatus.READ_STATUS_STUCK)) {
            Thread.onSpinWait();
            part = source.read().part();
        }
        return part;
    }

    private void pass(Duration duration) {
        nanos.addAndGet(duration.toNanos());
    }

    @Test
    void aGpuWhoseCallHangsIsStuckAndTheOtherGoesOn() {
        source.read();
        nvml.script(GPU_1_HANGS);
        source.read();
        pass(Duration.ofSeconds(12));
        NodeSample part = source.read().part();
        assertThat(part.getGpusList())
                .extracting(GpuReading::getStatus, GpuReading::hasUtil)
                .containsExactly(tuple(ReadStatus.READ_STATUS_OK, true), tuple(ReadStatus.READ_STATUS_STUCK, false));
        assertThat(part.getGpus(1).getUuid())
                .isEqualTo(KnownGpus.uuidBytes("GPU-00000002-0000-4000-8000-000000000002"));
        assertThat(part.getSourcesList())
                .extracting(fault -> tuple(fault.getSource(), fault.getStatus(), fault.getSinceMs()))
                .containsExactly(tuple("nvml", ReadStatus.READ_STATUS_STUCK, 12_000L));
        assertThat(part.getSources(0).getDetail()).isEqualTo("GPU 0000:1b:00 does not answer");

        nvml.script(WELL);
        assertThat(awaitUnstuck().getGpusList())
                .extracting(GpuReading::getStatus)
                .containsExactly(ReadStatus.READ_STATUS_OK, ReadStatus.READ_STATUS_OK);
    }

    @Test
    void aGpuThatHangsFromTheStartHoldsUpNoOther() {
        nvml.script(GPU_1_HANGS);
        NodeSample part = source.read().part();
        assertThat(part.getGpusList()).extracting(GpuReading::getStatus).containsExactly(ReadStatus.READ_STATUS_OK);
        assertThat(part.getSources(0).getDetail()).isEqualTo("GPU 1 does not answer");
    }

    @Test
    void aDriverThatHangsInItsInitIsStuck() {
        nvml.script("init.hang = 30000");
        source.read();
        pass(Duration.ofSeconds(7));
        NodeSample part = source.read().part();
        assertThat(part.getSourcesList())
                .extracting(fault -> tuple(fault.getStatus(), fault.getSinceMs(), fault.getDetail()))
                .containsExactly(tuple(ReadStatus.READ_STATUS_STUCK, 7_000L, "the NVIDIA driver does not answer"));
    }

    @Test
    void aReleaseClosesNvmlWholeUntilTheLeaseEnds() {
        source.read();
        NvmlSource.Release release = source.release(Duration.ofSeconds(60));
        assertThat(release.closed()).as(release.detail()).isTrue();
        assertThat(nvml.log()).containsExactly("init refs=1", "shutdown refs=0", "unloaded refs=0");

        NodeSample part = source.read().part();
        assertThat(part.getGpusList())
                .extracting(GpuReading::getStatus, gpu -> gpu.getUuid().isEmpty())
                .containsExactly(
                        tuple(ReadStatus.READ_STATUS_RELEASED, false), tuple(ReadStatus.READ_STATUS_RELEASED, false));
        assertThat(part.getSources(0).getStatus()).isEqualTo(ReadStatus.READ_STATUS_RELEASED);

        pass(Duration.ofMillis(59_999));
        assertThat(source.read().part().getGpus(0).getStatus()).isEqualTo(ReadStatus.READ_STATUS_RELEASED);
        pass(Duration.ofMillis(1));
        assertThat(source.read().part().getGpusList())
                .extracting(GpuReading::getStatus)
                .containsExactly(ReadStatus.READ_STATUS_OK, ReadStatus.READ_STATUS_OK);
    }

    @Test
    void aLeaseCanBeGivenBackEarlyAndLengthened() {
        source.read();
        source.release(Duration.ofSeconds(10));
        source.release(Duration.ofSeconds(60));
        pass(Duration.ofSeconds(30));
        assertThat(source.read().part().getGpus(0).getStatus()).isEqualTo(ReadStatus.READ_STATUS_RELEASED);
        source.giveBack();
        source.giveBack();
        assertThat(source.read().part().getGpus(0).getStatus()).isEqualTo(ReadStatus.READ_STATUS_OK);
        assertThatThrownBy(() -> source.release(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aReleaseWhileACallIsOutIsNotDoneUntilItIsBack() {
        source.read();
        nvml.script(GPU_1_HANGS);
        source.read();
        NvmlSource.Release release = source.release(Duration.ofMinutes(5));
        assertThat(release.closed()).isFalse();
        assertThat(release.detail()).contains("GPU 0000:1b:00 does not answer");
        assertThat(source.read().part().getGpusList())
                .extracting(GpuReading::getStatus)
                .containsExactly(ReadStatus.READ_STATUS_RELEASED, ReadStatus.READ_STATUS_STUCK);
        assertThat(nvml.log()).doesNotContain("shutdown refs=0");

        nvml.script(WELL);
        awaitUnstuck();
        assertThat(source.release(Duration.ofMinutes(5)).closed()).isTrue();
        assertThat(nvml.log()).contains("shutdown refs=0");
    }

    @Test
    void aGpuThatIsGoneAfterAReleaseIsAbsentAndNotForgotten() {
        source.read();
        source.release(Duration.ofSeconds(10));
        nvml.script("gpus = 1");
        source.giveBack();
        NodeSample part = source.read().part();
        assertThat(part.getGpusList())
                .extracting(GpuReading::getStatus)
                .containsExactly(ReadStatus.READ_STATUS_OK, ReadStatus.READ_STATUS_ABSENT);
        assertThat(part.getGpus(1).getUuid())
                .isEqualTo(KnownGpus.uuidBytes("GPU-00000002-0000-4000-8000-000000000002"));
    }

    @Test
    void aGpuThatIsLostAfterAReleaseKeepsItsName() {
        source.read();
        source.release(Duration.ofSeconds(10));
        nvml.script("gpus = 2", "gpu1.return = 15");
        source.giveBack();
        NodeSample part = source.read().part();
        assertThat(part.getGpus(1).getStatus()).isEqualTo(ReadStatus.READ_STATUS_GPU_IS_LOST);
        assertThat(part.getGpus(1).getUuid())
                .isEqualTo(KnownGpus.uuidBytes("GPU-00000002-0000-4000-8000-000000000002"));
        assertThat(part.getGpusList()).hasSize(2);
    }

    @Test
    void aReadMayBeUnderWayWhenAnotherThreadReleases() throws InterruptedException {
        Thread reader = new Thread(() -> {
            for (int i = 0; i < 200; i++) {
                source.read();
            }
        });
        reader.start();
        for (int i = 0; i < 20; i++) {
            assertThat(source.release(Duration.ofSeconds(60)).closed()).isTrue();
            source.giveBack();
        }
        reader.join();
        assertThat(source.read().part().getGpus(0).getStatus()).isEqualTo(ReadStatus.READ_STATUS_OK);
    }
}

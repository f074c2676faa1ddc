package dev.unhang.collector.source.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;

class ProcessListTest {

    private static final int NO_MIG = -1;
    private static final Set<Integer> ALIVE = Set.of(100, 200, 300);
    private static final IntPredicate EXISTS = ALIVE::contains;

    @Test
    void readsEntriesOf24Bytes() {
        assertThat(ProcessList.pids(entries(24, NO_MIG, 100, 200, 300), 3, EXISTS))
                .containsExactly(100, 200, 300);
    }

    @Test
    void readsEntriesOf32Bytes() {
        assertThat(ProcessList.pids(entries(32, NO_MIG, 100, 200, 300), 3, EXISTS))
                .containsExactly(100, 200, 300);
    }

    @Test
    void aSizeWhoseProcessesExistWinsOverOneThatOnlyLooksRight() {
        // 32-byte entries whose last word happens to look like a pid at the 24-byte stride.
        byte[] bytes = entries(32, NO_MIG, 100, 200);
        ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).putInt(24, 4711).putInt(24 + 16, 3);
        assertThat(ProcessList.pids(bytes, 2, EXISTS)).containsExactly(100, 200);
    }

    @Test
    void processesThatWeCannotSeeAreStillListed() {
        assertThat(ProcessList.pids(entries(24, NO_MIG, 4711, 4712), 2, EXISTS)).containsExactly(4711, 4712);
        assertThat(ProcessList.pids(entries(32, NO_MIG, 4711, 4712), 2, EXISTS)).containsExactly(4711, 4712);
    }

    @Test
    void aGpuInstanceMustBePossible() {
        assertThat(ProcessList.pids(entries(24, 15, 100, 200), 2, EXISTS)).containsExactly(100, 200);
        assertThat(ProcessList.pids(entries(24, 16, 100, 200), 2, EXISTS)).isNull();
    }

    @Test
    void garbageIsNoList() {
        assertThat(ProcessList.pids(new byte[64], 2, EXISTS)).isNull();
    }

    @Test
    void noProcessesIsAnEmptyList() {
        assertThat(ProcessList.pids(new byte[0], 0, EXISTS)).isEmpty();
    }

    /** In a buffer with room for entries of 32 bytes, as NVML gets it. */
    private static byte[] entries(int size, int gpuInstance, int... pids) {
        ByteBuffer out = ByteBuffer.allocate(pids.length * 32).order(ByteOrder.nativeOrder());
        for (int i = 0; i < pids.length; i++) {
            out.putInt(i * size, pids[i]);
            out.putLong(i * size + 8, 1L << 30);
            out.putInt(i * size + 16, gpuInstance);
            out.putInt(i * size + 20, gpuInstance);
        }
        return out.array();
    }
}

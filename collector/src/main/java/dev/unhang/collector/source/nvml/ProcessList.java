package dev.unhang.collector.source.nvml;

import com.sun.jna.Memory;
import dev.unhang.events.v1.ReadStatus;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The host pids of a GPU's compute processes, MPS clients included. Entries of {@code …RunningProcesses_v3} are 24 bytes,
 * but some R535 drivers wrote 32 under the same name: so there is room for 32 and the size is told from the content.
 * Confined to the GPU's worker.
 */
final class ProcessList {

    private static final int FIRST_ROOM = 32;
    /** More processes on one GPU than this are no list but garbage. */
    private static final int MOST = 4096;
    /** MIG instance ids are below; {@code 0xFFFFFFFF} is "not MIG". */
    private static final int GPU_INSTANCES = 16;

    private final DeviceCalls calls;
    private Memory entries = new Memory((long) FIRST_ROOM * Layout.PROCESS_R535);
    private final Memory count = new Memory(4);

    ProcessList(DeviceCalls calls) {
        this.calls = calls;
    }

    void read(GpuTally tally, IntPredicate exists) {
        if (tally.ask(NvmlCall.PROCESSES)) {
            read(tally, NvmlCall.PROCESSES, exists);
        }
        if (tally.absent(NvmlCall.PROCESSES) && tally.ask(NvmlCall.PROCESSES_V1)) {
            read(tally, NvmlCall.PROCESSES_V1, exists);
        }
        if (!tally.lost() && tally.ask(NvmlCall.MPS_PROCESSES)) {
            read(tally, NvmlCall.MPS_PROCESSES, exists);
        }
    }

    private void read(GpuTally tally, NvmlCall call, IntPredicate exists) {
        int code = fill(call);
        if (!tally.accept(call, code, "pids")) {
            return;
        }
        int n = count.getInt(0);
        byte[] bytes = entries.getByteArray(0, n * Layout.PROCESS_R535);
        int[] pids = call == NvmlCall.PROCESSES_V1 ? pids(bytes, n, Layout.PROCESS_V1) : pids(bytes, n, exists);
        if (pids == null) {
            tally.fault("pids", ReadStatus.READ_STATUS_OUT_OF_RANGE, 0);
            return;
        }
        tally.got("pids");
        for (int pid : pids) {
            if (!tally.out().getPidsList().contains(pid)) {
                tally.out().addPids(pid);
            }
        }
    }

    private int fill(NvmlCall call) {
        while (true) {
            entries.clear();
            count.setInt(0, room());
            int code = calls.nvml().call(call, calls.device(), count, entries);
            int needed = count.getInt(0);
            if (code == NvmlCode.INSUFFICIENT_SIZE && needed > room() && needed <= MOST) {
                entries = new Memory((needed + 8L) * Layout.PROCESS_R535);
                continue;
            }
            boolean garbage = code == NvmlCode.SUCCESS && (needed < 0 || needed > room());
            return garbage ? NvmlCode.UNKNOWN : code;
        }
    }

    private int room() {
        return (int) (entries.size() / Layout.PROCESS_R535);
    }

    /**
     * The pids of {@code n} entries of either size. A size whose processes all exist wins; where none does (we may not
     * see the host's processes, or one has just ended) a size whose entries at least look right; 24 before 32. Null where
     * neither does.
     */
    static int @Nullable [] pids(byte[] bytes, int n, IntPredicate exists) {
        int[] small = plausible(bytes, n, Layout.PROCESS);
        if (small != null && all(small, exists)) {
            return small;
        }
        int[] large = plausible(bytes, n, Layout.PROCESS_R535);
        if (large != null && all(large, exists)) {
            return large;
        }
        return small != null ? small : large;
    }

    private static int @Nullable [] plausible(byte[] bytes, int n, int stride) {
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        for (int i = 0; i < n; i++) {
            int gpuInstance = in.getInt(i * stride + Layout.PROCESS_GPU_INSTANCE);
            boolean noMig = gpuInstance == -1;
            if (in.getInt(i * stride + Layout.PROCESS_PID) <= 0
                    || (!noMig && (gpuInstance < 0 || gpuInstance >= GPU_INSTANCES))) {
                return null;
            }
        }
        return pids(bytes, n, stride);
    }

    private static int[] pids(byte[] bytes, int n, int stride) {
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        int[] pids = new int[n];
        for (int i = 0; i < n; i++) {
            pids[i] = in.getInt(i * stride + Layout.PROCESS_PID);
        }
        return pids;
    }

    private static boolean all(int[] pids, IntPredicate exists) {
        for (int pid : pids) {
            if (!exists.test(pid)) {
                return false;
            }
        }
        return true;
    }
}

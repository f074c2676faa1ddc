package dev.unhang.lab.simulate;

import com.google.protobuf.ByteString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One node as it truly is, whatever anybody has heard of it. Confined to one thread. */
final class Machine {

    static final int GPUS = 2;

    /** What is wrong with a GPU. */
    enum GpuState {
        WELL,
        /** It failed, and a reset heals it. */
        NEEDS_RESET,
        /** It failed for good. */
        BROKEN,
        /** A process that belongs to no job holds it. */
        LEAKED
    }

    final String name;
    final int number;
    final int partition;
    final String rack;
    final GpuState[] gpus = new GpuState[GPUS];
    private final List<ByteString> uuids = new ArrayList<>();

    ByteString bootId;
    boolean dead;

    /** It was ill when it was last looked at. */
    boolean touched;

    /** Nobody hears its collector, though it runs. */
    boolean unheard;

    boolean nicDown;
    boolean bounceHeals = true;
    boolean clockOff;
    boolean stepHeals = true;

    /** The job that has its ranks here; null: none. */
    @Nullable
    Training job;

    Machine(int number, int partition, String rack, ByteString bootId) {
        this.name = "node-" + number;
        this.number = number;
        this.partition = partition;
        this.rack = rack;
        this.bootId = bootId;
        for (int gpu = 0; gpu < GPUS; gpu++) {
            gpus[gpu] = GpuState.WELL;
            UUID uuid = UUID.nameUUIDFromBytes((name + '/' + gpu).getBytes(StandardCharsets.UTF_8));
            uuids.add(ByteString.copyFrom(java.nio.ByteBuffer.allocate(16)
                    .putLong(uuid.getMostSignificantBits())
                    .putLong(uuid.getLeastSignificantBits())
                    .array()));
        }
    }

    ByteString uuid(int gpu) {
        return uuids.get(gpu);
    }

    /** As NVML writes it. */
    String gpuName(int gpu) {
        return "GPU-" + UUID.nameUUIDFromBytes((name + '/' + gpu).getBytes(StandardCharsets.UTF_8));
    }

    String nic() {
        return "0000:41:00.0/0";
    }

    /** Whatever was wrong is not any more. */
    void repair() {
        nicDown = false;
        clockOff = false;
        gpus[0] = GpuState.WELL;
        gpus[1] = GpuState.WELL;
    }

    /** Whether ranks can make progress on it. */
    boolean works() {
        return !dead && !nicDown && gpuWorks(gpus[0]) && gpuWorks(gpus[1]);
    }

    private static boolean gpuWorks(GpuState state) {
        return state == GpuState.WELL || state == GpuState.LEAKED;
    }

    boolean well() {
        return works() && !clockOff && !unheard && gpus[0] == GpuState.WELL && gpus[1] == GpuState.WELL;
    }
}

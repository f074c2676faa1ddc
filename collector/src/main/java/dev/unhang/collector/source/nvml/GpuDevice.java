package dev.unhang.collector.source.nvml;

import com.google.protobuf.ByteString;
import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import dev.unhang.events.v1.GpuInventory;
import dev.unhang.events.v1.GpuReading;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One GPU of one NVML session. Finds its handle and name on the first read, so that a GPU that takes long to attach
 * holds up no other. Only its worker calls it; {@link #identity} may be asked from anywhere.
 */
final class GpuDevice {

    /** How often links, MIG and the like are read; in between the last values are said again. */
    static final Duration SLOW_EVERY = Duration.ofSeconds(5);

    static final Duration INVENTORY_EVERY = Duration.ofMinutes(1);
    /** A GPU that would not attach is asked again at this pace. */
    static final Duration ATTACH_EVERY = Duration.ofSeconds(10);

    /**
     * What one read gave.
     *
     * @param inventory null while the GPU has never been attached
     * @param sessionError a code that only a new session mends; 0 where there is none
     */
    record Answer(GpuReading reading, @Nullable GpuInventory inventory, int sessionError) {}

    private final NvmlLibrary nvml;
    private final int index;
    private final NvmlHost host;
    private final KnownGpus known;
    private final Absences absences = new Absences();
    private final Absences slowAbsences = new Absences();

    private volatile KnownGpus.@Nullable Gpu identity;
    private @Nullable Reads reads;
    private GpuReading failedAttach = GpuReading.getDefaultInstance();
    private GpuReading slow = GpuReading.getDefaultInstance();
    private @Nullable GpuInventory inventory;
    private final Pace attachPace;
    private final Pace slowPace;
    private final Pace inventoryPace;

    /** What exists once the GPU is attached. */
    private record Reads(FastReads fast, SlowReads slow, InventoryReads inventory, KnownGpus.Gpu gpu) {}

    GpuDevice(NvmlLibrary nvml, int index, NvmlHost host, KnownGpus known, LongSupplier nanoTime) {
        this.nvml = nvml;
        this.index = index;
        this.host = host;
        this.known = known;
        this.attachPace = new Pace(nanoTime, ATTACH_EVERY);
        this.slowPace = new Pace(nanoTime, SLOW_EVERY);
        this.inventoryPace = new Pace(nanoTime, INVENTORY_EVERY);
    }

    int index() {
        return index;
    }

    /** Null until the GPU was attached in this session. */
    KnownGpus.@Nullable Gpu identity() {
        return identity;
    }

    Answer read() {
        if (reads == null && attachPace.due()) {
            attach();
        }
        Reads attached = reads;
        if (attached == null) {
            int code = failedAttach.getCode();
            return new Answer(failedAttach, null, NvmlCode.sessionIsDead(code) ? code : 0);
        }
        GpuTally tally = new GpuTally(absences);
        attached.fast().read(tally);
        GpuReading fast = tally.end();
        boolean well = fast.getCode() == NvmlCode.SUCCESS || fast.getCode() == NvmlCode.RESET_REQUIRED;
        if (well && slowPace.due()) {
            readSlow(attached);
        }
        if (well && (inventory == null || inventoryPace.due())) {
            inventory =
                    attached.inventory().read(attached.gpu(), attached.slow().mig());
        }
        return new Answer(joined(attached.gpu(), fast, well), withUnsupported(), tally.sessionError());
    }

    private GpuReading joined(KnownGpus.Gpu gpu, GpuReading fast, boolean well) {
        GpuReading.Builder out = fast.toBuilder().setUuid(gpu.uuid());
        if (well) {
            out.mergeFrom(slow);
        }
        return out.build();
    }

    private void readSlow(Reads attached) {
        GpuTally tally = new GpuTally(slowAbsences);
        boolean migChanged = attached.slow().read(tally);
        GpuReading read = tally.end();
        boolean deviceError = read.getCode() == NvmlCode.GPU_IS_LOST || read.getCode() == NvmlCode.RESET_REQUIRED;
        // Merged into each reading until the next: the device's status is in it only where it is worse than the fast
        // one.
        slow = deviceError ? read : read.toBuilder().clearStatus().clearCode().build();
        if (migChanged) {
            absences.forget();
            slowAbsences.forget();
            attached.fast().forget();
            attached.slow().forget();
            inventory = null;
        }
    }

    private @Nullable GpuInventory withUnsupported() {
        GpuInventory base = inventory;
        if (base == null) {
            return null;
        }
        Set<String> unsupported = new TreeSet<>(absences.unsupported());
        unsupported.addAll(slowAbsences.unsupported());
        return base.toBuilder()
                .clearUnsupported()
                .addAllUnsupported(unsupported)
                .build();
    }

    private void attach() {
        Memory handle = new Memory(8);
        int code = nvml.call(NvmlCall.HANDLE, index, handle);
        Pointer device = handle.getPointer(0);
        if (code != NvmlCode.SUCCESS || device == null) {
            failedAttach = failed(code);
            return;
        }
        DeviceCalls calls = new DeviceCalls(nvml, device);
        InventoryReads first = new InventoryReads(calls, host.pciDevices());
        ByteString uuid = first.uuid();
        if (uuid == null) {
            failedAttach = failed(first.lastCode());
            return;
        }
        KnownGpus.Gpu gpu = new KnownGpus.Gpu(index, uuid, first.pci());
        known.remember(gpu);
        identity = gpu;
        int links = (int) first.nvlinks().orElse(Integer.MAX_VALUE);
        reads = new Reads(
                new FastReads(calls, host.processExists()), new SlowReads(calls, uuid, known, links), first, gpu);
    }

    private static GpuReading failed(int code) {
        return GpuReading.newBuilder()
                .setStatus(NvmlCode.status(code))
                .setCode(code)
                .build();
    }
}

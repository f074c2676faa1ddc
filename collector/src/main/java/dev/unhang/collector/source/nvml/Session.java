package dev.unhang.collector.source.nvml;

import com.google.protobuf.ByteString;
import com.sun.jna.Memory;
import dev.unhang.events.v1.GpuInventory;
import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.ReadStatus;
import dev.unhang.events.v1.SourceFault;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * NVML between one {@code nvmlInit} and its {@code nvmlShutdown}: a worker for each GPU. Only its owner calls it; {@link
 * #open} and {@link #shutdown} run on the library's worker.
 */
final class Session {

    private static final Logger log = LoggerFactory.getLogger(Session.class);
    private static final int MOST_GPUS = 64;

    /**
     * How an attempt to open ended.
     *
     * @param session null where there is none
     * @param code NVML's code; 0 where it was not NVML that said no
     * @param detail a sentence for people
     */
    record Opened(@Nullable Session session, ReadStatus status, int code, String detail) {

        static Opened not(ReadStatus status, int code, String detail) {
            return new Opened(null, status, code, detail);
        }
    }

    private static final class Slot {
        final GpuDevice device;
        final Lane<GpuDevice.Answer> lane;

        @Nullable
        GpuInventory inventory;

        boolean asked;
        boolean stuck;
        int sessionError;

        Slot(GpuDevice device, Lane<GpuDevice.Answer> lane) {
            this.device = device;
            this.lane = lane;
        }
    }

    private final NvmlLibrary nvml;
    private final KnownGpus known;
    private final LongSupplier nanoTime;
    private final NodeInventory versions;
    private final List<Slot> slots = new ArrayList<>();

    private Session(NvmlLibrary nvml, int count, NvmlHost host, KnownGpus known, LongSupplier nanoTime) {
        this.nvml = nvml;
        this.known = known;
        this.nanoTime = nanoTime;
        this.versions = versions(nvml);
        for (int index = 0; index < count; index++) {
            slots.add(new Slot(
                    new GpuDevice(nvml, index, host, known, nanoTime), new Lane<>("nvml-gpu-" + index, nanoTime)));
        }
    }

    static Opened open(String library, NvmlHost host, KnownGpus known, LongSupplier nanoTime) {
        try {
            String mismatch = Layout.mismatch();
            if (!mismatch.isEmpty()) {
                return Opened.not(ReadStatus.READ_STATUS_FAILED, 0, mismatch);
            }
        } catch (UnsatisfiedLinkError | NoClassDefFoundError e) {
            return Opened.not(
                    ReadStatus.READ_STATUS_FAILED,
                    0,
                    "JNA cannot load its own library; set -Djna.tmpdir to a folder that allows execution: "
                            + firstLine(e));
        }
        NvmlLibrary nvml;
        try {
            nvml = NvmlLibrary.load(library);
        } catch (UnsatisfiedLinkError e) {
            return Opened.not(ReadStatus.READ_STATUS_ABSENT, 0, "there is no " + library);
        }
        int code = nvml.call(NvmlCall.INIT);
        if (code != NvmlCode.SUCCESS) {
            nvml.close();
            return Opened.not(NvmlCode.status(code), code, NvmlCode.explain(code));
        }
        Memory count = new Memory(4);
        code = nvml.call(NvmlCall.COUNT, count);
        int gpus = code == NvmlCode.SUCCESS ? count.getInt(0) : 0;
        if (gpus <= 0 || gpus > MOST_GPUS) {
            shutdown(nvml);
            return code == NvmlCode.SUCCESS
                    ? Opened.not(ReadStatus.READ_STATUS_ABSENT, 0, "the driver lists " + gpus + " GPUs")
                    : Opened.not(NvmlCode.status(code), code, NvmlCode.explain(code));
        }
        Session session = new Session(nvml, gpus, host, known, nanoTime);
        return new Opened(session, ReadStatus.READ_STATUS_OK, 0, session.versions.getDriverVersion());
    }

    private static String firstLine(Throwable e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
    }

    private static NodeInventory versions(NvmlLibrary nvml) {
        NodeInventory.Builder out = NodeInventory.newBuilder();
        Memory text = new Memory(Layout.TEXT);
        text.clear();
        if (nvml.call(NvmlCall.DRIVER_VERSION, text, Layout.TEXT) == NvmlCode.SUCCESS) {
            out.setDriverVersion(text.getString(0, StandardCharsets.UTF_8.name()));
        }
        if (nvml.call(NvmlCall.NVML_VERSION, text, Layout.TEXT) == NvmlCode.SUCCESS) {
            out.setNvmlVersion(text.getString(0, StandardCharsets.UTF_8.name()));
        }
        if (nvml.call(NvmlCall.CUDA_VERSION, text) == NvmlCode.SUCCESS) {
            out.setCudaVersion(text.getInt(0));
        }
        return out.build();
    }

    int gpus() {
        return slots.size();
    }

    /** Reads all GPUs side by side, and gives up waiting after the deadline. A GPU whose call is out is not asked. */
    NodeSample read(long deadlineNs) {
        long start = nanoTime.getAsLong();
        for (Slot slot : slots) {
            slot.asked = !slot.lane.busy();
            if (slot.asked) {
                slot.lane.forgetAnswer();
                slot.lane.start(slot.device::read);
            }
        }
        NodeSample.Builder part = NodeSample.newBuilder();
        List<@Nullable GpuReading> readings = new ArrayList<>();
        for (Slot slot : slots) {
            readings.add(answer(slot, deadlineNs - (nanoTime.getAsLong() - start), part));
        }
        name(readings, part);
        return part.build();
    }

    private @Nullable GpuReading answer(Slot slot, long waitNs, NodeSample.Builder part) {
        GpuDevice.Answer answer;
        try {
            answer = slot.asked ? slot.lane.await(waitNs) : null;
        } catch (IllegalStateException e) {
            log.atError().setCause(e).addKeyValue("gpu", label(slot)).log("a fault of ours in reading a GPU");
            part.addSources(fault(ReadStatus.READ_STATUS_FAILED, label(slot) + ": " + e.getMessage()));
            return GpuReading.newBuilder()
                    .setStatus(ReadStatus.READ_STATUS_FAILED)
                    .build();
        }
        if (answer == null) {
            if (!slot.stuck) {
                slot.stuck = true;
                log.atWarn().addKeyValue("gpu", label(slot)).log("a call into a GPU does not come back");
            }
            part.addSources(stuck(slot));
            return null;
        }
        if (slot.stuck) {
            slot.stuck = false;
            log.atInfo().addKeyValue("gpu", label(slot)).log("the GPU answers again");
        }
        slot.sessionError = answer.sessionError();
        if (answer.inventory() != null) {
            slot.inventory = answer.inventory();
        }
        return answer.reading();
    }

    private SourceFault stuck(Slot slot) {
        return fault(ReadStatus.READ_STATUS_STUCK, label(slot) + " does not answer").toBuilder()
                .setSinceMs(slot.lane.outForMs())
                .build();
    }

    static SourceFault fault(ReadStatus status, String detail) {
        return SourceFault.newBuilder()
                .setSource(NvmlSource.NAME)
                .setStatus(status)
                .setDetail(detail)
                .build();
    }

    private static String label(Slot slot) {
        KnownGpus.Gpu gpu = slot.device.identity();
        return gpu == null ? "GPU " + slot.device.index() : "GPU " + gpu.pci();
    }

    /** Gives each reading its GPU's UUID, as far as it is or ever was known, and adds GPUs that are listed no more. */
    private void name(List<@Nullable GpuReading> readings, NodeSample.Builder part) {
        List<ByteString> named = new ArrayList<>();
        for (Slot slot : slots) {
            KnownGpus.Gpu gpu = slot.device.identity();
            if (gpu != null) {
                named.add(gpu.uuid());
            }
        }
        for (int i = 0; i < slots.size(); i++) {
            KnownGpus.Gpu gpu = slots.get(i).device.identity();
            if (gpu == null) {
                Optional<KnownGpus.Gpu> last = known.lastAt(slots.get(i).device.index(), named);
                last.ifPresent(found -> named.add(found.uuid()));
                gpu = last.orElse(null);
            }
            GpuReading reading = readings.get(i);
            if (reading != null) {
                part.addGpus(
                        gpu == null
                                ? reading
                                : reading.toBuilder().setUuid(gpu.uuid()).build());
            } else if (gpu != null) {
                part.addGpus(only(gpu, ReadStatus.READ_STATUS_STUCK, 0));
            }
        }
        for (KnownGpus.Gpu gpu : known.all()) {
            if (!named.contains(gpu.uuid())) {
                part.addGpus(only(gpu, ReadStatus.READ_STATUS_ABSENT, 0));
            }
        }
    }

    /** A reading that says nothing but how the GPU is. */
    static GpuReading only(KnownGpus.Gpu gpu, ReadStatus status, int code) {
        return GpuReading.newBuilder()
                .setUuid(gpu.uuid())
                .setStatus(status)
                .setCode(code)
                .build();
    }

    /** As far as the GPUs have told. */
    NodeInventory inventory() {
        NodeInventory.Builder out = versions.toBuilder();
        for (Slot slot : slots) {
            if (slot.inventory != null) {
                out.addGpus(slot.inventory);
            }
        }
        return out.build();
    }

    /** The code by which every GPU says that this session is over; 0 while any GPU is of another mind. */
    int sessionError() {
        int code = 0;
        for (Slot slot : slots) {
            if (slot.stuck || slot.sessionError == 0) {
                return 0;
            }
            code = slot.sessionError;
        }
        return code;
    }

    /** Waits until no call is out. */
    boolean idle(long waitNs) {
        long start = nanoTime.getAsLong();
        for (Slot slot : slots) {
            if (slot.lane.busy()) {
                try {
                    slot.lane.await(waitNs - (nanoTime.getAsLong() - start));
                } catch (IllegalStateException e) {
                    log.atDebug().setCause(e).log("the last call into a GPU failed");
                }
            }
        }
        return stuckNow().isEmpty();
    }

    /** One fault for each GPU whose call is out. */
    List<SourceFault> stuckNow() {
        return slots.stream().filter(slot -> slot.lane.busy()).map(this::stuck).toList();
    }

    boolean isOut(KnownGpus.Gpu gpu) {
        return slots.stream().anyMatch(slot -> slot.lane.busy() && gpu.equals(slot.device.identity()));
    }

    /** Ends the session; only while it is {@link #idle}, and nothing of it is used after. */
    void shutdown() {
        slots.forEach(slot -> slot.lane.close());
        shutdown(nvml);
    }

    private static void shutdown(NvmlLibrary nvml) {
        nvml.call(NvmlCall.SHUTDOWN);
        nvml.close();
    }
}

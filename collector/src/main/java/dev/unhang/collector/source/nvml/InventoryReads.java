package dev.unhang.collector.source.nvml;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.GpuInventory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What a GPU is: read when it is found and each minute. Confined to the GPU's worker. */
final class InventoryReads {

    private static final int CLOCK_SM = 1;
    private static final int NVLINK_COUNT = 91;
    private static final int POWER_CURRENT_LIMIT = 190;

    private final DeviceCalls calls;
    private final Path pciDevices;
    private int lastCode;

    /**
     * @param pciDevices {@code /sys/bus/pci/devices}
     */
    InventoryReads(DeviceCalls calls, Path pciDevices) {
        this.calls = calls;
        this.pciDevices = pciDevices;
    }

    /** The 16 bytes of the UUID; null where it could not be read, for which {@link #lastCode} gives NVML's reason. */
    @Nullable
    ByteString uuid() {
        lastCode = calls.getText(NvmlCall.UUID);
        ByteString uuid = lastCode == NvmlCode.SUCCESS ? KnownGpus.uuidBytes(calls.text()) : null;
        if (uuid == null && lastCode == NvmlCode.SUCCESS) {
            lastCode = NvmlCode.UNKNOWN;
        }
        return uuid;
    }

    int lastCode() {
        return lastCode;
    }

    /** {@code 0000:1a:00}, as in sysfs and the kernel log; empty where it could not be read. */
    String pci() {
        return calls.get(NvmlCall.PCI_INFO) == NvmlCode.SUCCESS
                ? String.format(
                        Locale.ROOT,
                        "%04x:%02x:%02x",
                        calls.out().getInt(Layout.PCI_DOMAIN),
                        calls.out().getInt(Layout.PCI_BUS),
                        calls.out().getInt(Layout.PCI_DEVICE))
                : "";
    }

    /** Empty where the answer says nothing: unknown for now. */
    OptionalLong nvlinks() {
        OptionalLong[] links = {OptionalLong.empty()};
        new FieldBlock<>(calls.nvml(), List.of(new FieldBlock.Entry<>(NVLINK_COUNT, 0, "nvlinks")))
                .read(calls.device(), (entry, code, value, latencyUs) -> {
                    if (code == NvmlCode.SUCCESS) {
                        links[0] = value.whole();
                    } else if (NvmlCode.never(code) || code == NvmlCode.INVALID_ARGUMENT) {
                        links[0] = OptionalLong.of(0);
                    }
                });
        return links[0];
    }

    /** Everything but {@code unsupported}. */
    GpuInventory read(KnownGpus.Gpu gpu, boolean mig) {
        GpuInventory.Builder out = GpuInventory.newBuilder()
                .setUuid(gpu.uuid())
                .setPci(gpu.pci())
                .setIndex(gpu.index())
                .setNumaNode(numaNode(gpu.pci()))
                .setMig(mig);
        if (calls.getText(NvmlCall.NAME) == NvmlCode.SUCCESS) {
            out.setName(calls.text());
        }
        if (calls.getText(NvmlCall.VBIOS) == NvmlCode.SUCCESS) {
            out.setVbios(calls.text());
        }
        if (calls.getText(NvmlCall.SERIAL) == NvmlCode.SUCCESS) {
            out.setSerialHash(shortHash(calls.text()));
        }
        if (calls.getVersioned(NvmlCall.MEMORY_V2, Layout.MEMORY_V2, 2, 0) == NvmlCode.SUCCESS) {
            out.setMemoryMib(calls.out().getLong(Layout.MEMORY_V2_TOTAL) >>> 20);
        } else if (calls.get(NvmlCall.MEMORY) == NvmlCode.SUCCESS) {
            out.setMemoryMib(calls.out().getLong(Layout.MEMORY_TOTAL) >>> 20);
        }
        if (calls.get(NvmlCall.PCIE_GENERATION_MAX) == NvmlCode.SUCCESS) {
            out.setPcieGenMax(calls.out().getInt(0));
        }
        if (calls.get(NvmlCall.PCIE_WIDTH_MAX) == NvmlCode.SUCCESS) {
            out.setPcieWidthMax(calls.out().getInt(0));
        }
        if (calls.get(NvmlCall.MAX_CLOCK, CLOCK_SM) == NvmlCode.SUCCESS) {
            out.setMaxSmMhz(calls.out().getInt(0));
        }
        out.setNvlinks((int) nvlinks().orElse(0));
        out.setPowerLimitMw((int) powerLimit());
        return out.build();
    }

    private long powerLimit() {
        if (calls.get(NvmlCall.POWER_LIMIT) == NvmlCode.SUCCESS) {
            return calls.u32();
        }
        long[] limit = {0};
        new FieldBlock<>(calls.nvml(), List.of(new FieldBlock.Entry<>(POWER_CURRENT_LIMIT, 0, "power_limit")))
                .read(calls.device(), (entry, code, value, latencyUs) -> {
                    if (code == NvmlCode.SUCCESS) {
                        limit[0] = value.whole().orElse(0);
                    }
                });
        return limit[0];
    }

    /** NVML tells a NUMA node only where the GPU is one itself; the one it hangs on stands in sysfs. */
    private int numaNode(String pci) {
        try {
            return Integer.parseInt(
                    Files.readString(pciDevices.resolve(pci + ".0").resolve("numa_node"))
                            .strip());
        } catch (IOException | NumberFormatException e) {
            return -1;
        }
    }

    private static String shortHash(String serial) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(serial.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, 4);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("each JVM has SHA-256", e);
        }
    }
}

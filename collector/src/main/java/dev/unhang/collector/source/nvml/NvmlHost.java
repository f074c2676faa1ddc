package dev.unhang.collector.source.nvml;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntPredicate;

/**
 * What the NVML source asks of the machine besides NVML.
 *
 * @param processExists whether a host pid exists here; it tells the two sizes of process entries apart
 * @param pciDevices {@code /sys/bus/pci/devices}
 */
public record NvmlHost(IntPredicate processExists, Path pciDevices) {

    /** This machine. */
    public static NvmlHost real() {
        return new NvmlHost(
                pid -> Files.exists(Path.of("/proc", Integer.toString(pid))), Path.of("/sys/bus/pci/devices"));
    }
}

package dev.unhang.healer.actuator.gpu;

import dev.unhang.healer.actuator.repair.Ran;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What {@code nvidia-smi -q -i UUID} says of one GPU: each line's key below its headings, as {@code MIG Mode/Current}.
 * Layout as driver 580 prints it. Immutable.
 *
 * @param values key to value, in the order of the text
 */
record GpuAnswer(Map<String, String> values) {

    GpuAnswer {
        values = new LinkedHashMap<>(values);
    }

    static GpuAnswer parse(String text) {
        Map<String, String> values = new LinkedHashMap<>();
        Map<Integer, String> headings = new LinkedHashMap<>();
        for (String line : text.lines().toList()) {
            if (line.isBlank() || !line.startsWith("    ")) {
                continue;
            }
            int indent = line.length() - line.stripLeading().length();
            headings.keySet().removeIf(level -> level >= indent);
            int colon = line.indexOf(" : ");
            if (colon < 0) {
                headings.put(indent, line.strip());
                continue;
            }
            StringBuilder key = new StringBuilder();
            headings.values().forEach(heading -> key.append(heading).append('/'));
            key.append(line.substring(0, colon).strip());
            values.putIfAbsent(key.toString(), line.substring(colon + 3).strip());
        }
        return new GpuAnswer(values);
    }

    String value(String key) {
        return values.getOrDefault(key, "");
    }

    boolean persistent() {
        return "Enabled".equals(value("Persistence Mode"));
    }

    boolean mig() {
        return "Enabled".equals(value("MIG Mode/Current")) || "Enabled".equals(value("MIG Mode/Pending"));
    }

    String architecture() {
        return value("Product Architecture");
    }

    /** Its number below {@code /dev}; empty where it is not told. */
    Optional<String> minor() {
        return Optional.of(value("Minor Number")).filter(minor -> minor.matches("\\d+"));
    }

    /** As the kernel log writes it: {@code 0000:1a:00}, without function. */
    String busId() {
        String bus = value("PCI/Bus Id").toLowerCase(java.util.Locale.ROOT);
        int dot = bus.indexOf('.');
        String noFunction = dot < 0 ? bus : bus.substring(0, dot);
        return noFunction.length() > 10 ? noFunction.substring(noFunction.length() - 10) : noFunction;
    }

    /** {@code None}, an action, or {@code N/A} and nothing where this driver does not tell. */
    String recovery() {
        return value("GPU Recovery Action");
    }

    /** Whether NVSwitches join it to others. */
    boolean inFabric() {
        String state = value("Fabric/State");
        return !state.isEmpty() && !"N/A".equals(state);
    }

    boolean isGuestOfAVirtualGpu() {
        String mode = value("GPU Virtualization Mode/Virtualization Mode");
        return mode.startsWith("VGPU") || mode.startsWith("Host VGPU") || mode.startsWith("Host VSGA");
    }

    /** What a failure of nvidia-smi means for a reset; empty when it has no meaning known here. */
    static Optional<String> trouble(Ran ran) {
        String text = ran.text();
        if (ran.exit() == 15
                || text.contains("GPU is lost")
                || text.contains("Unable to determine the device handle")
                || text.contains("fallen off the bus")) {
            return Optional.of("the GPU fell off the bus; no reset reaches it, the node needs a power cycle");
        }
        if (ran.exit() == 18 || text.contains("Driver/library version mismatch")) {
            return Optional.of("the driver in the kernel and its library differ in version; the node needs a reboot");
        }
        if (ran.exit() == 9 || text.contains("couldn't communicate with the NVIDIA driver")) {
            return Optional.of("the driver is not loaded");
        }
        if (ran.exit() == 6 || text.contains("No devices were found")) {
            return Optional.of("the driver knows no such GPU");
        }
        if (ran.ending() == Ran.Ending.HELD_BY_KERNEL || ran.ending() == Ran.Ending.KILLED) {
            return Optional.of("the driver does not answer; a reset would hang, the node needs a reboot");
        }
        return Optional.empty();
    }
}

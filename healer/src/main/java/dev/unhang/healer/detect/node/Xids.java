package dev.unhang.healer.detect.node;

import java.util.Map;
import java.util.Set;

/**
 * Which Xids speak of a broken GPU, so that it must be reset or replaced. All others are faults of a program, or follow
 * from another one. Source: NVIDIA's catalogue of Xid errors (2025-10-29), those whose immediate action is a reset, a
 * restart of the machine or a look at the hardware.
 */
final class Xids {

    private static final Set<Integer> FATAL =
            Set.of(46, 48, 54, 62, 64, 74, 79, 95, 109, 110, 119, 120, 136, 140, 143, 150, 158);

    private static final Map<Integer, String> MEANING = Map.ofEntries(
            Map.entry(46, "GPU stopped processing"),
            Map.entry(48, "uncorrectable (double bit) ECC error"),
            Map.entry(54, "auxiliary power is not connected"),
            Map.entry(62, "internal micro-controller halt"),
            Map.entry(64, "row remapping failed"),
            Map.entry(74, "NVLink error"),
            Map.entry(79, "GPU has fallen off the bus"),
            Map.entry(95, "uncontained memory error"),
            Map.entry(109, "context switch timeout"),
            Map.entry(110, "security fault"),
            Map.entry(119, "GSP did not answer"),
            Map.entry(120, "GSP error"),
            Map.entry(136, "link training failed"),
            Map.entry(140, "unrecovered ECC error"),
            Map.entry(143, "GPU initialisation error"));

    private Xids() {}

    static boolean fatal(int xid) {
        return FATAL.contains(xid);
    }

    static String sentence(int xid) {
        String meaning = MEANING.get(xid);
        return meaning == null ? "Xid " + xid : "Xid " + xid + " (" + meaning + ")";
    }
}

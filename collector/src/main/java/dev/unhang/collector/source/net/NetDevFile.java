package dev.unhang.collector.source.net;

import dev.unhang.collector.source.file.SmallFile;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads {@code /proc/self/net/dev}, which always shows the reader's own network namespace. Pure. A line that is not
 * understood is left out.
 */
final class NetDevFile {

    /** Counters as unsigned 64-bit numbers. {@code rxDropped} includes what the card missed. */
    record Counters(
            long rxBytes, long rxPackets, long rxErrors, long rxDropped, long txBytes, long txPackets, long txErrors) {}

    private NetDevFile() {}

    static Map<String, Counters> parse(List<String> lines) {
        Map<String, Counters> devices = new LinkedHashMap<>();
        for (String line : lines) {
            int colon = line.lastIndexOf(':');
            if (colon < 0) {
                continue;
            }
            String[] column = line.substring(colon + 1).strip().split("\\s+", -1);
            if (column.length < 11) {
                continue;
            }
            devices.put(
                    line.substring(0, colon).strip(),
                    new Counters(
                            number(column[0]),
                            number(column[1]),
                            number(column[2]),
                            number(column[3]),
                            number(column[8]),
                            number(column[9]),
                            number(column[10])));
        }
        return devices;
    }

    private static long number(String text) {
        return SmallFile.unsigned(text).orElse(0);
    }
}

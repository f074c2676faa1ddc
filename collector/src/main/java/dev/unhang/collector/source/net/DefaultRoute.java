package dev.unhang.collector.source.net;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Which devices carry a default route, from {@code /proc/net/route} and {@code /proc/net/ipv6_route}. Pure. A device
 * with one is never bounced, so a line that is not understood is left out and nothing else.
 */
final class DefaultRoute {

    private static final int UP = 0x1;
    private static final int REJECT = 0x200;
    private static final String NOWHERE = "0".repeat(32);

    private DefaultRoute() {}

    static Set<String> devices(List<String> ipv4, List<String> ipv6) {
        Set<String> devices = new HashSet<>();
        for (String line : ipv4) {
            String[] column = line.strip().split("\\s+", -1);
            if (column.length >= 8
                    && column[1].equals("00000000")
                    && column[7].equals("00000000")
                    && usable(column[3])) {
                devices.add(column[0]);
            }
        }
        for (String line : ipv6) {
            String[] column = line.strip().split("\\s+", -1);
            if (column.length >= 10 && column[0].equals(NOWHERE) && column[1].equals("00") && usable(column[8])) {
                devices.add(column[9]);
            }
        }
        devices.remove("lo");
        return devices;
    }

    private static boolean usable(String flagsHex) {
        try {
            long flags = Long.parseLong(flagsHex, 16);
            return (flags & UP) != 0 && (flags & REJECT) == 0;
        } catch (NumberFormatException e) {
            return false;
        }
    }
}

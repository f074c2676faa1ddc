package dev.unhang.healer.actuator.gpu;

import java.util.Locale;
import java.util.Optional;

/**
 * What the kernel log of this boot says of a GPU that forbids a reset: Xid 79 (the device is gone from the bus) and Xid 154
 * (the driver wants a reboot). Form: {@code NVRM: Xid (PCI:0000:1a:00): 79, ...}. Pure.
 */
final class KernelWords {

    private KernelWords() {}

    /** @param busId as {@code 0000:1a:00} */
    static Optional<String> against(String log, String busId) {
        String head = "xid (pci:" + busId;
        Optional<String> last = Optional.empty();
        for (String line : log.lines().toList()) {
            String low = line.toLowerCase(Locale.ROOT);
            int at = low.indexOf(head);
            int end = at < 0 ? -1 : low.indexOf("): ", at);
            if (end < 0) {
                continue;
            }
            String words = low.substring(end + 3);
            if (words.matches("79\\b.*")) {
                return Optional.of(
                        "it fell off the bus in this boot (Xid 79); no reset reaches it, the node needs a power cycle");
            }
            if (words.matches("154\\b.*")) {
                int to = words.lastIndexOf(" to ");
                last = to > 0 && words.substring(to).contains("reboot")
                        ? Optional.of("the driver asks for a reboot of the node (Xid 154)")
                        : Optional.empty();
            }
        }
        return last;
    }
}

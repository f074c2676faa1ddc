package dev.unhang.collector.source.net;

import java.io.IOException;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds the PCI device behind a {@code device} link of sysfs. The link of a virtio card leads to {@code virtio2} below
 * the PCI device, so the nearest component that is a PCI address counts.
 */
final class PciPath {

    private static final Pattern ADDRESS = Pattern.compile("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");

    private PciPath() {}

    /** The real directory of the PCI device; null where the link is missing or leads to no PCI device. */
    static @Nullable Path of(Path deviceLink) {
        Path real;
        try {
            real = deviceLink.toRealPath();
        } catch (IOException e) {
            return null;
        }
        for (Path at = real; at != null && at.getFileName() != null; at = at.getParent()) {
            if (ADDRESS.matcher(at.getFileName().toString()).matches()) {
                return at;
            }
        }
        return null;
    }

    /** The address, as {@code 0000:5c:00.0}. */
    static String address(Path device) {
        return String.valueOf(device.getFileName());
    }
}

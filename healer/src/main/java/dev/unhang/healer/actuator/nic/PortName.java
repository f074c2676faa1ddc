package dev.unhang.healer.actuator.nic;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Finds the device that a command names: PCI address and port as collectors write it, {@code 0000:5c:00.0/0}, or
 * {@code virtual/NAME}. Source: {@code device}, {@code phys_port_name} and {@code dev_port} below
 * {@code /sys/class/net}. Reads only; on the worker's thread.
 */
final class PortName {

    private static final Pattern PCI = Pattern.compile("([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7])/(\\d{1,3})");
    private static final Pattern PCI_ADDRESS = Pattern.compile("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
    private static final Pattern VIRTUAL = Pattern.compile("virtual/([^/\\s]{1,15})");

    // The host's ends of virtual functions share PCI address and port with the real one.
    private static final Pattern REPRESENTOR = Pattern.compile("(c\\d+)?pf\\d+(vf\\d+|sf\\d+|hpf)?");

    private final Path sys;

    PortName(Path sys) {
        this.sys = sys;
    }

    /**
     * @return names of all devices that it may mean
     * @throws IllegalArgumentException when it is no name of a port
     */
    List<String> devices(String nic) throws IOException {
        var virtual = VIRTUAL.matcher(nic);
        if (virtual.matches()) {
            return List.of(virtual.group(1));
        }
        var pci = PCI.matcher(nic);
        if (!pci.matches()) {
            throw new IllegalArgumentException(
                    "'" + nic + "' names no port: it is a PCI address and port as 0000:5c:00.0/0, or virtual/NAME");
        }
        List<String> found = new ArrayList<>();
        try (DirectoryStream<Path> devices = Files.newDirectoryStream(sys.resolve("class/net"))) {
            for (Path device : devices) {
                if (pci.group(1).equals(address(device))
                        && pci.group(2).equals(text(device.resolve("dev_port"), "0"))
                        && !REPRESENTOR
                                .matcher(text(device.resolve("phys_port_name"), ""))
                                .matches()) {
                    found.add(String.valueOf(device.getFileName()));
                }
            }
        }
        return found;
    }

    private static String address(Path device) {
        try {
            for (Path at = device.resolve("device").toRealPath(); at != null; at = at.getParent()) {
                if (at.getFileName() != null
                        && PCI_ADDRESS.matcher(at.getFileName().toString()).matches()) {
                    return at.getFileName().toString();
                }
            }
        } catch (IOException e) {
            return ""; // not hardware
        }
        return "";
    }

    private static String text(Path file, String otherwise) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return otherwise; // absent, or not supported by this driver
        }
    }
}

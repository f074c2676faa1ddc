package dev.unhang.collector.source.net;

import dev.unhang.collector.source.file.SmallFile;
import dev.unhang.events.v1.NicInventory;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads what rarely changes of network devices. A device below one with a default route (the members of a bond, the
 * parent of a VLAN) counts as having it too: taking it down can cut the node off just the same.
 */
final class NicInventoryReader {

    private final Path net;
    private final Set<String> defaultRoute;

    NicInventoryReader(Path sys, Path proc) {
        this.net = sys.resolve("class/net");
        this.defaultRoute = withLower(DefaultRoute.devices(
                lines(proc.resolve("self/net/route")), lines(proc.resolve("self/net/ipv6_route"))));
    }

    NicInventory read(NetDevice device) {
        Path directory = net.resolve(device.name());
        Path pci = device.pci();
        return NicInventory.newBuilder()
                .setId(device.id())
                .setName(device.name())
                .setDriver(driver(directory.resolve("device")))
                .setMac(SmallFile.read(directory.resolve("address")).or(""))
                .setSpeedMbps(number(directory.resolve("speed")))
                .setMtu(Math.max(0, number(directory.resolve("mtu"))))
                .setNumaNode(pci == null ? -1 : number(pci.resolve("numa_node")))
                .setPhysical(device.physical())
                .setDefaultRoute(defaultRoute.contains(device.name()))
                .setVirtualFunction(pci != null && Files.exists(pci.resolve("physfn"), LinkOption.NOFOLLOW_LINKS))
                .setModel(pci == null ? "" : model(pci))
                .build();
    }

    /** For devices that sysfs does not show. */
    NicInventory nameOnly(NetDevice device) {
        return NicInventory.newBuilder()
                .setId(device.id())
                .setName(device.name())
                .setSpeedMbps(-1)
                .setNumaNode(-1)
                .setDefaultRoute(defaultRoute.contains(device.name()))
                .build();
    }

    private Set<String> withLower(Set<String> upper) {
        Set<String> all = new HashSet<>();
        Deque<String> open = new ArrayDeque<>(upper);
        while (!open.isEmpty()) {
            String name = open.pop();
            if (!all.add(name)) {
                continue;
            }
            lower(name).forEach(open::push);
        }
        return all;
    }

    /** None where there is no directory: it is of another namespace, or went away. */
    private List<String> lower(String name) {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> links = Files.newDirectoryStream(net.resolve(name), "lower_*")) {
            links.forEach(link -> names.add(String.valueOf(link.getFileName()).substring("lower_".length())));
        } catch (IOException e) {
            return List.of();
        }
        return names;
    }

    private static String driver(Path device) {
        try {
            return String.valueOf(device.resolve("driver").toRealPath().getFileName());
        } catch (IOException e) {
            return "";
        }
    }

    private static @Nullable String hex(Path file) {
        String text = SmallFile.read(file).text();
        return text == null || !text.startsWith("0x") ? text : text.substring(2);
    }

    private static String model(Path pci) {
        String vendor = hex(pci.resolve("vendor"));
        String device = hex(pci.resolve("device"));
        return vendor == null || device == null ? "" : vendor + ":" + device;
    }

    /** -1 where it is not known; a speed of a link that is down reads as EINVAL or -1. */
    private static int number(Path file) {
        try {
            return Integer.parseInt(SmallFile.read(file).or("-1"));
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            return List.of();
        }
    }
}

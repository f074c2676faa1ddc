package dev.unhang.collector.source.net;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** A tree of files and links in the shape of sysfs, as read from a real machine. */
final class FakeSys {

    final Path root;

    FakeSys(Path root) {
        this.root = root;
    }

    /** A network device of a PCI card, with the layout of a virtio or mlx5 card. */
    Path pciDevice(String name, String pci, int devPort, int ifindex) {
        Path card = root.resolve("devices/pci0000:00/" + pci);
        Path net = card.resolve("net").resolve(name);
        netFiles(net, ifindex);
        file(net.resolve("dev_port"), Integer.toString(devPort));
        file(card.resolve("numa_node"), "1");
        file(card.resolve("vendor"), "0x15b3");
        file(card.resolve("device"), "0x1021");
        link(net.resolve("device"), card);
        link(root.resolve("class/net").resolve(name), net);
        return net;
    }

    Path virtualDevice(String name, int ifindex) {
        Path net = root.resolve("devices/virtual/net").resolve(name);
        netFiles(net, ifindex);
        file(net.resolve("dev_port"), "0");
        link(root.resolve("class/net").resolve(name), net);
        return net;
    }

    void remove(String name) {
        delete(root.resolve("class/net").resolve(name));
    }

    private void netFiles(Path net, int ifindex) {
        Map.of(
                        "ifindex", Integer.toString(ifindex),
                        "operstate", "up",
                        "flags", "0x1003",
                        "carrier", "1",
                        "carrier_changes", "2",
                        "address", "02:00:00:00:00:0" + ifindex % 10,
                        "mtu", "9000",
                        "speed", "400000")
                .forEach((file, text) -> file(net.resolve(file), text));
        long value = 1000;
        for (String file :
                new String[] {"rx_bytes", "tx_bytes", "rx_packets", "tx_packets", "rx_errors", "tx_errors", "rx_dropped"
                }) {
            file(net.resolve("statistics").resolve(file), Long.toString(value++));
        }
    }

    static void file(Path file, String text) {
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, text + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void link(Path link, Path target) {
        try {
            Files.createDirectories(link.getParent());
            Files.createSymbolicLink(link, target);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

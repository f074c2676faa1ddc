package dev.unhang.collector.source.net;

import dev.unhang.collector.source.file.SmallFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Who a network device is: worked out once for a (name, ifindex), since both can be given to another device later.
 *
 * @param id PCI address and port, or {@code virtual/NAME}
 * @param pci the directory of its PCI device
 * @param physical hardware, even where it has no PCI address
 */
record NetDevice(
        String id, String name, long ifindex, @Nullable Path pci, boolean physical) {

    // Names of the host's ends of virtual functions, as `pf0vf3`: they share PCI address and port with the real one.
    private static final Pattern REPRESENTOR = Pattern.compile("(c\\d+)?pf\\d+(vf\\d+|sf\\d+|hpf)?");

    static NetDevice identify(Path directory, String name, long ifindex) {
        Path pci = PciPath.of(directory.resolve("device"));
        boolean physical = Files.exists(directory.resolve("device"));
        String port = SmallFile.read(directory.resolve("phys_port_name")).or("");
        if (pci == null || REPRESENTOR.matcher(port).matches()) {
            return virtual(name, ifindex, physical && port.isEmpty());
        }
        String devPort = SmallFile.read(directory.resolve("dev_port")).or("0");
        return new NetDevice(PciPath.address(pci) + "/" + devPort, name, ifindex, pci, true);
    }

    static NetDevice virtual(String name, long ifindex, boolean physical) {
        return new NetDevice("virtual/" + name, name, ifindex, null, physical);
    }

    boolean isVirtual() {
        return id.startsWith("virtual/");
    }
}

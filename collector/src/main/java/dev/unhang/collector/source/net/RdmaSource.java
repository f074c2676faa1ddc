package dev.unhang.collector.source.net;

import dev.unhang.collector.source.Source;
import dev.unhang.collector.source.file.SmallFile;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.RdmaInventory;
import dev.unhang.events.v1.RdmaReading;
import dev.unhang.events.v1.ReadStatus;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * State and counters of RDMA ports from {@code /sys/class/infiniband}. RDMA traffic passes the counters of the network
 * device by, so these are what tells a busy card from a quiet one. A node without RDMA gives an empty reading. A port
 * that was there and is gone is told of as ABSENT for ten minutes. Confined to its worker thread.
 */
public final class RdmaSource implements Source {

    private static final Duration DEADLINE = Duration.ofSeconds(2);

    private record Gone(String name, long sinceNs) {}

    private final Path sys;
    private final LongSupplier monoNs;
    private final Map<String, String> present = new TreeMap<>();
    private final Map<String, Gone> gone = new TreeMap<>();
    private long lookedNs;
    private boolean looked;
    private @Nullable NodeInventory told;

    public RdmaSource(Path sys, LongSupplier monoNs) {
        this.sys = sys;
        this.monoNs = monoNs;
    }

    @Override
    public String name() {
        return "rdma";
    }

    @Override
    public Duration deadline() {
        return DEADLINE;
    }

    @Override
    public Reading read() throws IOException {
        long now = monoNs.getAsLong();
        boolean due = !looked || now - lookedNs >= NetSource.LOOK_AGAIN.toNanos();
        Map<String, String> found = new TreeMap<>();
        NodeSample.Builder part = NodeSample.newBuilder();
        for (Path device : children(sys.resolve("class/infiniband"))) {
            for (Path port : children(device.resolve("ports"))) {
                String id = identity(device, port);
                RdmaReading reading = RdmaPort.read(port, id, device.getFileName() + "/" + port.getFileName());
                if (reading.getStatus() == ReadStatus.READ_STATUS_ABSENT) {
                    continue;
                }
                part.addRdma(reading);
                found.put(id, reading.getName());
            }
        }
        due |= !found.equals(present);
        remember(found, now);
        gone.forEach((id, missed) -> part.addRdma(
                RdmaReading.newBuilder().setId(id).setName(missed.name()).setStatus(ReadStatus.READ_STATUS_ABSENT)));
        return new Reading(part.build(), due ? inventory(now) : null, List.of());
    }

    @Override
    public void close() {}

    /** The inventory, or null where it is as it was when last told. */
    private @Nullable NodeInventory inventory(long now) {
        looked = true;
        lookedNs = now;
        NodeInventory.Builder all = NodeInventory.newBuilder();
        for (Path device : children(sys.resolve("class/infiniband"))) {
            for (Path port : children(device.resolve("ports"))) {
                all.addRdma(inventory(device, port, identity(device, port)));
            }
        }
        NodeInventory inventory = all.build();
        if (inventory.equals(told) || (told == null && inventory.getRdmaCount() == 0)) {
            return null;
        }
        told = inventory;
        return inventory;
    }

    private void remember(Map<String, String> found, long now) {
        present.forEach((id, name) -> {
            if (!found.containsKey(id)) {
                gone.put(id, new Gone(name, now));
            }
        });
        gone.keySet().removeAll(found.keySet());
        gone.values().removeIf(missed -> now - missed.sinceNs() >= NetSource.MISSED.toNanos());
        present.clear();
        present.putAll(found);
    }

    private static String identity(Path device, Path port) {
        Path pci = PciPath.of(device.resolve("device"));
        String of = pci == null ? "virtual/" + device.getFileName() : PciPath.address(pci);
        return of + "/" + port.getFileName();
    }

    private static RdmaInventory inventory(Path device, Path port, String id) {
        return RdmaInventory.newBuilder()
                .setId(id)
                .setName(device.getFileName() + "/" + port.getFileName())
                .setLinkLayer(SmallFile.read(port.resolve("link_layer")).or(""))
                .setRate(SmallFile.read(port.resolve("rate")).or(""))
                .setNetdev(netdev(device, port))
                .setFirmware(SmallFile.read(device.resolve("fw_ver")).or(""))
                .setGuid(SmallFile.read(device.resolve("node_guid")).or(""))
                .build();
    }

    /** The network device of the port's first GID, else one of the same PCI device. */
    private static String netdev(Path device, Path port) {
        String ofGid = SmallFile.read(port.resolve("gid_attrs/ndevs/0")).or("");
        if (!ofGid.isEmpty()) {
            return ofGid;
        }
        List<Path> siblings = children(device.resolve("device/net"));
        return siblings.isEmpty() ? "" : String.valueOf(siblings.get(0).getFileName());
    }

    /** In name order; none where the directory is missing, for a node without RDMA is well. */
    private static List<Path> children(Path directory) {
        TreeMap<String, Path> sorted = new TreeMap<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            entries.forEach(entry -> sorted.put(String.valueOf(entry.getFileName()), entry));
        } catch (IOException e) {
            return List.of();
        }
        return List.copyOf(sorted.values());
    }
}

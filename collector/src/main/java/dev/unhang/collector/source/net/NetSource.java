package dev.unhang.collector.source.net;

import dev.unhang.collector.source.Source;
import dev.unhang.collector.source.file.SmallFile;
import dev.unhang.events.v1.NicInventory;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.ReadStatus;
import java.io.IOException;
import java.net.SocketException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * State and counters of network devices from {@code /sys/class/net}. A device that was there and is gone is still told
 * of for ten minutes, as ABSENT and NOT_PRESENT, so that a lost card is seen. Where sysfs shows another network
 * namespace than ours (it shows that of whoever mounted it), names and counters come from {@code /proc/self/net/dev},
 * every device is {@code virtual/NAME}, and up means up with a carrier. Confined to its worker thread.
 */
public final class NetSource implements Source {

    /** How long a vanished device is still told of. */
    static final Duration MISSED = Duration.ofMinutes(10);

    /** How often the slow facts and the namespace are looked at again. */
    static final Duration LOOK_AGAIN = Duration.ofSeconds(10);

    private static final Duration DEADLINE = Duration.ofSeconds(2);

    private record Gone(String name, long sinceNs) {}

    private final Path sys;
    private final Path proc;
    private final NetNames names;
    private final Interfaces interfaces;
    private final LongSupplier monoNs;

    private final Map<String, NetDevice> identities = new HashMap<>();
    private final Map<String, NetDevice> present = new LinkedHashMap<>();
    private final Map<String, Gone> gone = new TreeMap<>();
    private final Map<String, Integer> lastSpeed = new HashMap<>();
    private Map<String, Interfaces.Interface> ours = Map.of();
    private boolean foreign;
    private long lookedNs;
    private boolean looked;
    private @Nullable NodeInventory told;

    public NetSource(Path sys, Path proc, NetNames names, Interfaces interfaces, LongSupplier monoNs) {
        this.sys = sys;
        this.proc = proc;
        this.names = names;
        this.interfaces = interfaces;
        this.monoNs = monoNs;
    }

    /** The source of the running machine. */
    public static NetSource ofThisMachine(NetNames names, LongSupplier monoNs) {
        return new NetSource(Path.of("/sys"), Path.of("/proc"), names, Interfaces::ofThisProcess, monoNs);
    }

    @Override
    public String name() {
        return "net";
    }

    @Override
    public Duration deadline() {
        return DEADLINE;
    }

    @Override
    public Reading read() throws IOException {
        long now = monoNs.getAsLong();
        boolean due = !looked || now - lookedNs >= LOOK_AGAIN.toNanos();
        if (due) {
            foreign = showsAnotherNamespace();
            looked = true;
            lookedNs = now;
        }
        NodeSample.Builder part = NodeSample.newBuilder();
        Map<String, NetDevice> found = foreign ? readProc(part) : readSys(part);
        boolean changed = remember(found, now);
        gone.forEach((id, missed) -> part.addNics(NicReading.newBuilder()
                .setId(id)
                .setName(missed.name())
                .setState(OperState.OPER_STATE_NOT_PRESENT)
                .setStatus(ReadStatus.READ_STATUS_ABSENT)));
        return new Reading(part.build(), due || changed ? inventory() : null, List.of());
    }

    @Override
    public void close() {}

    /** True where a device that we have is not the one that sysfs shows by that name. */
    private boolean showsAnotherNamespace() {
        try {
            ours = interfaces.list();
        } catch (SocketException e) {
            return false;
        }
        return ours.entrySet().stream()
                .anyMatch(each -> SmallFile.read(sys.resolve("class/net/" + each.getKey() + "/ifindex"))
                                .unsigned()
                                .orElse(-1)
                        != each.getValue().index());
    }

    private Map<String, NetDevice> readSys(NodeSample.Builder part) throws IOException {
        Map<String, NetDevice> found = new LinkedHashMap<>();
        for (Path directory : directories()) {
            String name = String.valueOf(directory.getFileName());
            long ifindex =
                    SmallFile.read(directory.resolve("ifindex")).unsigned().orElse(-1);
            if (ifindex < 0 || !names.watched(name) || isContainerEnd(directory, name)) {
                continue; // vanished while we looked, or not ours to watch
            }
            NetDevice known = identities.get(name);
            NetDevice device =
                    known != null && known.ifindex() == ifindex ? known : NetDevice.identify(directory, name, ifindex);
            if (found.containsKey(device.id())) {
                // Two devices of one PCI address and port: the first keeps the identity.
                device = NetDevice.virtual(name, ifindex, device.physical());
            }
            identities.put(name, device);
            NicReading reading = NicReader.read(directory, device);
            if (reading.getStatus() == ReadStatus.READ_STATUS_ABSENT) {
                continue;
            }
            found.put(device.id(), device);
            part.addNics(reading);
        }
        identities.values().removeIf(device -> !found.containsValue(device));
        return found;
    }

    /** In name order, so that a reading looks alike each second. */
    private List<Path> directories() throws IOException {
        Path root = sys.resolve("class/net");
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
            TreeMap<String, Path> sorted = new TreeMap<>();
            entries.forEach(entry -> sorted.put(String.valueOf(entry.getFileName()), entry));
            return List.copyOf(sorted.values());
        } catch (NoSuchFileException e) {
            throw new NoSuchFileException(root.toString(), null, "no network devices in sysfs: is /sys mounted?");
        }
    }

    /** A veth that hangs on a bridge is the host's end of some container. */
    private static boolean isContainerEnd(Path directory, String name) {
        return name.startsWith("veth") && Files.exists(directory.resolve("master"), LinkOption.NOFOLLOW_LINKS);
    }

    private Map<String, NetDevice> readProc(NodeSample.Builder part) throws IOException {
        Map<String, Interfaces.Interface> now = interfaces.list();
        Map<String, NetDevice> found = new LinkedHashMap<>();
        NetDevFile.parse(Files.readAllLines(proc.resolve("self/net/dev"))).forEach((name, counters) -> {
            Interfaces.Interface each = now.get(name);
            if (each == null || !names.watched(name)) {
                return;
            }
            NetDevice device = NetDevice.virtual(name, each.index(), false);
            found.put(device.id(), device);
            part.addNics(NicReading.newBuilder()
                    .setId(device.id())
                    .setName(name)
                    .setState(each.running() ? OperState.OPER_STATE_UP : OperState.OPER_STATE_DOWN)
                    .setRxBytes(counters.rxBytes())
                    .setTxBytes(counters.txBytes())
                    .setRxPackets(counters.rxPackets())
                    .setTxPackets(counters.txPackets())
                    .setRxErrors(counters.rxErrors())
                    .setTxErrors(counters.txErrors())
                    .setRxDropped(counters.rxDropped()));
        });
        return found;
    }

    /** Notes who is here and who has gone; true where that changed, or a name did. */
    private boolean remember(Map<String, NetDevice> found, long now) {
        boolean changed = !found.equals(present);
        present.forEach((id, device) -> {
            if (!found.containsKey(id) && !renamed(device, found)) {
                gone.put(id, new Gone(device.name(), now));
            }
        });
        gone.keySet().removeAll(found.keySet());
        gone.values().removeIf(missed -> now - missed.sinceNs() >= MISSED.toNanos());
        present.clear();
        present.putAll(found);
        return changed;
    }

    /** Only the identity of a virtual device hangs on its name. */
    private static boolean renamed(NetDevice device, Map<String, NetDevice> found) {
        return device.isVirtual()
                && found.values().stream().anyMatch(other -> other.isVirtual() && other.ifindex() == device.ifindex());
    }

    /** The inventory, or null where it is as it was when last told. */
    private @Nullable NodeInventory inventory() {
        NodeInventory.Builder all = NodeInventory.newBuilder();
        NicInventoryReader reader = new NicInventoryReader(sys, proc);
        for (NetDevice device : present.values()) {
            NicInventory nic = foreign ? reader.nameOnly(device) : reader.read(device);
            // A link that is down does not tell its speed; that is no change of what the card is.
            Integer before = lastSpeed.get(nic.getId());
            if (nic.getSpeedMbps() > 0) {
                lastSpeed.put(nic.getId(), nic.getSpeedMbps());
            } else if (before != null) {
                nic = nic.toBuilder().setSpeedMbps(before).build();
            }
            Interfaces.Interface own = ours.get(device.name());
            all.addNics(
                    own == null
                            ? nic
                            : nic.toBuilder().addAllAddresses(own.addresses()).build());
        }
        NodeInventory now = all.build();
        if (now.equals(told)) {
            return null;
        }
        told = now;
        return now;
    }
}

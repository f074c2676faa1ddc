package dev.unhang.collector.sample;

import dev.unhang.events.v1.GpuInventory;
import dev.unhang.events.v1.NicInventory;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.RdmaInventory;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What rarely changes: the host's facts and what each source told last, as one inventory. Due at the start, on any
 * change, and each minute. Confined to the sampler's thread, but for {@link #last}.
 */
public final class InventoryBook {

    private static final Duration EVERY = Duration.ofMinutes(1);

    private final NodeInventory host;
    private volatile NodeInventory last = NodeInventory.getDefaultInstance();
    private boolean sent;
    private long sentNs;

    /** {@code host} carries identity, labels and facts; no times. */
    public InventoryBook(NodeInventory host) {
        this.host = host;
    }

    /** The inventory to send now, without times; null when none is due. */
    @Nullable
    NodeInventory due(List<NodeInventory> told, long nowNs) {
        NodeInventory.Builder merged = host.toBuilder();
        told.forEach(merged::mergeFrom);
        NodeInventory now = merged.setHash(HostFacts.hash(drift(merged.build()).toByteArray()))
                .build();
        if (sent && now.equals(last) && nowNs - sentNs < EVERY.toNanos()) {
            return null;
        }
        sent = true;
        sentNs = nowNs;
        last = now;
        return now;
    }

    /** The last that was sent; any thread. */
    public NodeInventory last() {
        return last;
    }

    /**
     * What two nodes of one kind should have in common: no names, addresses, ids or labels, and no virtual devices.
     * Devices are in an order that does not hang on where they are plugged in.
     */
    static NodeInventory drift(NodeInventory inventory) {
        NodeInventory.Builder same = NodeInventory.newBuilder()
                .setKernel(inventory.getKernel())
                .setOs(inventory.getOs())
                .setCollectorVersion(inventory.getCollectorVersion())
                .setDriverVersion(inventory.getDriverVersion())
                .setNvmlVersion(inventory.getNvmlVersion())
                .setCudaVersion(inventory.getCudaVersion())
                .setCpus(inventory.getCpus());
        sorted(inventory.getGpusList().stream(), InventoryBook::drift, GpuInventory::toString)
                .forEach(same::addGpus);
        sorted(
                        inventory.getNicsList().stream().filter(NicInventory::getPhysical),
                        InventoryBook::drift,
                        NicInventory::toString)
                .forEach(same::addNics);
        sorted(inventory.getRdmaList().stream(), InventoryBook::drift, RdmaInventory::toString)
                .forEach(same::addRdma);
        return same.build();
    }

    private static GpuInventory drift(GpuInventory gpu) {
        return gpu.toBuilder()
                .clearUuid()
                .clearPci()
                .clearIndex()
                .clearNumaNode()
                .clearSerialHash()
                .build();
    }

    private static NicInventory drift(NicInventory nic) {
        return nic.toBuilder()
                .clearId()
                .clearName()
                .clearMac()
                .clearNumaNode()
                .clearDefaultRoute()
                .clearAddresses()
                .build();
    }

    private static RdmaInventory drift(RdmaInventory rdma) {
        return rdma.toBuilder().clearId().clearName().clearNetdev().clearGuid().build();
    }

    private static <T> Stream<T> sorted(Stream<T> devices, UnaryOperator<T> drift, Function<T, String> text) {
        return devices.map(drift).sorted(java.util.Comparator.comparing(text));
    }
}

package dev.unhang.collector.sample;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.GpuInventory;
import dev.unhang.events.v1.NicInventory;
import dev.unhang.events.v1.NodeInventory;
import java.util.List;
import org.junit.jupiter.api.Test;

class InventoryBookTest {

    @Test
    void twoNodesOfOneKindHaveOneHash() {
        NodeInventory a = node("a", "aa", "0000:1a:00", "580.1").build();
        NodeInventory b = node("b", "bb", "0000:2a:00", "580.1").build();

        assertThat(hash(a)).isEqualTo(hash(b)).hasSize(16);
    }

    @Test
    void anotherDriverOrOneGpuLessIsAnotherHash() {
        NodeInventory.Builder a = node("a", "aa", "0000:1a:00", "580.1");

        assertThat(hash(node("a", "aa", "0000:1a:00", "580.2").build())).isNotEqualTo(hash(a.build()));
        assertThat(hash(a.clone().removeGpus(0).build())).isNotEqualTo(hash(a.build()));
    }

    @Test
    void theOrderOfDevicesAndVirtualOnesDoNotMatter() {
        NodeInventory.Builder a = node("a", "aa", "0000:1a:00", "580.1");
        NodeInventory.Builder turned =
                a.clone().clearGpus().addGpus(a.getGpus(1)).addGpus(a.getGpus(0));
        turned.addNics(NicInventory.newBuilder().setId("virtual/veth7").setName("veth7"));

        assertThat(hash(turned.build())).isEqualTo(hash(a.build()));
    }

    private static byte[] hash(NodeInventory inventory) {
        return requireNonNull(new InventoryBook(inventory).due(List.of(), 0))
                .getHash()
                .toByteArray();
    }

    private static NodeInventory.Builder node(String name, String mac, String pci, String driver) {
        return NodeInventory.newBuilder()
                .setHostname(name)
                .setMachineId(ByteString.copyFromUtf8(name))
                .putLabels("rack", name)
                .setDriverVersion(driver)
                .addGpus(GpuInventory.newBuilder()
                        .setUuid(ByteString.copyFromUtf8(name))
                        .setPci(pci)
                        .setName("H200"))
                .addGpus(GpuInventory.newBuilder()
                        .setUuid(ByteString.copyFromUtf8(name + "2"))
                        .setIndex(1)
                        .setName("H200")
                        .setPowerLimitMw(700_000))
                .addNics(NicInventory.newBuilder()
                        .setId(pci)
                        .setMac(mac)
                        .addAddresses("10.0.0." + mac.length() + pci.charAt(pci.length() - 1))
                        .setPhysical(true)
                        .setSpeedMbps(400_000));
    }
}

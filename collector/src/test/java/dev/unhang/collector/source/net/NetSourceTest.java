package dev.unhang.collector.source.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.collector.source.Source.Reading;
import dev.unhang.events.v1.FieldFault;
import dev.unhang.events.v1.NicInventory;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.ReadStatus;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NetSourceTest {

    @TempDir
    Path dir;

    private FakeSys sys;
    private final AtomicLong now = new AtomicLong(1);
    private final Map<String, Interfaces.Interface> ours = new HashMap<>();
    private NetSource source;

    @BeforeEach
    void anEmptyMachine() {
        sys = new FakeSys(dir.resolve("sys"));
        FakeSys.file(dir.resolve("proc/self/net/route"), "Iface\tDestination\tGateway\tFlags");
        source = new NetSource(
                dir.resolve("sys"), dir.resolve("proc"), NetNames.defaults(), () -> Map.copyOf(ours), now::get);
    }

    @Test
    void aCardIsNamedByItsPciAddressAndPort() throws IOException {
        sys.pciDevice("eth1", "0000:5c:00.0", 1, 3);

        NicReading nic = only(source.read());

        assertThat(nic)
                .isEqualTo(NicReading.newBuilder()
                        .setId("0000:5c:00.0/1")
                        .setName("eth1")
                        .setState(OperState.OPER_STATE_UP)
                        .setAdminUp(true)
                        .setCarrier(true)
                        .setCarrierChanges(2)
                        .setRxBytes(1000)
                        .setTxBytes(1001)
                        .setRxPackets(1002)
                        .setTxPackets(1003)
                        .setRxErrors(1004)
                        .setTxErrors(1005)
                        .setRxDropped(1006)
                        .build());
    }

    @Test
    void aVirtioCardIsNamedByThePciDeviceAboveIt() throws IOException {
        Path net = sys.pciDevice("eth0", "0000:00:03.0", 0, 2);
        FakeSys.delete(net.resolve("device"));
        Path virtio = sys.root.resolve("devices/pci0000:00/0000:00:03.0/virtio2");
        FakeSys.file(virtio.resolve("vendor"), "0x1af4");
        FakeSys.link(net.resolve("device"), virtio);

        assertThat(only(source.read()).getId()).isEqualTo("0000:00:03.0/0");
    }

    @Test
    void aRenamedCardKeepsItsIdentityAndTheInventoryTellsTheNewName() throws IOException {
        sys.pciDevice("ib0", "0000:98:00.0", 0, 4);
        source.read();
        sys.remove("ib0");
        FakeSys.link(
                sys.root.resolve("class/net/ibs22f0"), sys.root.resolve("devices/pci0000:00/0000:98:00.0/net/ib0"));

        Reading reading = source.read();

        assertThat(only(reading).getId()).isEqualTo("0000:98:00.0/0");
        assertThat(only(reading).getName()).isEqualTo("ibs22f0");
        assertThat(inventory(reading).getNics(0).getName()).isEqualTo("ibs22f0");
    }

    @Test
    void anEndOfAVethPairIsWatchedByName() throws IOException {
        sys.virtualDevice("veth1", 7);

        assertThat(only(source.read()).getId()).isEqualTo("virtual/veth1");
    }

    @Test
    void loopbackBridgesAndTheHostsEndsOfContainersAreNotWatched() throws IOException {
        sys.virtualDevice("lo", 1);
        sys.virtualDevice("docker0", 5);
        sys.virtualDevice("cni0", 6);
        sys.virtualDevice("tap3", 9);
        Path end = sys.virtualDevice("veth9a", 8);
        FakeSys.link(end.resolve("master"), sys.root.resolve("class/net/docker0"));

        assertThat(source.read().part().getNicsList()).isEmpty();
    }

    @Test
    void aConfiguredPatternChoosesOtherDevices() throws IOException {
        sys.virtualDevice("lo", 1);
        sys.virtualDevice("eth7", 5);
        NetSource chosen = new NetSource(
                sys.root,
                dir.resolve("proc"),
                new NetNames(List.of("l?"), List.of()),
                () -> Map.copyOf(ours),
                now::get);

        assertThat(only(chosen.read()).getName()).isEqualTo("lo");
    }

    @Test
    void carrierOfADeviceTakenDownIsNotKnownAndNoFault() throws IOException {
        Path net = sys.pciDevice("eth1", "0000:5c:00.0", 0, 3);
        FakeSys.file(net.resolve("flags"), "0x1002");
        FakeSys.file(net.resolve("operstate"), "down");

        NicReading nic = only(source.read());

        assertThat(nic.getAdminUp()).isFalse();
        assertThat(nic.hasCarrier()).isFalse();
        assertThat(nic.getState()).isEqualTo(OperState.OPER_STATE_DOWN);
        assertThat(nic.getFaultsList()).isEmpty();
    }

    @Test
    void aCounterThatIsNoNumberIsAFaultAndNotZero() throws IOException {
        Path net = sys.pciDevice("eth1", "0000:5c:00.0", 0, 3);
        FakeSys.file(net.resolve("statistics/rx_bytes"), "-1");
        FakeSys.delete(net.resolve("statistics/tx_bytes"));

        NicReading nic = only(source.read());

        assertThat(nic.hasRxBytes()).isFalse();
        assertThat(nic.hasTxBytes()).isFalse();
        assertThat(nic.getFaultsList())
                .containsExactly(
                        fault("rx_bytes", ReadStatus.READ_STATUS_OUT_OF_RANGE, 0),
                        fault("tx_bytes", ReadStatus.READ_STATUS_ABSENT, 2));
    }

    @Test
    void aCounterUsesAll64Bits() throws IOException {
        Path net = sys.pciDevice("eth1", "0000:5c:00.0", 0, 3);
        FakeSys.file(net.resolve("statistics/rx_bytes"), "18446744073709551615");

        assertThat(only(source.read()).getRxBytes()).isEqualTo(-1L);
    }

    @Test
    void aLostCardIsToldOfForTenMinutes() throws IOException {
        sys.pciDevice("eth1", "0000:5c:00.0", 0, 3);
        source.read();
        sys.remove("eth1");
        now.addAndGet(Duration.ofSeconds(1).toNanos());

        assertThat(only(source.read()))
                .isEqualTo(NicReading.newBuilder()
                        .setId("0000:5c:00.0/0")
                        .setName("eth1")
                        .setState(OperState.OPER_STATE_NOT_PRESENT)
                        .setStatus(ReadStatus.READ_STATUS_ABSENT)
                        .build());
        now.addAndGet(NetSource.MISSED.toNanos() - 1);
        assertThat(source.read().part().getNicsList()).hasSize(1);
        now.addAndGet(1);
        assertThat(source.read().part().getNicsList()).isEmpty();
    }

    @Test
    void aCardThatComesBackIsNoLongerMissed() throws IOException {
        sys.pciDevice("eth1", "0000:5c:00.0", 0, 3);
        source.read();
        sys.remove("eth1");
        source.read();
        FakeSys.link(sys.root.resolve("class/net/eth1"), sys.root.resolve("devices/pci0000:00/0000:5c:00.0/net/eth1"));

        assertThat(only(source.read()).getStatus()).isEqualTo(ReadStatus.READ_STATUS_OK);
    }

    @Test
    void aRepresentorOfAVirtualFunctionDoesNotTakeTheCardsName() throws IOException {
        Path representor = sys.pciDevice("aaa", "0000:5c:00.0", 0, 3);
        FakeSys.file(representor.resolve("phys_port_name"), "pf0vf3");
        sys.pciDevice("eth1", "0000:5c:00.0", 0, 4);

        assertThat(source.read().part().getNicsList())
                .extracting(NicReading::getId)
                .containsExactly("virtual/aaa", "0000:5c:00.0/0");
    }

    @Test
    void theInventoryIsToldOnceAndAgainWhenItChanges() throws IOException {
        Path net = sys.pciDevice("eth1", "0000:5c:00.0", 0, 3);

        assertThat(inventory(source.read()).getNicsList())
                .containsExactly(NicInventory.newBuilder()
                        .setId("0000:5c:00.0/0")
                        .setName("eth1")
                        .setMac("02:00:00:00:00:03")
                        .setSpeedMbps(400000)
                        .setMtu(9000)
                        .setNumaNode(1)
                        .setPhysical(true)
                        .setModel("15b3:1021")
                        .build());
        now.addAndGet(NetSource.LOOK_AGAIN.toNanos());
        assertThat(source.read().inventory()).isNull();
        FakeSys.file(net.resolve("mtu"), "1500");
        now.addAndGet(NetSource.LOOK_AGAIN.toNanos() - 1);
        assertThat(source.read().inventory()).isNull();
        now.addAndGet(1);
        assertThat(inventory(source.read()).getNics(0).getMtu()).isEqualTo(1500);
    }

    @Test
    void theInventoryTellsTheAddressesByWhichPeersNameTheCard() throws IOException {
        sys.pciDevice("eth1", "0000:5c:00.0", 0, 3);
        ours.put("eth1", new Interfaces.Interface(3, true, List.of("10.0.0.7")));

        assertThat(inventory(source.read()).getNics(0).getAddressesList()).containsExactly("10.0.0.7");
        ours.put("eth1", new Interfaces.Interface(3, true, List.of("10.0.0.8")));
        now.addAndGet(NetSource.LOOK_AGAIN.toNanos());
        assertThat(inventory(source.read()).getNics(0).getAddressesList()).containsExactly("10.0.0.8");
    }

    @Test
    void anAddressThatOthersCannotReachIsNotTold() throws IOException {
        List<InetAddress> addresses = new ArrayList<>();
        for (String each : List.of(
                "2001:db8::7", "127.0.0.1", "10.0.0.7", "169.254.1.1", "fe80::1", "::1", "0.0.0.0", "224.0.0.1")) {
            addresses.add(InetAddress.getByName(each));
        }

        assertThat(Interfaces.reachable(addresses)).containsExactly("10.0.0.7", "2001:db8:0:0:0:0:0:7");
    }

    @Test
    void ofACardWithAThousandAddressesEightAreTold() throws IOException {
        List<InetAddress> addresses = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            addresses.add(InetAddress.getByAddress(new byte[] {10, 1, (byte) (i / 250), (byte) (i % 250)}));
        }

        assertThat(Interfaces.reachable(addresses)).hasSize(8);
    }

    @Test
    void aLinkThatIsDownKeepsTheSpeedThatItHad() throws IOException {
        Path net = sys.pciDevice("eth1", "0000:5c:00.0", 0, 3);
        source.read();
        FakeSys.file(net.resolve("speed"), "-1");
        now.addAndGet(NetSource.LOOK_AGAIN.toNanos());

        assertThat(source.read().inventory()).isNull();
    }

    @Test
    void theMembersOfABondWithTheDefaultRouteHaveItToo() throws IOException {
        sys.pciDevice("eth1", "0000:5c:00.0", 0, 3);
        sys.pciDevice("eth2", "0000:5d:00.0", 0, 4);
        Path bond = sys.virtualDevice("bond0", 5);
        FakeSys.link(bond.resolve("lower_eth1"), sys.root.resolve("class/net/eth1"));
        FakeSys.file(dir.resolve("proc/self/net/route"), """
                Iface   Destination     Gateway         Flags   RefCnt  Use     Metric  Mask            MTU
                bond0   00000000        010200C0        0003    0       0       0       00000000        0""");

        assertThat(inventory(source.read()).getNicsList())
                .filteredOn(NicInventory::getDefaultRoute)
                .extracting(NicInventory::getName)
                .containsExactly("bond0", "eth1");
    }

    @Test
    void whereSysfsShowsAnotherNamespaceTheCountersComeFromProc() throws IOException {
        sys.pciDevice("eth1", "0000:5c:00.0", 0, 3);
        ours.put("eth1", new Interfaces.Interface(12, true, List.of()));
        ours.put("veth0", new Interfaces.Interface(13, false, List.of()));
        FakeSys.file(dir.resolve("proc/self/net/dev"), """
                Inter-|   Receive                                                |  Transmit
                 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo
                  eth1: 104972469    4651    1    2    0     0          0         0   396329    3747    3    0    0
                 veth0:5 1 0 0 0 0 0 0 6 1 0 0 0""");

        List<NicReading> nics = source.read().part().getNicsList();

        assertThat(nics).extracting(NicReading::getId).containsExactly("virtual/eth1", "virtual/veth0");
        assertThat(nics.get(0).getRxBytes()).isEqualTo(104972469);
        assertThat(nics.get(0).getTxBytes()).isEqualTo(396329);
        assertThat(nics.get(0).getRxErrors()).isEqualTo(1);
        assertThat(nics.get(0).getRxDropped()).isEqualTo(2);
        assertThat(nics.get(0).getTxErrors()).isEqualTo(3);
        assertThat(nics.get(0).getState()).isEqualTo(OperState.OPER_STATE_UP);
        assertThat(nics.get(1).getState()).isEqualTo(OperState.OPER_STATE_DOWN);
    }

    @Test
    void thisMachineIsReadWithoutAFault() throws IOException {
        NetSource real = new NetSource(
                Path.of("/sys"),
                Path.of("/proc"),
                new NetNames(List.of("*"), List.of()),
                Interfaces::ofThisProcess,
                now::get);

        assertThat(real.read().part().getNicsList())
                .anySatisfy(nic -> assertThat(nic.getName()).isEqualTo("lo"))
                .allSatisfy(nic -> {
                    assertThat(nic.hasRxBytes()).isTrue();
                    assertThat(nic.getFaultsList()).isEmpty();
                });
    }

    private static NicReading only(Reading reading) {
        assertThat(reading.part().getNicsList()).hasSize(1);
        return reading.part().getNics(0);
    }

    private static NodeInventory inventory(Reading reading) {
        NodeInventory inventory = reading.inventory();
        assertThat(inventory).isNotNull();
        return java.util.Objects.requireNonNull(inventory);
    }

    private static FieldFault fault(String field, ReadStatus status, int code) {
        return FieldFault.newBuilder()
                .setField(field)
                .setStatus(status)
                .setCode(code)
                .build();
    }
}

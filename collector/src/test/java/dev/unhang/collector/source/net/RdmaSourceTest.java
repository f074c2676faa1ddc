package dev.unhang.collector.source.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.CounterReading;
import dev.unhang.events.v1.FieldFault;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.RdmaInventory;
import dev.unhang.events.v1.RdmaReading;
import dev.unhang.events.v1.ReadStatus;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RdmaSourceTest {

    @TempDir
    Path sys;

    private final AtomicLong now = new AtomicLong(1);
    private RdmaSource source;
    private Path port;

    @BeforeEach
    void oneMlx5Port() {
        Path card = sys.resolve("devices/pci0000:40/0000:41:00.0");
        Path device = card.resolve("infiniband/mlx5_0");
        port = device.resolve("ports/1");
        FakeSys.file(port.resolve("state"), "4: ACTIVE");
        FakeSys.file(port.resolve("phys_state"), "5: LinkUp");
        FakeSys.file(port.resolve("rate"), "400 Gb/sec (4X NDR)");
        FakeSys.file(port.resolve("link_layer"), "Ethernet");
        FakeSys.file(port.resolve("counters/port_rcv_data"), "1000");
        FakeSys.file(port.resolve("counters/port_xmit_data"), "2000");
        FakeSys.file(port.resolve("counters/symbol_error"), "0");
        FakeSys.file(port.resolve("gid_attrs/ndevs/0"), "eth1");
        FakeSys.file(device.resolve("fw_ver"), "28.39.1002");
        FakeSys.file(device.resolve("node_guid"), "0000:0000:0000:0001");
        FakeSys.link(device.resolve("device"), card);
        FakeSys.link(sys.resolve("class/infiniband/mlx5_0"), device);
        source = new RdmaSource(sys, now::get);
    }

    @Test
    void dataCountersAreWordsOfFourBytes() throws IOException {
        assertThat(only())
                .isEqualTo(RdmaReading.newBuilder()
                        .setId("0000:41:00.0/1")
                        .setName("mlx5_0/1")
                        .setState(4)
                        .setPhysState(5)
                        .setRxBytes(4000)
                        .setTxBytes(8000)
                        .build());
    }

    @Test
    void aPortWithoutPmaIsNotSupportedAndNeverQuiet() throws IOException {
        FakeSys.file(port.resolve("counters/port_rcv_data"), "N/A (no PMA)");

        assertThat(only().hasRxBytes()).isFalse();
        assertThat(only().getFaultsList())
                .containsExactly(FieldFault.newBuilder()
                        .setField("rx_bytes")
                        .setStatus(ReadStatus.READ_STATUS_NOT_SUPPORTED)
                        .build());
    }

    @ParameterizedTest
    @CsvSource({"4294967294, true", "4294967295, false", "4294967296, true"})
    void aDataCounterThatStuckAt32BitsIsNotKnown(String words, boolean known) throws IOException {
        FakeSys.file(port.resolve("counters/port_rcv_data"), words);

        assertThat(only().hasRxBytes()).isEqualTo(known);
    }

    @ParameterizedTest
    @CsvSource({
        "link_downed, 254, false",
        "link_downed, 255, true",
        "local_link_integrity_errors, 14, false",
        "local_link_integrity_errors, 15, true",
        "symbol_error, 65534, false",
        "symbol_error, 65535, true",
        "symbol_error, 65536, false"
    })
    void anErrorCounterAtItsLimitSaysAtLeast(String name, long value, boolean atLimit) throws IOException {
        FakeSys.file(port.resolve("counters").resolve(name), Long.toString(value));

        assertThat(only().getCountersList())
                .containsExactly(CounterReading.newBuilder()
                        .setName(name)
                        .setValue(value)
                        .setAtLimit(atLimit)
                        .build());
    }

    @Test
    void hardwareErrorsAreToldAndMarksOfCongestionAreNot() throws IOException {
        FakeSys.file(port.resolve("hw_counters/out_of_sequence"), "7");
        FakeSys.file(port.resolve("hw_counters/packet_seq_err"), "0");
        FakeSys.file(port.resolve("hw_counters/np_cnp_sent"), "12345");

        assertThat(only().getCountersList()).extracting(CounterReading::getName).containsExactly("out_of_sequence");
    }

    @Test
    void aCardWithPlainByteCountersGivesTheirSum() throws IOException {
        FakeSys.delete(port.resolve("counters/port_rcv_data"));
        FakeSys.delete(port.resolve("counters/port_xmit_data"));
        FakeSys.file(port.resolve("hw_counters/rx_bytes"), "10");
        FakeSys.file(port.resolve("hw_counters/rdma_write_recv_bytes"), "100");
        FakeSys.file(port.resolve("hw_counters/tx_bytes"), "3");

        assertThat(only().getRxBytes()).isEqualTo(110);
        assertThat(only().getTxBytes()).isEqualTo(3);
    }

    @Test
    void aStateThatIsNotUnderstoodIsAFault() throws IOException {
        FakeSys.file(port.resolve("state"), "ACTIVE");

        assertThat(only().getFaultsList()).extracting(FieldFault::getField).containsExactly("state");
    }

    @Test
    void aLostPortIsToldOfForTenMinutes() throws IOException {
        source.read();
        FakeSys.delete(sys.resolve("class/infiniband/mlx5_0"));

        assertThat(only())
                .isEqualTo(RdmaReading.newBuilder()
                        .setId("0000:41:00.0/1")
                        .setName("mlx5_0/1")
                        .setStatus(ReadStatus.READ_STATUS_ABSENT)
                        .build());
        now.addAndGet(NetSource.MISSED.toNanos());
        assertThat(source.read().part().getRdmaList()).isEmpty();
    }

    @Test
    void theInventoryTellsTheNetworkDeviceOfAPort() throws IOException {
        NodeInventory inventory = source.read().inventory();

        assertThat(inventory)
                .isEqualTo(NodeInventory.newBuilder()
                        .addRdma(RdmaInventory.newBuilder()
                                .setId("0000:41:00.0/1")
                                .setName("mlx5_0/1")
                                .setLinkLayer("Ethernet")
                                .setRate("400 Gb/sec (4X NDR)")
                                .setNetdev("eth1")
                                .setFirmware("28.39.1002")
                                .setGuid("0000:0000:0000:0001"))
                        .build());
        assertThat(source.read().inventory()).isNull();
    }

    @Test
    void aNodeWithoutRdmaHasAnEmptyReadingAndNoFault() throws IOException {
        RdmaSource none = new RdmaSource(sys.resolve("nothing"), now::get);

        assertThat(none.read().part().getSerializedSize()).isZero();
        assertThat(none.read().inventory()).isNull();
    }

    private RdmaReading only() throws IOException {
        assertThat(source.read().part().getRdmaList()).hasSize(1);
        return source.read().part().getRdma(0);
    }
}

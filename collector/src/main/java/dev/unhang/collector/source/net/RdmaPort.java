package dev.unhang.collector.source.net;

import dev.unhang.collector.source.file.SmallFile;
import dev.unhang.events.v1.CounterReading;
import dev.unhang.events.v1.FieldFault;
import dev.unhang.events.v1.RdmaReading;
import dev.unhang.events.v1.ReadStatus;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Reads one port's directory below {@code /sys/class/infiniband/DEVICE/ports}. Data counters hold words of 4 bytes
 * (Documentation/ABI/stable/sysfs-class-infiniband); EFA and others have plain bytes in {@code hw_counters} instead.
 * Classic error counters are 4, 8 or 16 bits wide (drivers/infiniband/core/sysfs.c) and stick at their maximum.
 */
final class RdmaPort {

    private static final long U32 = 0xFFFF_FFFFL;

    private static final Map<String, Long> CLASSIC = new TreeMap<>(Map.ofEntries(
            Map.entry("symbol_error", 0xFFFFL),
            Map.entry("link_error_recovery", 0xFFL),
            Map.entry("link_downed", 0xFFL),
            Map.entry("port_rcv_errors", 0xFFFFL),
            Map.entry("port_rcv_remote_physical_errors", 0xFFFFL),
            Map.entry("port_rcv_switch_relay_errors", 0xFFFFL),
            Map.entry("port_xmit_discards", 0xFFFFL),
            Map.entry("port_xmit_constraint_errors", 0xFFL),
            Map.entry("port_rcv_constraint_errors", 0xFFL),
            Map.entry("local_link_integrity_errors", 0xFL),
            Map.entry("excessive_buffer_overrun_errors", 0xFL),
            Map.entry("VL15_dropped", 0xFFFFL)));

    // Errors only: marks of congestion count up on a healthy fabric.
    private static final List<String> HARDWARE = List.of(
            "out_of_sequence",
            "out_of_buffer",
            "packet_seq_err",
            "rnr_nak_retry_err",
            "local_ack_timeout_err",
            "implied_nak_seq_err",
            "req_transport_retries_exceeded",
            "req_rnr_retries_exceeded",
            "req_cqe_error",
            "resp_cqe_error",
            "rx_icrc_encapsulated",
            "roce_adp_retrans",
            "roce_adp_retrans_to",
            "retrans_pkts",
            "retrans_timeout_events",
            "rx_drops");

    private final Path port;
    private final RdmaReading.Builder reading = RdmaReading.newBuilder();

    private RdmaPort(Path port) {
        this.port = port;
    }

    static RdmaReading read(Path port, String id, String name) {
        RdmaPort reader = new RdmaPort(port);
        reader.reading.setId(id).setName(name);
        reader.read();
        return reader.reading.build();
    }

    private void read() {
        SmallFile state = SmallFile.read(port.resolve("state"));
        if (!state.ok() && !Files.exists(port)) {
            reading.setStatus(ReadStatus.READ_STATUS_ABSENT);
            return;
        }
        reading.setState(leading("state", state));
        reading.setPhysState(leading("phys_state", SmallFile.read(port.resolve("phys_state"))));
        if (Files.exists(port.resolve("counters/port_rcv_data"))) {
            words("port_rcv_data", "rx_bytes", true);
            words("port_xmit_data", "tx_bytes", false);
        } else {
            bytes(true, "rx_bytes", "rdma_read_bytes", "rdma_write_recv_bytes");
            bytes(false, "tx_bytes", "rdma_read_resp_bytes", "rdma_write_bytes");
        }
        CLASSIC.forEach((name, limit) -> error(port.resolve("counters").resolve(name), name, limit));
        HARDWARE.forEach(name -> error(port.resolve("hw_counters").resolve(name), name, -1));
    }

    /** The number before the colon of {@code 4: ACTIVE}. */
    private int leading(String field, SmallFile file) {
        String text = file.or("");
        int colon = text.indexOf(':');
        OptionalLong value = SmallFile.unsigned(colon < 0 ? text : text.substring(0, colon));
        if (value.isEmpty() || value.getAsLong() > 255) {
            fault(field, file.ok() ? ReadStatus.READ_STATUS_OUT_OF_RANGE : file.status(), file.code());
            return 0;
        }
        return (int) value.getAsLong();
    }

    private void words(String file, String field, boolean received) {
        SmallFile content = SmallFile.read(port.resolve("counters").resolve(file));
        OptionalLong value = content.unsigned();
        if (value.isEmpty()) {
            // `N/A (no PMA)` is an answer for ever.
            fault(field, content.ok() ? ReadStatus.READ_STATUS_NOT_SUPPORTED : content.status(), content.code());
        } else if (value.getAsLong() == U32) {
            // The 32-bit form sticks here: nobody knows how much has passed.
            fault(field, ReadStatus.READ_STATUS_OUT_OF_RANGE, 0);
        } else {
            set(received, value.getAsLong() * 4);
        }
    }

    /** The sum of the byte counters that exist; EFA counts reads and writes of remote memory apart. */
    private void bytes(boolean received, String... files) {
        long sum = 0;
        boolean any = false;
        for (String file : files) {
            OptionalLong value =
                    SmallFile.read(port.resolve("hw_counters").resolve(file)).unsigned();
            if (value.isPresent()) {
                sum += value.getAsLong();
                any = true;
            }
        }
        if (any) {
            set(received, sum);
        } else {
            fault(received ? "rx_bytes" : "tx_bytes", ReadStatus.READ_STATUS_NOT_SUPPORTED, 0);
        }
    }

    private void set(boolean received, long bytes) {
        if (received) {
            reading.setRxBytes(bytes);
        } else {
            reading.setTxBytes(bytes);
        }
    }

    /** A counter that is missing or says `N/A` has nothing to tell; a counter at zero neither. */
    private void error(Path file, String name, long limit) {
        OptionalLong value = SmallFile.read(file).unsigned();
        if (value.isPresent() && value.getAsLong() != 0) {
            reading.addCounters(CounterReading.newBuilder()
                    .setName(name)
                    .setValue(value.getAsLong())
                    .setAtLimit(value.getAsLong() == limit));
        }
    }

    private void fault(String field, ReadStatus status, int code) {
        reading.addFaults(
                FieldFault.newBuilder().setField(field).setStatus(status).setCode(code));
    }
}

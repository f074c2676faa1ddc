package dev.unhang.collector.source.net;

import dev.unhang.collector.source.file.SmallFile;
import dev.unhang.events.v1.FieldFault;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.ReadStatus;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.function.LongConsumer;

/**
 * Reads one device's directory below {@code /sys/class/net}. The status is ABSENT where the device went away while it
 * was read. {@code carrier} of a device that is administratively down answers EINVAL: not known, and no fault.
 */
final class NicReader {

    private static final long IFF_UP = 0x1;

    private final Path directory;
    private final NicReading.Builder reading;
    private boolean vanished;

    private NicReader(Path directory, NetDevice device) {
        this.directory = directory;
        this.reading = NicReading.newBuilder().setId(device.id()).setName(device.name());
    }

    static NicReading read(Path directory, NetDevice device) {
        return new NicReader(directory, device).read();
    }

    private NicReading read() {
        SmallFile state = file("operstate", "state");
        reading.setState(state(state.or("unknown")));
        boolean down = readFlags();
        if (!down) {
            counter("carrier", "carrier", value -> reading.setCarrier(value != 0));
        }
        counter("carrier_changes", "carrier_changes", reading::setCarrierChanges);
        counter("statistics/rx_bytes", "rx_bytes", reading::setRxBytes);
        counter("statistics/tx_bytes", "tx_bytes", reading::setTxBytes);
        counter("statistics/rx_packets", "rx_packets", reading::setRxPackets);
        counter("statistics/tx_packets", "tx_packets", reading::setTxPackets);
        counter("statistics/rx_errors", "rx_errors", reading::setRxErrors);
        counter("statistics/tx_errors", "tx_errors", reading::setTxErrors);
        counter("statistics/rx_dropped", "rx_dropped", reading::setRxDropped);
        if (vanished && !SmallFile.read(directory.resolve("ifindex")).ok()) {
            reading.setStatus(ReadStatus.READ_STATUS_ABSENT).setState(OperState.OPER_STATE_NOT_PRESENT);
        }
        return reading.build();
    }

    /** True where somebody took the device down on purpose. */
    private boolean readFlags() {
        SmallFile flags = file("flags", "admin_up");
        String text = flags.or("");
        if (text.startsWith("0x")) {
            try {
                boolean up = (Long.parseLong(text.substring(2), 16) & IFF_UP) != 0;
                reading.setAdminUp(up);
                return !up;
            } catch (NumberFormatException e) {
                fault("admin_up", ReadStatus.READ_STATUS_OUT_OF_RANGE, 0);
            }
        } else if (flags.ok()) {
            fault("admin_up", ReadStatus.READ_STATUS_OUT_OF_RANGE, 0);
        }
        return false;
    }

    private void counter(String file, String field, LongConsumer setter) {
        SmallFile content = SmallFile.read(directory.resolve(file));
        // It was taken down between two of our reads.
        if (field.equals("carrier") && content.code() == SmallFile.EINVAL) {
            return;
        }
        OptionalLong value = content.unsigned();
        if (value.isPresent()) {
            setter.accept(value.getAsLong());
        } else if (content.ok()) {
            fault(field, ReadStatus.READ_STATUS_OUT_OF_RANGE, 0);
        } else {
            failed(field, content);
        }
    }

    private SmallFile file(String file, String field) {
        SmallFile content = SmallFile.read(directory.resolve(file));
        if (!content.ok()) {
            failed(field, content);
        }
        return content;
    }

    private void failed(String field, SmallFile content) {
        vanished |= content.status() == ReadStatus.READ_STATUS_ABSENT;
        fault(field, content.status(), content.code());
    }

    private void fault(String field, ReadStatus status, int code) {
        reading.addFaults(
                FieldFault.newBuilder().setField(field).setStatus(status).setCode(code));
    }

    static OperState state(String text) {
        return switch (text) {
            case "up" -> OperState.OPER_STATE_UP;
            case "down" -> OperState.OPER_STATE_DOWN;
            case "lowerlayerdown" -> OperState.OPER_STATE_LOWER_LAYER_DOWN;
            case "dormant" -> OperState.OPER_STATE_DORMANT;
            case "testing" -> OperState.OPER_STATE_TESTING;
            case "notpresent" -> OperState.OPER_STATE_NOT_PRESENT;
            default -> OperState.OPER_STATE_UNKNOWN;
        };
    }
}

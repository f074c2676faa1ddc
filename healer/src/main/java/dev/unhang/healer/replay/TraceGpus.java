package dev.unhang.healer.replay;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.GpuReading;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** The GPUs of one record of a trace, which its ranks name by their place in it. Not thread safe. */
final class TraceGpus {

    private final TraceFields fields;
    private final Map<String, ByteString> uuids = new HashMap<>();
    private final List<String> names = new ArrayList<>();

    TraceGpus(TraceFields fields) {
        this.fields = fields;
    }

    /** A new record begins. */
    void clear() {
        names.clear();
    }

    /** Place of a GPU in the record, or -1. */
    int indexOf(String name) {
        return names.indexOf(name);
    }

    /** Reads the object whose start was just read. */
    GpuReading read() throws IOException {
        GpuReading.Builder gpu = GpuReading.newBuilder();
        String name = "";
        while (fields.next()) {
            String field = fields.field();
            if (fields.isNull()) {
                continue;
            }
            switch (field) {
                case "uuid" -> {
                    name = fields.text();
                    gpu.setUuid(uuid(name));
                }
                case "util" -> gpu.setUtil((int) fields.whole());
                case "mem_util" -> gpu.setMemUtil((int) fields.whole());
                case "power_mw" -> gpu.setPowerMw((int) fields.whole());
                case "energy_mj" -> gpu.setEnergyMj(fields.whole());
                case "sm_mhz" -> gpu.setSmMhz((int) fields.whole());
                case "mem_mhz" -> gpu.setMemMhz((int) fields.whole());
                case "temp_c" -> gpu.setTempC((int) fields.whole());
                case "mem_used" -> gpu.setMemUsedMib((int) (fields.whole() >> 20));
                case "event_reasons" -> gpu.setEventReasons((int) fields.whole());
                case "nvlink_tx_kib" -> gpu.setNvlinkTxKib(fields.whole());
                case "nvlink_rx_kib" -> gpu.setNvlinkRxKib(fields.whole());
                case "pcie_tx_b32" -> gpu.setPcieTxB32((int) fields.whole());
                case "pcie_rx_b32" -> gpu.setPcieRxB32((int) fields.whole());
                case "pcie_replays" -> gpu.setPcieReplays((int) fields.whole());
                case "pids" -> fields.each(() -> gpu.addPids((int) fields.whole()));
                default -> fields.skip();
            }
        }
        names.add(name);
        return gpu.build();
    }

    /** 16 bytes: those of the UUID, or of a hash for a made-up trace whose GPUs bear other names. */
    private ByteString uuid(String name) {
        return uuids.computeIfAbsent(name, key -> {
            String digits = key.replace("GPU-", "").replace("-", "");
            boolean real = digits.length() == 32 && digits.chars().allMatch(c -> Character.digit(c, 16) >= 0);
            return real ? ByteString.copyFrom(HexFormat.of().parseHex(digits)) : TraceRecord.hashed("gpu " + key);
        });
    }
}

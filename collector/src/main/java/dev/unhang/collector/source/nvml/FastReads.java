package dev.unhang.collector.source.nvml;

import dev.unhang.events.v1.GpuReading;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.IntPredicate;
import java.util.function.LongConsumer;
import java.util.function.ObjLongConsumer;

/** What is read of a GPU each second. Confined to the GPU's worker. */
final class FastReads {

    /** Field ids keep their meaning in every nvml.h from CUDA 11.4 to 13.3. */
    enum Field {
        ENERGY(83, 0, "energy_mj", GpuTally.MOST_COUNTER, GpuReading.Builder::setEnergyMj),
        /** Scope 0 is the GPU, 1 would be a Grace module. */
        POWER(186, 0, "power_mw", GpuTally.MOST_MILLIWATT, (out, v) -> out.setPowerMw((int) v)),
        NVLINK_TX(
                138, FieldBlock.ALL_LINKS, "nvlink_tx_kib", GpuTally.MOST_COUNTER, GpuReading.Builder::setNvlinkTxKib),
        NVLINK_RX(
                139, FieldBlock.ALL_LINKS, "nvlink_rx_kib", GpuTally.MOST_COUNTER, GpuReading.Builder::setNvlinkRxKib),
        /** 197 and 198 wrap at 32 bits, so every 32-bit number is a possible value. */
        PCIE_TX(197, 0, "pcie_tx_b32", Long.MAX_VALUE, (out, v) -> out.setPcieTxB32((int) v)),
        PCIE_RX(198, 0, "pcie_rx_b32", Long.MAX_VALUE, (out, v) -> out.setPcieRxB32((int) v)),
        PCIE_REPLAYS(94, 0, "pcie_replays", GpuTally.MOST_COUNTER_32, (out, v) -> out.setPcieReplays((int) v)),
        RECOVERY(230, 0, "recovery_action", 255, (out, v) -> out.setRecoveryAction((int) v)),
        REMAP_PENDING(144, 0, "remap_pending", 1, (out, v) -> out.setRemapPending((int) v)),
        REMAP_FAILURE(145, 0, "remap_failure", 1, (out, v) -> out.setRemapFailure((int) v)),
        ECC(4, 0, "ecc_dbe_volatile", GpuTally.MOST_COUNTER, GpuReading.Builder::setEccDbeVolatile);

        private final int id;
        private final int scope;
        private final String field;
        private final long most;

        @SuppressWarnings("ImmutableEnumChecker") // a lambda without state
        private final ObjLongConsumer<GpuReading.Builder> setter;

        Field(int id, int scope, String field, long most, ObjLongConsumer<GpuReading.Builder> setter) {
            this.id = id;
            this.scope = scope;
            this.field = field;
            this.most = most;
            this.setter = setter;
        }

        private void put(GpuTally tally, OptionalLong value) {
            tally.put(field, value, 0, most, v -> setter.accept(tally.out(), v));
        }
    }

    private static final int CLOCK_SM = 1;
    private static final int CLOCK_MEMORY = 2;
    private static final int SENSOR_GPU = 0;

    private final DeviceCalls calls;
    private final IntPredicate processExists;
    private final ProcessList processes;
    private FieldBlock<Field> fields;

    FastReads(DeviceCalls calls, IntPredicate processExists) {
        this.calls = calls;
        this.processExists = processExists;
        this.processes = new ProcessList(calls);
        this.fields = allFields(calls.nvml());
    }

    private static FieldBlock<Field> allFields(NvmlLibrary nvml) {
        List<FieldBlock.Entry<Field>> entries = new ArrayList<>();
        for (Field field : Field.values()) {
            entries.add(new FieldBlock.Entry<>(field.id, field.scope, field));
        }
        return new FieldBlock<>(nvml, entries);
    }

    /** Asks for everything again; goes with {@link Absences#forget}. */
    void forget() {
        fields = allFields(calls.nvml());
    }

    /** Stops early at a GPU that is lost. */
    void read(GpuTally tally) {
        readUtilization(tally);
        if (!tally.lost()) {
            readFields(tally);
        }
        if (!tally.lost()) {
            readMemory(tally);
            readTemperature(tally);
            readClock(tally, CLOCK_SM, "sm_mhz", v -> tally.out().setSmMhz((int) v));
            readClock(tally, CLOCK_MEMORY, "mem_mhz", v -> tally.out().setMemMhz((int) v));
            readEventReasons(tally);
        }
        if (!tally.lost()) {
            processes.read(tally, processExists);
        }
    }

    private void readUtilization(GpuTally tally) {
        if (tally.ask(NvmlCall.UTILIZATION)
                && tally.accept(NvmlCall.UTILIZATION, calls.get(NvmlCall.UTILIZATION), "util", "mem_util")) {
            long util = calls.u32();
            long memory = calls.secondU32();
            tally.put("util", util, 0, GpuTally.MOST_PERCENT, v -> tally.out().setUtil((int) v));
            tally.put(
                    "mem_util",
                    memory,
                    0,
                    GpuTally.MOST_PERCENT,
                    v -> tally.out().setMemUtil((int) v));
        }
    }

    private void readFields(GpuTally tally) {
        fields.keep(tally::ask);
        fields.read(calls.device(), (entry, code, value, latencyUs) -> {
            Field field = entry.tag();
            if (tally.acceptField(field, code, field.field)) {
                field.put(tally, value.whole());
            }
        });
        readInstead(tally);
    }

    /** Older ways to what a field did not give. */
    private void readInstead(GpuTally tally) {
        if (tally.absent(Field.ENERGY)
                && tally.ask(NvmlCall.ENERGY)
                && tally.accept(NvmlCall.ENERGY, calls.get(NvmlCall.ENERGY), "energy_mj")) {
            Field.ENERGY.put(tally, OptionalLong.of(calls.out().getLong(0)));
        }
        readInstead(tally, Field.POWER, NvmlCall.POWER);
        readInstead(tally, Field.PCIE_REPLAYS, NvmlCall.PCIE_REPLAYS);
        boolean remapAbsent = tally.absent(Field.REMAP_PENDING) || tally.absent(Field.REMAP_FAILURE);
        if (remapAbsent
                && tally.ask(NvmlCall.REMAPPED_ROWS)
                && tally.accept(
                        NvmlCall.REMAPPED_ROWS,
                        calls.getFour(NvmlCall.REMAPPED_ROWS),
                        "remap_pending",
                        "remap_failure")) {
            // After the numbers of rows remapped for correctable and uncorrectable errors.
            Field.REMAP_PENDING.put(tally, OptionalLong.of(calls.out().getInt(8)));
            Field.REMAP_FAILURE.put(tally, OptionalLong.of(calls.out().getInt(12)));
        }
    }

    private void readInstead(GpuTally tally, Field field, NvmlCall call) {
        if (tally.absent(field) && tally.ask(call) && tally.accept(call, calls.get(call), field.field)) {
            field.put(tally, OptionalLong.of(calls.u32()));
        }
    }

    private void readMemory(GpuTally tally) {
        if (tally.ask(NvmlCall.MEMORY_V2)
                && tally.accept(
                        NvmlCall.MEMORY_V2,
                        calls.getVersioned(NvmlCall.MEMORY_V2, Layout.MEMORY_V2, 2, 0),
                        "mem_used_mib")) {
            putMemory(
                    tally,
                    calls.out().getLong(Layout.MEMORY_V2_USED),
                    calls.out().getLong(Layout.MEMORY_V2_TOTAL));
        } else if (tally.absent(NvmlCall.MEMORY_V2)
                && tally.ask(NvmlCall.MEMORY)
                && tally.accept(NvmlCall.MEMORY, calls.get(NvmlCall.MEMORY), "mem_used_mib")) {
            putMemory(
                    tally, calls.out().getLong(Layout.MEMORY_USED), calls.out().getLong(Layout.MEMORY_TOTAL));
        }
    }

    private static void putMemory(GpuTally tally, long usedBytes, long totalBytes) {
        boolean possible = totalBytes > 0 && totalBytes < GpuTally.MOST_COUNTER;
        tally.put(
                "mem_used_mib",
                possible ? OptionalLong.of(usedBytes) : OptionalLong.empty(),
                0,
                totalBytes,
                v -> tally.out().setMemUsedMib((int) (v >> 20)));
    }

    private void readTemperature(GpuTally tally) {
        if (tally.ask(NvmlCall.TEMPERATURE_V)
                && tally.accept(
                        NvmlCall.TEMPERATURE_V,
                        calls.getVersioned(NvmlCall.TEMPERATURE_V, Layout.TEMPERATURE, 1, SENSOR_GPU),
                        "temp_c")) {
            putTemperature(tally, calls.out().getInt(Layout.TEMPERATURE_CELSIUS));
        } else if (tally.absent(NvmlCall.TEMPERATURE_V)
                && tally.ask(NvmlCall.TEMPERATURE)
                && tally.accept(NvmlCall.TEMPERATURE, calls.get(NvmlCall.TEMPERATURE, SENSOR_GPU), "temp_c")) {
            putTemperature(tally, calls.u32());
        }
    }

    private static void putTemperature(GpuTally tally, long celsius) {
        tally.put("temp_c", celsius, 0, GpuTally.MOST_CELSIUS, v -> tally.out().setTempC((int) v));
    }

    private void readClock(GpuTally tally, int clock, String field, LongConsumer setter) {
        if (tally.ask(field) && tally.accept(field, calls.get(NvmlCall.CLOCK, clock), field)) {
            tally.put(field, calls.u32(), 0, GpuTally.MOST_MHZ, setter);
        }
    }

    private void readEventReasons(GpuTally tally) {
        if (tally.ask(NvmlCall.EVENT_REASONS)
                && tally.accept(NvmlCall.EVENT_REASONS, calls.get(NvmlCall.EVENT_REASONS), "event_reasons")) {
            tally.put(
                    "event_reasons",
                    calls.out().getLong(0),
                    0,
                    0xFFFF_FFFEL,
                    v -> tally.out().setEventReasons((int) v));
        }
    }
}

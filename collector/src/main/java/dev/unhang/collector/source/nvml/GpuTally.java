package dev.unhang.collector.source.nvml;

import dev.unhang.events.v1.FieldFault;
import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.ReadStatus;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongConsumer;

/**
 * Gathers one reading of one GPU: takes values that are possible, turns the rest into field faults, and notices what the
 * device as a whole says of itself. Confined to its GPU's worker, for one read.
 */
final class GpuTally {

    /** Cumulative 64-bit counters stay far below; the blanks of NVIDIA's tools and all-ones lie above. */
    static final long MOST_COUNTER = 1L << 62;
    /** 32-bit counters; the 32-bit blanks 0x7FFFFFF0 and up lie above. */
    static final long MOST_COUNTER_32 = 0x7FFFFFEFL;

    static final long MOST_PERCENT = 100;
    static final long MOST_CELSIUS = 150;
    static final long MOST_MHZ = 10_000;
    /** 20 kW: above any board or module. */
    static final long MOST_MILLIWATT = 20_000_000;

    private final GpuReading.Builder out = GpuReading.newBuilder();
    private final Absences absences;
    private final Map<Object, String[]> absentNow = new HashMap<>();
    private final Set<String> got = new HashSet<>();
    private final Set<String> faulted = new HashSet<>();
    private boolean answered;
    private int firstError;
    private int deviceError;

    GpuTally(Absences absences) {
        this.absences = absences;
    }

    GpuReading.Builder out() {
        return out;
    }

    /** Whether a source of a field is worth asking: it has not been found absent. */
    boolean ask(Object source) {
        return !absences.isAbsent(source);
    }

    /** Whether a source was found absent, now or before: time for an older way. */
    boolean absent(Object source) {
        return absentNow.containsKey(source) || absences.isAbsent(source);
    }

    /**
     * Takes a return code. True where there is a value. A code of absence is remembered for {@code source} once the
     * device has answered anything and is well: a device that refuses everything is sick, not simple.
     */
    boolean accept(Object source, int code, String... fields) {
        if (code == NvmlCode.SUCCESS) {
            answered = true;
            return true;
        }
        if (NvmlCode.never(code)) {
            absentNow.put(source, fields);
            return false;
        }
        failed(code);
        if (deviceError == 0) {
            for (String field : fields) {
                fault(field, NvmlCode.status(code), code);
            }
        }
        return false;
    }

    /** As {@link #accept}; an invalid argument there means a field or link that this driver or GPU does not have. */
    boolean acceptField(Object source, int code, String field) {
        return accept(source, code == NvmlCode.INVALID_ARGUMENT ? NvmlCode.NOT_SUPPORTED : code, field);
    }

    /** Takes the code of something that belongs to no single field. */
    void failed(int code) {
        firstError = firstError == 0 ? code : firstError;
        if (code == NvmlCode.GPU_IS_LOST || (code == NvmlCode.RESET_REQUIRED && deviceError == 0)) {
            deviceError = code;
        }
    }

    /** Puts a value where it is possible, and says whether it was; both limits are possible values. */
    boolean put(String field, OptionalLong value, long least, long most, LongConsumer setter) {
        if (value.isPresent() && value.getAsLong() >= least && value.getAsLong() <= most) {
            setter.accept(value.getAsLong());
            got.add(field);
            return true;
        }
        fault(field, ReadStatus.READ_STATUS_OUT_OF_RANGE, 0);
        return false;
    }

    boolean put(String field, long value, long least, long most, LongConsumer setter) {
        return put(field, OptionalLong.of(value), least, most, setter);
    }

    void got(String field) {
        got.add(field);
    }

    void fault(String field, ReadStatus status, int code) {
        if (faulted.add(field)) {
            out.addFaults(
                    FieldFault.newBuilder().setField(field).setStatus(status).setCode(code));
        }
    }

    /** The GPU fell off the bus: more calls only cost time. */
    boolean lost() {
        return deviceError == NvmlCode.GPU_IS_LOST;
    }

    /** A code that only a new session mends; 0 where there is none. */
    int sessionError() {
        return !answered && NvmlCode.sessionIsDead(firstError) ? firstError : 0;
    }

    GpuReading end() {
        int code = deviceError != 0 ? deviceError : answered ? NvmlCode.SUCCESS : firstError;
        if (answered && deviceError == 0) {
            absentNow.forEach(absences::add);
            absences.unsupported(got, faulted);
        } else if (code == NvmlCode.SUCCESS) {
            code = NvmlCode.NOT_SUPPORTED;
        }
        return out.setStatus(NvmlCode.status(code)).setCode(code).build();
    }
}

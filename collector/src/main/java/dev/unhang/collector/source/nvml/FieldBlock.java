package dev.unhang.collector.source.nvml;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * One {@code nvmlDeviceGetFieldValues} over a fixed block of native memory. An entry whose field or link the device never
 * answers is left out of later calls. Confined to its GPU's worker.
 *
 * @param <T> what the owner wants to know of an entry again
 */
final class FieldBlock<T> {

    /** Scope "the sum of all links" of NVLink fields. */
    static final int ALL_LINKS = 0xFFFFFFFF;

    /**
     * @param id NVML field id
     * @param scope link, lane or power scope, by field
     */
    record Entry<T>(int id, int scope, T tag) {}

    /** Told of each entry after a call: the value where {@code code} is 0. */
    interface Visitor<T> {
        void field(Entry<T> entry, int code, FieldValue value, long latencyUs);
    }

    private final NvmlLibrary nvml;
    private final List<Entry<T>> entries;
    private final Memory block;

    FieldBlock(NvmlLibrary nvml, List<Entry<T>> entries) {
        this.nvml = nvml;
        this.entries = new ArrayList<>(entries);
        this.block = new Memory((long) Layout.FIELD_VALUE * Math.max(1, entries.size()));
    }

    /** Reads all entries and visits each; where the call as a whole failed, each with that code. */
    void read(Pointer device, Visitor<T> visitor) {
        if (entries.isEmpty()) {
            return;
        }
        prepare();
        int code = nvml.call(NvmlCall.FIELD_VALUES, device, entries.size(), block);
        boolean oneByOne = code == NvmlCode.INVALID_ARGUMENT && entries.size() > 1;
        if (oneByOne) {
            prepare(); // one id unknown to this driver must not cost us the others
        }
        for (int i = 0; i < entries.size(); i++) {
            long at = (long) Layout.FIELD_VALUE * i;
            if (oneByOne) {
                code = nvml.call(NvmlCall.FIELD_VALUES, device, 1, block.share(at, Layout.FIELD_VALUE));
            }
            visitor.field(
                    entries.get(i),
                    code(code, at, entries.get(i).id()),
                    new FieldValue(block.getInt(at + Layout.FIELD_TYPE), block.getLong(at + Layout.FIELD_BITS)),
                    block.getLong(at + Layout.FIELD_LATENCY_US));
        }
    }

    private void prepare() {
        block.clear();
        for (int i = 0; i < entries.size(); i++) {
            long at = (long) Layout.FIELD_VALUE * i;
            block.setInt(at + Layout.FIELD_ID, entries.get(i).id());
            block.setInt(at + Layout.FIELD_SCOPE, entries.get(i).scope());
            block.setInt(at + Layout.FIELD_RETURN, NvmlCode.UNKNOWN);
        }
    }

    private int code(int callCode, long at, int id) {
        if (callCode != NvmlCode.SUCCESS) {
            return callCode;
        }
        // Another id here than we asked for would mean that this driver's struct has another size.
        return block.getInt(at + Layout.FIELD_ID) == id
                ? block.getInt(at + Layout.FIELD_RETURN)
                : NvmlCode.ARGUMENT_VERSION_MISMATCH;
    }

    /** From now on reads only what is still wanted. */
    void keep(Predicate<T> wanted) {
        entries.removeIf(entry -> !wanted.test(entry.tag()));
    }

    /** Whether a field id means the same in this driver as in ours; wrong ids answer plausible numbers of other things. */
    static boolean meansTheSame(int id, String driverVersion) {
        return id < 251 || id > 273 || atLeast(driverVersion, 580, 82);
    }

    private static boolean atLeast(String version, int major, int minor) {
        String[] parts = version.split("\\.", -1);
        try {
            int first = Integer.parseInt(parts[0]);
            int second = parts.length > 1 ? Integer.parseInt(parts[1]) : 0;
            return first > major || (first == major && second >= minor);
        } catch (NumberFormatException e) {
            return false; // a version that we cannot read is not trusted with the renumbered ids
        }
    }
}

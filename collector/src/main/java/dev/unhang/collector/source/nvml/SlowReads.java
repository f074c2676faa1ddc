package dev.unhang.collector.source.nvml;

import com.google.protobuf.ByteString;
import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import dev.unhang.events.v1.MigReading;
import java.util.ArrayList;
import java.util.List;

/**
 * What is read of a GPU each few seconds: the state and errors of each NVLink (some seventy values), MIG instances,
 * persistence mode and temperature margin. Confined to the GPU's worker.
 */
final class SlowReads {

    private static final int LINK_STATE = 165;
    /**
     * Replay, recovery and CRC of Hopper's links; received errors and recoveries of Blackwell's, which lacks the first
     * three. The per-link ids before 161 answer "success, 0" on Hopper and are not asked.
     */
    private static final int[] LINK_ERRORS = {161, 162, 163, 208, 215};

    private static final int MOST_LINKS = 36;
    private static final int LINK_INACTIVE = 0;
    private static final int MOST_LINK_STATE = 15;

    private record LinkField(int link, int id) {}

    private final DeviceCalls calls;
    private final ByteString uuid;
    private final KnownGpus known;
    private final int links;
    private FieldBlock<LinkField> linkFields;
    private long migMode = -1;

    SlowReads(DeviceCalls calls, ByteString uuid, KnownGpus known, int links) {
        this.calls = calls;
        this.uuid = uuid;
        this.known = known;
        this.links = Math.min(links, MOST_LINKS);
        this.linkFields = allLinkFields();
    }

    private FieldBlock<LinkField> allLinkFields() {
        List<FieldBlock.Entry<LinkField>> entries = new ArrayList<>();
        for (int link = 0; link < links; link++) {
            entries.add(new FieldBlock.Entry<>(LINK_STATE, link, new LinkField(link, LINK_STATE)));
            for (int id : LINK_ERRORS) {
                entries.add(new FieldBlock.Entry<>(id, link, new LinkField(link, id)));
            }
        }
        return new FieldBlock<>(calls.nvml(), entries);
    }

    void forget() {
        linkFields = allLinkFields();
    }

    /** Answers whether the MIG mode is another than at the last read: then what was absent may be there now. */
    boolean read(GpuTally tally) {
        boolean migChanged = readMig(tally);
        if (!tally.lost()) {
            readLinks(tally);
            if (tally.ask(NvmlCall.PERSISTENCE)
                    && tally.accept(NvmlCall.PERSISTENCE, calls.get(NvmlCall.PERSISTENCE), "persistence_mode")) {
                tally.put(
                        "persistence_mode", calls.u32(), 0, 1, v -> tally.out().setPersistenceMode((int) v));
            }
            readMargin(tally);
        }
        return migChanged;
    }

    boolean mig() {
        return migMode == 1;
    }

    private void readMargin(GpuTally tally) {
        if (tally.ask(NvmlCall.MARGIN_TEMPERATURE)
                && tally.accept(
                        NvmlCall.MARGIN_TEMPERATURE,
                        calls.getVersioned(NvmlCall.MARGIN_TEMPERATURE, Layout.MARGIN_TEMPERATURE, 1, 0),
                        "temp_margin_c")) {
            tally.put(
                    "temp_margin_c",
                    calls.out().getInt(Layout.MARGIN_CELSIUS),
                    -GpuTally.MOST_CELSIUS,
                    GpuTally.MOST_CELSIUS,
                    v -> tally.out().setTempMarginC((int) v));
        }
    }

    private void readLinks(GpuTally tally) {
        if (links == 0) {
            tally.accept("links", NvmlCode.NOT_SUPPORTED, "nvlinks_down", "nvlink_errors");
            return;
        }
        Links now = new Links();
        linkFields.keep(tally::ask);
        linkFields.read(calls.device(), (entry, code, value, latencyUs) -> {
            LinkField field = entry.tag();
            if (field.id() == LINK_STATE) {
                if (tally.acceptField(field, code, "nvlinks_down")) {
                    tally.put(
                            "nvlinks_down", value.whole(), 0, MOST_LINK_STATE, state -> now.state(field.link(), state));
                }
            } else if (tally.acceptField(field, code, "nvlink_errors")) {
                now.whole &= tally.put("nvlink_errors", value.whole(), 0, GpuTally.MOST_COUNTER, now::errors);
            } else {
                now.whole &= tally.absent(field);
            }
        });
        now.put(tally);
    }

    /** What one pass over the links adds up to. A link that did not answer is unknown and counts nowhere. */
    private final class Links {
        private long active;
        private long inactive;
        private boolean states;
        private long errors;
        /** False when a counter failed: a sum without it would look like a reset, and the next one like errors. */
        private boolean whole = true;

        void state(int link, long state) {
            states = true;
            if (state == LINK_INACTIVE) {
                inactive |= 1L << link;
            } else {
                active |= 1L << link;
            }
        }

        void errors(long count) {
            errors += count;
        }

        void put(GpuTally tally) {
            if (states) {
                tally.out().setNvlinksDown(Long.bitCount(known.sawActive(uuid, active) & inactive));
            }
            if (whole) {
                tally.out().setNvlinkErrors(errors);
            }
        }
    }

    private boolean readMig(GpuTally tally) {
        if (!tally.ask(NvmlCall.MIG_MODE) || !tally.accept(NvmlCall.MIG_MODE, calls.getTwo(NvmlCall.MIG_MODE))) {
            return false;
        }
        long mode = calls.u32();
        boolean changed = migMode >= 0 && mode != migMode;
        migMode = mode;
        if (mode == 1 && tally.accept(NvmlCall.MIG_COUNT_MAX, calls.get(NvmlCall.MIG_COUNT_MAX), "mig")) {
            long most = Math.min(calls.u32(), 16);
            for (int i = 0; i < most && !tally.lost(); i++) {
                readMigInstance(tally, i);
            }
        }
        return changed;
    }

    private void readMigInstance(GpuTally tally, int index) {
        Memory handle = new Memory(8);
        int code = calls.nvml().call(NvmlCall.MIG_HANDLE, calls.device(), index, handle);
        if (code == NvmlCode.NOT_FOUND) {
            return; // a gap in the list
        }
        Pointer instance = handle.getPointer(0);
        if (!tally.accept(NvmlCall.MIG_HANDLE, code, "mig") || instance == null) {
            return;
        }
        DeviceCalls mig = new DeviceCalls(calls.nvml(), instance);
        MigReading.Builder reading = MigReading.newBuilder();
        if (mig.get(NvmlCall.GPU_INSTANCE) == NvmlCode.SUCCESS) {
            reading.setGpuInstance((int) mig.u32());
        }
        if (mig.get(NvmlCall.COMPUTE_INSTANCE) == NvmlCode.SUCCESS) {
            reading.setComputeInstance((int) mig.u32());
        }
        if (mig.getText(NvmlCall.UUID) == NvmlCode.SUCCESS) {
            reading.setUuid(mig.text());
        }
        if (mig.getVersioned(NvmlCall.MEMORY_V2, Layout.MEMORY_V2, 2, 0) == NvmlCode.SUCCESS) {
            putMigMemory(reading, mig.out().getLong(Layout.MEMORY_V2_USED));
        } else if (mig.get(NvmlCall.MEMORY) == NvmlCode.SUCCESS) {
            putMigMemory(reading, mig.out().getLong(Layout.MEMORY_USED));
        }
        tally.out().addMig(reading);
    }

    private static void putMigMemory(MigReading.Builder reading, long usedBytes) {
        if (usedBytes >= 0 && usedBytes < GpuTally.MOST_COUNTER) {
            reading.setMemUsedMib((int) (usedBytes >> 20));
        }
    }
}

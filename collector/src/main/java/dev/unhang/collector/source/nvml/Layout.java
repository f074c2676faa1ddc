package dev.unhang.collector.source.nvml;

import com.sun.jna.Native;

/**
 * Sizes and offsets, in bytes, of the C structs that we hand to NVML. They hold for 64-bit Linux on x86-64 and aarch64
 * (LP64); source: nvml.h 13.3.29 compiled with gcc, sizes seen again on H200 with driver 580. A test compares each with
 * a C compiler's answer. A versioned struct carries {@code size | (version << 24)} in its first word, so the driver itself
 * refuses (code 25) what it does not know.
 */
final class Layout {

    static final int FIELD_VALUE = 40;
    static final int FIELD_ID = 0;
    static final int FIELD_SCOPE = 4;
    static final int FIELD_LATENCY_US = 16;
    static final int FIELD_TYPE = 24;
    static final int FIELD_RETURN = 28;
    static final int FIELD_BITS = 32;

    static final int UTILIZATION = 8;

    static final int MEMORY = 24;
    static final int MEMORY_TOTAL = 0;
    static final int MEMORY_USED = 16;
    static final int MEMORY_V2 = 40;
    static final int MEMORY_V2_TOTAL = 8;
    static final int MEMORY_V2_USED = 32;

    static final int PCI_INFO = 68;
    static final int PCI_DOMAIN = 16;
    static final int PCI_BUS = 20;
    static final int PCI_DEVICE = 24;

    static final int TEMPERATURE = 12;
    static final int TEMPERATURE_CELSIUS = 8;
    static final int MARGIN_TEMPERATURE = 8;
    static final int MARGIN_CELSIUS = 4;

    static final int PROCESS_V1 = 16;
    static final int PROCESS = 24;
    /** Some R535 drivers filled entries of this size under the same symbol. */
    static final int PROCESS_R535 = 32;

    static final int PROCESS_PID = 0;
    static final int PROCESS_GPU_INSTANCE = 16;

    /** UUID and name, the longest texts that we ask a device for. */
    static final int TEXT = 96;

    private Layout() {}

    /** The first word of a versioned struct. */
    static int versionWord(int size, int version) {
        return size | (version << 24);
    }

    /** Why this process cannot speak to NVML with these offsets; empty where it can. */
    static String mismatch() {
        return Native.POINTER_SIZE == 8 && Native.LONG_SIZE == 8
                ? ""
                : "NVML needs a 64-bit JVM: pointers are " + Native.POINTER_SIZE + " bytes here and longs "
                        + Native.LONG_SIZE;
    }
}

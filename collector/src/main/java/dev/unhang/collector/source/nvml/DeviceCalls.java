package dev.unhang.collector.source.nvml;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;

/**
 * Calls on one device handle with one reused block of native memory for what comes back. Confined to its GPU's worker; a
 * call that hangs holds both until it returns.
 */
final class DeviceCalls {

    private final NvmlLibrary nvml;
    private final Pointer device;
    private final Memory out = new Memory(256);

    DeviceCalls(NvmlLibrary nvml, Pointer device) {
        this.nvml = nvml;
        this.device = device;
    }

    NvmlLibrary nvml() {
        return nvml;
    }

    Pointer device() {
        return device;
    }

    /** What the last call wrote. */
    Memory out() {
        return out;
    }

    /** A call {@code f(device, out)}. */
    int get(NvmlCall call) {
        out.clear();
        return nvml.call(call, device, out);
    }

    /** A call {@code f(device, selector, out)}. */
    int get(NvmlCall call, int selector) {
        out.clear();
        return nvml.call(call, device, selector, out);
    }

    /** A call {@code f(device, first, second)} that fills two unsigned ints, at 0 and 4. */
    int getTwo(NvmlCall call) {
        out.clear();
        return nvml.call(call, device, out, out.share(4));
    }

    /** A call {@code f(device, a, b, c, d)} that fills four unsigned ints, at 0, 4, 8 and 12. */
    int getFour(NvmlCall call) {
        out.clear();
        return nvml.call(call, device, out, out.share(4), out.share(8), out.share(12));
    }

    /** A call {@code f(device, struct)} of a versioned struct; {@code word} goes to its second word. */
    int getVersioned(NvmlCall call, int size, int version, int word) {
        out.clear();
        out.setInt(0, Layout.versionWord(size, version));
        out.setInt(4, word);
        return nvml.call(call, device, out);
    }

    /** A call {@code f(device, text, length)}. */
    int getText(NvmlCall call) {
        out.clear();
        return nvml.call(call, device, out, Layout.TEXT);
    }

    /** What {@link #getText} wrote. */
    String text() {
        return out.getString(0, StandardCharsets.UTF_8.name());
    }

    /** The unsigned int at 0. */
    long u32() {
        return out.getInt(0) & 0xFFFFFFFFL;
    }

    /** The unsigned int at 4. */
    long secondU32() {
        return out.getInt(4) & 0xFFFFFFFFL;
    }
}

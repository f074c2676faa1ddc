package dev.unhang.collector.source.nvml;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The loaded {@code libnvidia-ml.so.1}. A call whose symbol this driver lacks answers {@code FUNCTION_NOT_FOUND}, as NVML
 * itself would. NVML may be called from any thread; who closes the library sees to it that no call is out, and that none
 * follows.
 */
final class NvmlLibrary implements AutoCloseable {

    private final NativeLibrary library;
    private final Map<NvmlCall, Function> functions;

    private NvmlLibrary(NativeLibrary library, Map<NvmlCall, Function> functions) {
        this.library = library;
        this.functions = functions;
    }

    /** Throws {@link UnsatisfiedLinkError} where there is no such library. */
    static NvmlLibrary load(String nameOrPath) {
        NativeLibrary library = NativeLibrary.getInstance(nameOrPath);
        Map<NvmlCall, Function> functions = new EnumMap<>(NvmlCall.class);
        for (NvmlCall call : NvmlCall.values()) {
            Function function = bind(library, call);
            if (function != null) {
                functions.put(call, function);
            }
        }
        return new NvmlLibrary(library, functions);
    }

    private static @Nullable Function bind(NativeLibrary library, NvmlCall call) {
        for (String symbol : call.symbols()) {
            Function function = bind(library, symbol);
            if (function != null) {
                return function;
            }
        }
        return null;
    }

    private static @Nullable Function bind(NativeLibrary library, String symbol) {
        try {
            return library.getFunction(symbol);
        } catch (UnsatisfiedLinkError e) {
            return null; // an older driver
        }
    }

    /** The symbol that a call was bound to; empty where this driver has none of its names. */
    String symbol(NvmlCall call) {
        Function function = functions.get(call);
        return function == null ? "" : function.getName();
    }

    int call(NvmlCall call, Object... arguments) {
        Function function = functions.get(call);
        return function == null ? NvmlCode.FUNCTION_NOT_FOUND : function.invokeInt(arguments);
    }

    /** Unloads, so that after a driver update the next load finds the new library. */
    @Override
    public void close() {
        library.close();
    }
}

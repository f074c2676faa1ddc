package dev.unhang.collector.source.nvml;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import dev.unhang.collector.source.Source;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Prints what NVML answers on this machine, with identifiers replaced, so that it can be put into a report: each symbol,
 * each field with its status, type and value, and then the sample and inventory that the collector makes of it.
 *
 * <pre>
 * java -cp 'collector/target/collector-0.1.0-SNAPSHOT.jar:collector/target/lib/*' \
 *     dev.unhang.collector.source.nvml.Main [SECONDS [LIBRARY]]
 * </pre>
 *
 * SECONDS (default 10) is how long it then samples at 1 Hz to measure its own cost. It also closes NVML once by a lease
 * and opens it again. It only reads. Exit 1 where there is no driver.
 */
public final class Main {

    private static final int LAST_FIELD = 273;
    private static final int NVLINK_THROUGHPUT_FIRST = 138;
    private static final int NVLINK_THROUGHPUT_LAST = 141;

    private final PrintStream out;

    private Main(PrintStream out) {
        this.out = out;
    }

    public static void main(String[] args) throws InterruptedException {
        int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 10;
        String library = args.length > 1 ? args[1] : NvmlConfig.DEFAULT.library();
        boolean well = new Main(System.out).run(seconds, library);
        System.exit(well ? 0 : 1);
    }

    private boolean run(int seconds, String library) throws InterruptedException {
        if (!raw(library)) {
            return false;
        }
        NvmlConfig config = new NvmlConfig(library, Duration.ofSeconds(10), Duration.ofSeconds(1));
        try (NvmlSource source = new NvmlSource(config, NvmlHost.real(), System::nanoTime)) {
            sample(source);
            cost(source, seconds);
            lease(source);
        }
        return true;
    }

    private boolean raw(String library) {
        NvmlLibrary nvml;
        try {
            nvml = NvmlLibrary.load(library);
        } catch (UnsatisfiedLinkError e) {
            out.println("there is no " + library + " on this machine");
            return false;
        }
        out.println("symbols");
        for (NvmlCall call : NvmlCall.values()) {
            String symbol = nvml.symbol(call);
            out.printf(
                    "  %-20s %s%n",
                    call, symbol.isEmpty() ? "not available (" + String.join(", ", call.symbols()) + ")" : symbol);
        }
        int code = nvml.call(NvmlCall.INIT);
        if (code != NvmlCode.SUCCESS) {
            out.println("nvmlInit: " + NvmlCode.explain(code));
            nvml.close();
            return false;
        }
        Memory text = new Memory(Layout.TEXT);
        text.clear();
        nvml.call(NvmlCall.DRIVER_VERSION, text, Layout.TEXT);
        String driver = text.getString(0);
        Memory count = new Memory(4);
        nvml.call(NvmlCall.COUNT, count);
        out.printf("driver %s, %d GPUs%n", driver, count.getInt(0));
        for (int index = 0; index < count.getInt(0); index++) {
            Memory handle = new Memory(8);
            code = nvml.call(NvmlCall.HANDLE, index, handle);
            Pointer device = handle.getPointer(0);
            if (code != NvmlCode.SUCCESS || device == null) {
                out.printf("GPU %d: %s%n", index, NvmlCode.explain(code));
                continue;
            }
            calls(index, new DeviceCalls(nvml, device));
            fields(index, nvml, device, driver);
        }
        nvml.call(NvmlCall.SHUTDOWN);
        nvml.close();
        return true;
    }

    private void calls(int index, DeviceCalls calls) {
        out.printf("GPU %d calls (code, microseconds, value)%n", index);
        one("name", () -> calls.getText(NvmlCall.NAME), calls::text);
        one(
                "utilization",
                () -> calls.get(NvmlCall.UTILIZATION),
                () -> calls.u32() + " % gpu, " + calls.secondU32() + " % memory");
        one(
                "memory v2",
                () -> calls.getVersioned(NvmlCall.MEMORY_V2, Layout.MEMORY_V2, 2, 0),
                () -> calls.out().getLong(Layout.MEMORY_V2_USED) + " of "
                        + calls.out().getLong(Layout.MEMORY_V2_TOTAL) + " bytes");
        one(
                "memory v1",
                () -> calls.get(NvmlCall.MEMORY),
                () -> calls.out().getLong(Layout.MEMORY_USED) + " of "
                        + calls.out().getLong(Layout.MEMORY_TOTAL) + " bytes");
        one(
                "temperature V",
                () -> calls.getVersioned(NvmlCall.TEMPERATURE_V, Layout.TEMPERATURE, 1, 0),
                () -> calls.out().getInt(Layout.TEMPERATURE_CELSIUS) + " C");
        one("temperature", () -> calls.get(NvmlCall.TEMPERATURE, 0), () -> calls.u32() + " C");
        one(
                "temperature margin",
                () -> calls.getVersioned(NvmlCall.MARGIN_TEMPERATURE, Layout.MARGIN_TEMPERATURE, 1, 0),
                () -> calls.out().getInt(Layout.MARGIN_CELSIUS) + " C");
        one("SM clock", () -> calls.get(NvmlCall.CLOCK, 1), () -> calls.u32() + " MHz");
        one("memory clock", () -> calls.get(NvmlCall.CLOCK, 2), () -> calls.u32() + " MHz");
        one(
                "event reasons",
                () -> calls.get(NvmlCall.EVENT_REASONS),
                () -> "0x" + Long.toHexString(calls.out().getLong(0)));
        one("power", () -> calls.get(NvmlCall.POWER), () -> calls.u32() + " mW");
        one("power limit", () -> calls.get(NvmlCall.POWER_LIMIT), () -> calls.u32() + " mW");
        one("energy", () -> calls.get(NvmlCall.ENERGY), () -> calls.out().getLong(0) + " mJ");
        one("PCIe replays", () -> calls.get(NvmlCall.PCIE_REPLAYS), () -> Long.toString(calls.u32()));
        one("PCIe throughput tx", () -> calls.get(NvmlCall.PCIE_THROUGHPUT, 0), () -> calls.u32() + " KB/s");
        one("PCIe throughput rx", () -> calls.get(NvmlCall.PCIE_THROUGHPUT, 1), () -> calls.u32() + " KB/s");
        one("persistence mode", () -> calls.get(NvmlCall.PERSISTENCE), () -> Long.toString(calls.u32()));
        one("MIG mode", () -> calls.getTwo(NvmlCall.MIG_MODE), () -> calls.u32() + ", pending " + calls.secondU32());
    }

    private interface Call {
        int make();
    }

    private interface Value {
        String show();
    }

    private void one(String name, Call call, Value value) {
        long start = System.nanoTime();
        int code = call.make();
        long micros = (System.nanoTime() - start) / 1000;
        out.printf(
                "  %-20s %3d %7d us  %s%n",
                name, code, micros, code == NvmlCode.SUCCESS ? value.show() : NvmlCode.explain(code));
    }

    private void fields(int index, NvmlLibrary nvml, Pointer device, String driver) {
        List<FieldBlock.Entry<String>> asked = new ArrayList<>();
        List<Integer> leftOut = new ArrayList<>();
        for (int id = 1; id <= LAST_FIELD; id++) {
            boolean allLinks = id >= NVLINK_THROUGHPUT_FIRST && id <= NVLINK_THROUGHPUT_LAST;
            if (FieldBlock.meansTheSame(id, driver)) {
                asked.add(new FieldBlock.Entry<>(id, allLinks ? FieldBlock.ALL_LINKS : 0, ""));
            } else {
                leftOut.add(id);
            }
        }
        out.printf("GPU %d fields (id, code, microseconds, type, value); scope 0, 138-141 all links%n", index);
        if (!leftOut.isEmpty()) {
            out.println("  not asked of this driver, which may mean other things by them: " + leftOut);
        }
        List<Integer> notSupported = new ArrayList<>();
        new FieldBlock<>(nvml, asked).read(device, (entry, code, value, latencyUs) -> {
            if (code == NvmlCode.NOT_SUPPORTED) {
                notSupported.add(entry.id());
            } else if (code == NvmlCode.SUCCESS) {
                out.printf(
                        Locale.ROOT,
                        "  %3d   0 %6d us  %-18s %s%n",
                        entry.id(),
                        latencyUs,
                        value.typeName(),
                        value.text());
            } else {
                out.printf(Locale.ROOT, "  %3d %3d %6d us  %s%n", entry.id(), code, latencyUs, NvmlCode.explain(code));
            }
        });
        out.println("  not supported: " + notSupported);
    }

    private void sample(NvmlSource source) throws InterruptedException {
        Source.Reading first = source.read();
        NodeInventory inventory = first.inventory();
        out.println("inventory");
        out.println(inventory == null ? "  none" : TextFormat.printer().printToString(anonymous(inventory)));
        out.println("sample");
        out.println(TextFormat.printer().printToString(anonymous(first.part())));
        Thread.sleep(1000);
        out.println("sample, one second later");
        out.println(TextFormat.printer().printToString(anonymous(source.read().part())));
    }

    private void cost(NvmlSource source, int seconds) throws InterruptedException {
        long cpuBefore = cpuNs();
        long start = System.nanoTime();
        long worst = 0;
        for (int i = 0; i < seconds; i++) {
            long before = System.nanoTime();
            source.read();
            worst = Math.max(worst, System.nanoTime() - before);
            Thread.sleep(1000);
        }
        double share = 100.0 * (cpuNs() - cpuBefore) / Math.max(1, System.nanoTime() - start);
        out.printf(
                Locale.ROOT,
                "cost: %d reads at 1 Hz took %.2f %% of one core, this whole JVM included; the longest %d us%n",
                seconds,
                share,
                worst / 1000);
    }

    private static long cpuNs() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean os
                ? os.getProcessCpuTime()
                : 0;
    }

    private void lease(NvmlSource source) {
        long start = System.nanoTime();
        NvmlSource.Release release = source.release(Duration.ofSeconds(60));
        out.printf("release: %s, after %d us%n", release.detail(), (System.nanoTime() - start) / 1000);
        out.println("  " + states(source.read().part()));
        source.giveBack();
        start = System.nanoTime();
        NodeSample again = source.read().part();
        out.printf("given back: %s, after %d us%n", states(again), (System.nanoTime() - start) / 1000);
    }

    private static String states(NodeSample part) {
        return part.getGpusList().stream()
                .map(gpu -> gpu.getStatus().toString())
                .toList()
                .toString();
    }

    private static NodeSample anonymous(NodeSample part) {
        NodeSample.Builder builder = part.toBuilder();
        for (int i = 0; i < builder.getGpusCount(); i++) {
            var gpu = builder.getGpusBuilder(i).setUuid(number(i));
            for (int p = 0; p < gpu.getPidsCount(); p++) {
                gpu.setPids(p, 1000 + p);
            }
            for (int m = 0; m < gpu.getMigCount(); m++) {
                gpu.getMigBuilder(m).setUuid("MIG-" + m);
            }
        }
        return builder.build();
    }

    private static NodeInventory anonymous(NodeInventory inventory) {
        NodeInventory.Builder builder = inventory.toBuilder();
        for (int i = 0; i < builder.getGpusCount(); i++) {
            builder.getGpusBuilder(i)
                    .setUuid(number(i))
                    .setPci(String.format(Locale.ROOT, "0000:%02x:00", i))
                    .setSerialHash("0000000" + i);
        }
        return builder.build();
    }

    private static ByteString number(int i) {
        return ByteString.copyFromUtf8(String.format(Locale.ROOT, "uuid of GPU %4d", i));
    }
}

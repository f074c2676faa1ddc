package dev.unhang.lab.bench;

import dev.unhang.lab.cost.CollectorCost;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code unhang bench}: measures on this machine how late the healer judges, what the collector costs and how fast a
 * trace replays, and prints each figure with its limit. Exit 0 when all hold, 1 when one is missed.
 */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "The benchmarks, about three minutes: each figure with its limit. Exit 1 when one is missed.")
public final class BenchCommand implements Callable<Integer> {

    private static final double JUDGED_P99_MS = 250;
    private static final double COLLECTOR_PERCENT = 2;
    private static final double COLLECTOR_MIB = 120;
    private static final double START_SECONDS = 2.5;
    private static final double RECORDS_PER_SECOND = 50_000;

    private final Path home;
    private final PrintStream out;
    private final PrintStream err;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--nodes",
            defaultValue = "20",
            paramLabel = "N",
            description = "Nodes of the simulated fleet, with 8 GPUs each (${DEFAULT-VALUE}).")
    private int nodes;

    @Option(
            names = "--seconds",
            defaultValue = "60",
            paramLabel = "S",
            description = "How long latency and cost are measured, each, after they warmed up (${DEFAULT-VALUE}).")
    private int seconds;

    /** {@code home}: the checkout, which is built. */
    public BenchCommand(Path home, PrintStream out, PrintStream err) {
        this.home = home;
        this.out = out;
        this.err = err;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (nodes < 1 || seconds < 1) {
            throw new ParameterException(spec.commandLine(), "--nodes and --seconds must be 1 or more");
        }
        // What the daemons tell of their work would drown the table.
        System.setProperty("org.slf4j.simpleLogger.log.dev.unhang", "error");
        Figures figures = new Figures(out);
        try {
            out.println("Machine: " + Machine.describe());
            latency(figures);
            cost(figures);
            replay(figures);
            out.println();
            out.println("Load at the end: " + Machine.load());
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            err.println("unhang bench: " + e.getMessage());
            return 1;
        }
        List<String> missed = figures.missed();
        out.println(missed.isEmpty() ? "All limits hold." : "Missed: " + String.join("; ", missed));
        return missed.isEmpty() ? 0 : 1;
    }

    private void latency(Figures figures) throws Exception {
        figures.heading(String.format(
                Locale.ROOT,
                "Latency: %d nodes with 8 GPUs, a sample a second each, for %d s (load %s)",
                nodes,
                seconds,
                Machine.load()));
        Latency.Measured latency = Latency.measure(nodes, seconds);
        Percentiles judged = latency.judged();
        figures.tell("samples judged", judged.count(), "");
        figures.tell("sample taken to judged, p50", judged.median(), "ms");
        figures.below("sample taken to judged, p99", judged.at(99), "ms", JUDGED_P99_MS);
        figures.tell("sample taken to judged, most", judged.most(), "ms");
        Percentiles decided = latency.decided();
        figures.atLeast("faults decided", decided == null ? 0 : decided.count(), "", latency.faults());
        if (decided != null) {
            figures.tell("fault's first sample to its decision read, p50", decided.median(), "ms");
            figures.tell("fault's first sample to its decision read, most", decided.most(), "ms");
        }
    }

    private void cost(Figures figures) throws Exception {
        figures.heading(String.format(
                Locale.ROOT,
                "Collector: 1 Hz, 8 GPUs, 8 NICs, 8 ranks, scraped, for %d s (load %s)",
                seconds,
                Machine.load()));
        CollectorCost.Cost cost = CollectorCost.measure(home, seconds);
        figures.below("CPU", cost.percent(), "% of a core", COLLECTOR_PERCENT);
        figures.below("resident memory, most", cost.mib(), "MiB", COLLECTOR_MIB);
    }

    private void replay(Figures figures) throws Exception {
        figures.heading("Replay: c-16-ranks-stopped (load " + Machine.load() + ")");
        ReplaySpeed.Speed speed = ReplaySpeed.measure(home);
        figures.tell("whole program, best", speed.startSeconds().least(), "s");
        figures.atMost("whole program, median", speed.startSeconds().median(), "s", START_SECONDS);
        figures.tell("warm, best", speed.perCpuSecond().most(), "records/s");
        figures.atLeast("warm, median", speed.perCpuSecond().median(), "records/s", RECORDS_PER_SECOND);
        figures.tell(
                "warm, by the clock on the wall, best", speed.perWallSecond().most(), "records/s");
        figures.tell("a record: unpack, JSON, messages", speed.parseUs(), "us");
        figures.tell("a record: detectors of nodes", speed.detectUs(), "us");
        figures.tell("a record: detectors of jobs, decider", speed.decideUs(), "us");
    }
}

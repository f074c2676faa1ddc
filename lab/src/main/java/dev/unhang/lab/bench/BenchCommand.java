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
 * {@code unhang bench}: measures on this machine how late the healer judges, what detection and the collector cost and
 * how fast a trace replays, and prints each figure with its limit. Exit 0 when all hold, 1 when one is missed.
 */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "The benchmarks, about four minutes: each figure with its limit. Exit 1 when one is missed.")
public final class BenchCommand implements Callable<Integer> {

    private static final double JUDGED_P99_MS = 250;
    private static final double COLLECTOR_PERCENT = 2;
    private static final double COLLECTOR_MIB = 120;
    private static final double START_SECONDS = 2.5;
    private static final double RECORDS_PER_SECOND = 50_000;

    /** CPU time for one rank and sample, ns, while nothing is wrong. */
    private static final double DETECTION_NS = 500;

    /** The last tenth of a fleet's life by the first: what does not grow varies by less. */
    private static final double GROWTH = 1.05;

    private static final int LEAST_MINUTES = 10;

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

    @Option(
            names = "--minutes",
            defaultValue = "60",
            paramLabel = "M",
            description = "Minutes of the log for which detection is measured in each scene (${DEFAULT-VALUE}).")
    private int minutes;

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
        if (minutes < LEAST_MINUTES) {
            throw new ParameterException(spec.commandLine(), "--minutes must be " + LEAST_MINUTES + " or more");
        }
        // What the daemons tell of their work would drown the table.
        System.setProperty("org.slf4j.simpleLogger.log.dev.unhang", "error");
        Figures figures = new Figures(out);
        try {
            out.println("Machine: " + Machine.describe());
            latency(figures);
            cost(figures);
            detection(figures);
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

    private void detection(Figures figures) throws Exception {
        figures.heading(String.format(
                Locale.ROOT,
                "Detection, for one rank and sample: %d ranks on %d nodes, %d minutes of the log (load %s)",
                DetectedFleet.NODES * DetectedFleet.RANKS_PER_NODE,
                DetectedFleet.NODES,
                minutes,
                Machine.load()));
        for (DetectionSpeed.Cost cost : DetectionSpeed.measure(minutes)) {
            String scene = cost.scene().words;
            if (cost.scene().quiet()) {
                figures.atMost(scene + ", CPU", cost.cpuNs(), "ns", DETECTION_NS);
            } else {
                figures.tell(scene + ", CPU", cost.cpuNs(), "ns");
            }
            figures.tell(scene + ", allocated", cost.bytes(), "bytes");
            figures.tell(scene + ", CPU, last tenth by first", cost.cpuGrowth(), "");
            figures.atMost(scene + ", allocated, last tenth by first", cost.bytesGrowth(), "", GROWTH);
            figures.atMost(scene + ", heap held, last tenth by first", cost.heldGrowth(), "", GROWTH);
        }
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

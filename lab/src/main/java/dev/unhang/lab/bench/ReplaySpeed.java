package dev.unhang.lab.bench;

import com.sun.management.OperatingSystemMXBean;
import dev.unhang.events.v1.Origin;
import dev.unhang.healer.detect.node.PartitionDetector;
import dev.unhang.healer.replay.Replay;
import dev.unhang.healer.replay.Trace;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * How fast a trace replays: through the launcher with the start of the program, and again and again in one JVM that has
 * the launcher's flags. The speed of one core counts the whole process's CPU time, garbage collection and compilation
 * included, so that other work on the machine does not show in it; what a clock on the wall says stands beside it.
 */
final class ReplaySpeed {

    private static final String TRACE = "lab/traces/c-16-ranks-stopped.jsonl.gz";
    private static final String OPTIONS = "healer/src/main/launch/replay.options";
    private static final int STARTS = 5;
    private static final int PASSES = 10;

    /** The kernel counts CPU time in hundredths of a second: so often is the trace read for one measurement. */
    private static final int TIMES = 6;

    private static final long DEADLINE_SECONDS = 300;

    /** What one pass does; each does what the one before does, and more. */
    private enum Depth {
        PARSE,
        DETECT,
        DECIDE
    }

    /**
     * What was measured. The second half of the passes counts, the first warms up.
     *
     * @param startSeconds from the launcher's start to its end, wall
     * @param perCpuSecond records in a second of one core
     * @param perWallSecond records in a second
     * @param parseUs CPU time for one record, microseconds: unpacking, JSON and messages
     * @param detectUs the same for the detectors of nodes
     * @param decideUs the same for the detectors of jobs and the decider
     */
    record Speed(
            Percentiles startSeconds,
            Percentiles perCpuSecond,
            Percentiles perWallSecond,
            double parseUs,
            double detectUs,
            double decideUs) {}

    private record Pass(double cpuNs, double wallNs, long records) {
        double cpuUs() {
            return cpuNs / records / 1e3;
        }
    }

    private ReplaySpeed() {}

    /** {@code home}: the checkout, which must be built. */
    static Speed measure(Path home) throws IOException, InterruptedException {
        double[] starts = new double[STARTS];
        for (int i = 0; i < STARTS; i++) {
            starts[i] = start(home);
        }
        String said = run(new ProcessBuilder(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "@" + home.resolve(OPTIONS),
                "-cp",
                System.getProperty("java.class.path"),
                ReplaySpeed.class.getName(),
                home.resolve(TRACE).toString())));
        return speed(new Percentiles(starts), said.lines().toList());
    }

    private static double start(Path home) throws IOException, InterruptedException {
        ProcessBuilder replay = new ProcessBuilder(List.of(
                home.resolve("unhang").toString(),
                "replay",
                "--json",
                home.resolve(TRACE).toString()));
        replay.environment().put("UNHANG_NO_BUILD", "1");
        long began = System.nanoTime();
        String said = run(replay);
        double seconds = (System.nanoTime() - began) / 1e9;
        if (!said.contains("\"summary\"")) {
            throw new IOException("`unhang replay` printed no summary");
        }
        return seconds;
    }

    /** Runs it to its end and answers what it printed. */
    private static String run(ProcessBuilder builder) throws IOException, InterruptedException {
        Process process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException("it did not end well: " + String.join(" ", builder.command()));
            }
            return said;
        } finally {
            process.destroyForcibly();
        }
    }

    /** Reads what {@link #main} printed. */
    static Speed speed(Percentiles starts, List<String> lines) {
        Map<Depth, List<Pass>> passes = new java.util.EnumMap<>(Depth.class);
        for (String line : lines) {
            String[] words = line.split(" ", -1);
            Pass pass = new Pass(Double.parseDouble(words[1]), Double.parseDouble(words[2]), Long.parseLong(words[3]));
            passes.computeIfAbsent(Depth.valueOf(words[0]), depth -> new ArrayList<>())
                    .add(pass);
        }
        double parse = median(passes, Depth.PARSE);
        double detect = median(passes, Depth.DETECT);
        List<Pass> whole = warm(passes, Depth.DECIDE);
        return new Speed(
                starts,
                new Percentiles(whole.stream()
                        .mapToDouble(pass -> pass.records() * 1e9 / pass.cpuNs())
                        .toArray()),
                new Percentiles(whole.stream()
                        .mapToDouble(pass -> pass.records() * 1e9 / pass.wallNs())
                        .toArray()),
                parse,
                Math.max(0, detect - parse),
                Math.max(0, median(passes, Depth.DECIDE) - detect));
    }

    private static double median(Map<Depth, List<Pass>> passes, Depth depth) {
        return new Percentiles(
                        warm(passes, depth).stream().mapToDouble(Pass::cpuUs).toArray())
                .median();
    }

    private static List<Pass> warm(Map<Depth, List<Pass>> passes, Depth depth) {
        List<Pass> all = passes.getOrDefault(depth, List.of());
        return all.subList(all.size() / 2, all.size());
    }

    /** The measured process: prints the depth, CPU and wall time in ns, and the records of each pass. */
    public static void main(String[] arguments) throws IOException {
        Path trace = Path.of(arguments[0]);
        OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        for (int i = 0; i < PASSES; i++) {
            for (Depth depth : Depth.values()) {
                long cpu = system.getProcessCpuTime();
                long wall = System.nanoTime();
                long records = 0;
                for (int time = 0; time < TIMES; time++) {
                    records += pass(trace, depth);
                }
                long wallNs = System.nanoTime() - wall;
                long cpuNs = system.getProcessCpuTime() - cpu;
                System.out.println(depth + " " + cpuNs + " " + wallNs + " " + records);
            }
        }
    }

    private static long pass(Path file, Depth depth) throws IOException {
        if (depth == Depth.DECIDE) {
            return Replay.run(file, true).records();
        }
        PartitionDetector detector =
                new PartitionDetector(Origin.newBuilder().setOwner("bench").build());
        try (Trace trace = Trace.open(file, true)) {
            for (Trace.Item item = trace.next(); item != null; item = trace.next()) {
                if (depth == Depth.PARSE) {
                    continue;
                }
                if (item instanceof Trace.Item.Sample sample) {
                    var unused = detector.onRecord(sample.node(), sample.sample(), sample.stampMs());
                } else if (item instanceof Trace.Item.Beat beat) {
                    var unused = detector.onRecord("", beat.pulse(), beat.stampMs());
                }
            }
            return trace.records();
        }
    }
}

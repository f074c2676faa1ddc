package dev.unhang.lab.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * What detection costs, by {@link Detection}: a JVM for each scene, and in it the life of one fleet, minute by minute. The
 * first tenth of that life is held against the last, to see what grows with time.
 */
final class DetectionSpeed {

    private static final int WARM_UP_MINUTES = 30;

    /**
     * One scene. All figures are of the median minute; CPU time of the second half, when the JVM has compiled what it will.
     *
     * @param cpuNs CPU time for one rank and sample, ns; collection of garbage is not in it
     * @param bytes allocated for one rank and sample
     * @param cpuGrowth CPU time in the last tenth of the minutes, by that in the first
     * @param bytesGrowth allocation, likewise
     * @param heldGrowth what the detectors hold on the heap, likewise
     * @param heldKib what they hold at the end, with all that the JVM itself has there
     */
    record Cost(
            Scene scene,
            double cpuNs,
            double bytes,
            double cpuGrowth,
            double bytesGrowth,
            double heldGrowth,
            double heldKib) {}

    private DetectionSpeed() {}

    /** {@code minutes} of the log are measured in each scene, 10 or more. */
    static List<Cost> measure(int minutes) throws RunnerException {
        Collection<RunResult> runs = new Runner(new OptionsBuilder()
                        .include(Detection.class.getName() + ".minute")
                        .jvmArgs("-Xms192m", "-Xmx192m", "-XX:+UseSerialGC", "-Djmh.ignoreLock=true")
                        .warmupIterations(WARM_UP_MINUTES)
                        .measurementIterations(minutes)
                        .verbosity(VerboseMode.SILENT)
                        .shouldFailOnError(true)
                        .build())
                .run();
        List<Cost> costs = new ArrayList<>();
        for (RunResult run : runs) {
            costs.add(cost(Scene.valueOf(run.getParams().getParam("scene")), run));
        }
        return costs;
    }

    private static Cost cost(Scene scene, RunResult run) {
        double[] cpu = figures(run, "cpuNs");
        double[] bytes = figures(run, "allocated");
        double[] held = figures(run, "held");
        return new Cost(
                scene,
                new Percentiles(Arrays.copyOfRange(cpu, cpu.length / 2, cpu.length)).median()
                        / DetectedFleet.RANK_SAMPLES,
                new Percentiles(bytes).median() / DetectedFleet.RANK_SAMPLES,
                growth(cpu),
                growth(bytes),
                growth(held),
                held[held.length - 1] / 1024);
    }

    private static double[] figures(RunResult run, String counter) {
        return run.getBenchmarkResults().stream()
                .flatMap(fork -> fork.getIterationResults().stream())
                .mapToDouble(minute -> figure(minute, counter))
                .toArray();
    }

    private static double figure(IterationResult minute, String counter) {
        return Objects.requireNonNull(minute.getSecondaryResults().get(counter), counter)
                .getScore();
    }

    /** Median of the last tenth by median of the first. */
    static double growth(double[] values) {
        int tenth = Math.max(1, values.length / 10);
        double first = new Percentiles(Arrays.copyOf(values, tenth)).median();
        double last = new Percentiles(Arrays.copyOfRange(values, values.length - tenth, values.length)).median();
        return last / first;
    }

    /** For a longer life or a profiler: MINUTES. */
    public static void main(String[] arguments) throws RunnerException {
        for (Cost cost : measure(Integer.parseInt(arguments[0]))) {
            System.out.println(cost);
        }
    }
}

package dev.unhang.lab.bench;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.runner.IterationType;

/**
 * The JMH benchmark of detection alone: each iteration is one minute of the log in the life of one fleet, so that the
 * first minutes can be held against the last. JMH's own time of an iteration has the making of the records in it; what
 * detection costs is in {@link Cost}: the thread's CPU time and allocation, without the records.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
public class Detection {

    /** Minutes of the fleet's life before the first that counts: it learns, and then comes what the scene is about. */
    private static final int MINUTES_BEFORE = 10;

    @Param
    private Scene scene = Scene.PEACE;

    private DetectedFleet fleet = new DetectedFleet(scene);
    private int lives;
    private long held;

    /** What one minute of the log cost. JMH reads the public fields. */
    @AuxCounters(AuxCounters.Type.EVENTS)
    @State(Scope.Thread)
    public static class Cost {

        private final ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

        /** CPU time of the thread, ns. */
        public long cpuNs;

        /** What the thread allocated, bytes. */
        public long allocated;

        /** What the detectors held on to before it, bytes of heap: after a collection, and without the records. */
        public long held;
    }

    /** Lives through the first minutes, once before the warm-up and once before what counts. */
    @Setup(Level.Iteration)
    public void begin(IterationParams iteration) {
        boolean measured = iteration.getType() == IterationType.MEASUREMENT;
        if (lives == 0 || (measured && lives == 1)) {
            lives++;
            fleet = new DetectedFleet(scene);
            fleet.liveMinutes(MINUTES_BEFORE);
        }
        System.gc();
        held = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /** The records of each second are made just before it, as a healer judges what it has just parsed. */
    @Benchmark
    public void minute(Cost cost) {
        cost.held = held;
        for (int second = 0; second < 60; second++) {
            fleet.prepare();
            long allocated = cost.threads.getCurrentThreadAllocatedBytes();
            long cpu = cost.threads.getCurrentThreadCpuTime();
            fleet.detect();
            cost.cpuNs += cost.threads.getCurrentThreadCpuTime() - cpu;
            cost.allocated += cost.threads.getCurrentThreadAllocatedBytes() - allocated;
        }
    }
}

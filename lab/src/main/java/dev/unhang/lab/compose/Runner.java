package dev.unhang.lab.compose;

import dev.unhang.healer.replay.Line;
import dev.unhang.healer.replay.Replay;
import dev.unhang.healer.replay.Trace;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;

/** Replays composed traces through the reader, detectors and decider of {@code unhang replay}, and scores each. */
final class Runner {

    private static final int THREADS = 2;

    private final Segments segments;

    Runner(Segments segments) {
        this.segments = segments;
    }

    /** One seed, one way. */
    Verdict judge(long seed, boolean heartbeats) throws IOException {
        Plan plan = Planner.plan(seed);
        List<Line> lines = new ArrayList<>();
        try (ComposedTrace composed = new ComposedTrace(plan, segments);
                Trace trace = Trace.read(plan.name(), composed, heartbeats)) {
            Replay.run(trace, (name, line) -> lines.add(line));
            return Verdict.of(plan, heartbeats, composed.occasions(), lines);
        }
    }

    /**
     * Seeds from {@code first} on, on two threads; the verdicts come in the order of the seeds.
     *
     * @param done told of the number of traces that are done
     */
    List<Verdict> judge(long first, int count, boolean heartbeats, IntConsumer done)
            throws IOException, InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS, work -> {
            Thread thread = new Thread(work, "compose");
            thread.setDaemon(true);
            return thread;
        });
        try {
            List<Future<Verdict>> futures = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                long seed = first + i;
                Callable<Verdict> work = () -> judge(seed, heartbeats);
                futures.add(threads.submit(work));
            }
            List<Verdict> verdicts = new ArrayList<>();
            for (Future<Verdict> future : futures) {
                verdicts.add(future.get());
                done.accept(verdicts.size());
            }
            return verdicts;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException io) {
                throw io;
            }
            throw new IllegalStateException("replaying a composed trace failed: " + e.getCause(), e.getCause());
        } finally {
            threads.shutdownNow();
        }
    }
}

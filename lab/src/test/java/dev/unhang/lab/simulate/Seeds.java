package dev.unhang.lab.simulate;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs seeds on as many threads as there are cores, each seed on one. */
final class Seeds {

    /** Of many failures so many are told of. */
    private static final int TOLD = 3;

    private Seeds() {}

    static List<Outcome> run(long from, int count) throws InterruptedException, ExecutionException {
        ExecutorService threads =
                Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        try {
            List<Future<Outcome>> running = new ArrayList<>();
            for (long seed = from; seed < from + count; seed++) {
                Setup setup = Setup.of(seed, 0, Plant.NONE);
                running.add(threads.submit(() -> Simulation.run(setup)));
            }
            List<Outcome> outcomes = new ArrayList<>();
            for (Future<Outcome> each : running) {
                outcomes.add(each.get());
            }
            return outcomes;
        } finally {
            threads.shutdownNow();
        }
    }

    /** What a person must know of those that saw a rule broken; empty when none did. */
    static String told(List<Outcome> outcomes) {
        List<Outcome> broken = outcomes.stream().filter(Outcome::broken).toList();
        List<String> told = broken.stream().limit(TOLD).map(Outcome::told).toList();
        return broken.isEmpty()
                ? ""
                : broken.size() + " of " + outcomes.size() + " seeds\n" + String.join("\n\n", told);
    }
}

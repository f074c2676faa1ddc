package dev.unhang.lab.simulate;

import java.io.PrintStream;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code unhang simulate}: runs seeds of the simulation, one or many. Exit: 0 when no rule was seen broken, 1 when one
 * was, 2 for a mistake in the options.
 */
@Command(
        name = "simulate",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "A simulated cluster by seed, with the real decider and actuators, and the nine rules of safety.")
public final class SimulateCommand implements Callable<Integer> {

    @Option(names = "--seed", defaultValue = "0", description = "The first seed (${DEFAULT-VALUE}).")
    private long seed;

    @Option(names = "--count", defaultValue = "1", description = "How many seeds (${DEFAULT-VALUE}).")
    private int count;

    @Option(names = "--nodes", defaultValue = "0", description = "How many nodes; 0: as the seed says.")
    private int nodes;

    @Option(
            names = "--plant",
            defaultValue = "0",
            paramLabel = "RULE",
            description = "Plants the fault that the checker of this rule must catch; 0: none.")
    private int plant;

    @Option(names = "--events", defaultValue = "50", description = "How many of the last events to print of a failure.")
    private int events;

    @Option(names = "--trace", description = "Prints the last events of a run that is well, too.")
    private boolean trace;

    private final PrintStream out;
    private final PrintStream err;

    public SimulateCommand(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    @Override
    public Integer call() {
        if (plant < 0 || plant > 9 || count < 1 || nodes < 0 || nodes == 1 || events < 1) {
            err.println("unhang simulate: --plant is 0 to 9, --count and --events at least 1, --nodes at least 2");
            return 2;
        }
        int broken = 0;
        for (long each = seed; each < seed + count; each++) {
            long began = System.nanoTime();
            Outcome outcome = Simulation.run(Setup.of(each, nodes, Plant.of(plant)), events);
            long tookMs = (System.nanoTime() - began) / 1_000_000;
            if (outcome.broken()) {
                broken++;
                out.println(outcome.told());
            } else {
                if (trace) {
                    outcome.last().forEach(line -> out.println("  " + line));
                }
                out.printf(
                        "seed %d: %d nodes, %.0f s simulated in %d ms, %d records, %d journal entries, %d incidents,"
                                + " %d actions begun, journal %s%n",
                        each,
                        outcome.setup().nodes(),
                        outcome.seconds(),
                        tookMs,
                        outcome.records(),
                        outcome.journal(),
                        outcome.incidents(),
                        outcome.begun(),
                        outcome.digest());
            }
        }
        return broken == 0 ? 0 : 1;
    }
}

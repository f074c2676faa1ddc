package dev.unhang.lab.simulate;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How one seed ended.
 *
 * @param rule that was seen broken; 0: none
 * @param how it was broken, for a person
 * @param last the last events before
 * @param attempts physical starts, by action
 * @param records of the inbox
 * @param journal entries
 * @param digest of the journal, to know that two runs of a seed are one
 */
public record Outcome(
        Setup setup,
        int rule,
        String how,
        List<String> last,
        Map<String, Integer> attempts,
        long records,
        int journal,
        int incidents,
        double seconds,
        String digest) {

    public Outcome {
        last = List.copyOf(last);
        attempts = Collections.unmodifiableMap(new TreeMap<>(attempts));
    }

    /** How many actions were begun. */
    public int begun() {
        return attempts.values().stream().mapToInt(Integer::intValue).sum();
    }

    public boolean broken() {
        return !how.isEmpty();
    }

    /** All that a person needs to look into it. */
    public String told() {
        return "seed " + setup.seed() + " with " + setup.nodes() + " nodes: "
                + (rule == 0 ? "the run itself failed: " : "rule " + rule + " is broken: ")
                + how
                + "\nthe last events:\n  "
                + String.join("\n  ", last)
                + "\nreplays alone with: ./unhang simulate --seed " + setup.seed() + " --nodes " + setup.nodes()
                + (setup.plant() == Plant.NONE
                        ? ""
                        : " --plant " + setup.plant().rule());
    }
}

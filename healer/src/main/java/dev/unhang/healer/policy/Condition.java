package dev.unhang.healer.policy;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What must hold for a playbook or a step; all of it. Immutable.
 *
 * @param launchers one of these started the job; empty: whoever did
 * @param suspect the first suspect is at least so sure
 * @param repeatOffender the suspected node has offended before; null: either way
 * @param figures the finding's figure of that name has one of these values
 */
public record Condition(
        Set<String> launchers,
        Facts.Confidence suspect,
        @Nullable Boolean repeatOffender,
        Map<String, List<Double>> figures) {

    /** Holds always. */
    public static final Condition ALWAYS = new Condition(Set.of(), Facts.Confidence.NONE, null, Map.of());

    /** What a job may have been started by. */
    public static final Set<String> LAUNCHERS = Set.of("torchrun", "slurm", "k8s");

    public Condition {
        launchers = Set.copyOf(launchers);
        figures = Map.copyOf(figures);
    }

    /** Why it does not hold; empty: it does. */
    public Optional<String> fails(Facts facts) {
        if (!launchers.isEmpty() && launchers.stream().noneMatch(facts.launchers()::contains)) {
            return Optional.of("the job was not started by "
                    + String.join(" or ", launchers.stream().sorted().toList()));
        }
        if (facts.confidence().compareTo(suspect) < 0) {
            return Optional.of(
                    facts.confidence() == Facts.Confidence.NONE
                            ? "nobody is suspected"
                            : "the first suspect is not sure enough");
        }
        if (repeatOffender != null && repeatOffender != facts.repeatOffender()) {
            return Optional.of(repeatOffender ? "the node has not offended before" : "the node has offended before");
        }
        for (Map.Entry<String, List<Double>> wanted : new TreeMap<>(figures).entrySet()) {
            Double value = facts.figures().get(wanted.getKey());
            if (value == null || !wanted.getValue().contains(value)) {
                return Optional.of(wanted.getKey() + " is " + (value == null ? "not known" : number(value)));
            }
        }
        return Optional.empty();
    }

    private static String number(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
    }
}

package dev.unhang.healer.policy;

import java.util.Map;
import java.util.Set;

/**
 * What conditions look at.
 *
 * @param launchers who started the job and can start it again: {@code torchrun}, {@code slurm}, {@code k8s}
 * @param confidence of the first suspect
 * @param repeatOffender whether the suspected node was first suspect before, within the limit's days
 * @param figures what was measured, as the finding says it
 */
public record Facts(Set<String> launchers, Confidence confidence, boolean repeatOffender, Map<String, Double> figures) {

    /** How sure the finding is of its first suspect. */
    public enum Confidence {
        NONE,
        LOW,
        MEDIUM,
        HIGH
    }

    public Facts {
        launchers = Set.copyOf(launchers);
        figures = Map.copyOf(figures);
    }
}

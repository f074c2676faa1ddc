package dev.unhang.healer.policy;

import dev.unhang.healer.command.Action;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * A step of a ladder aimed at one incident.
 *
 * @param executor the node whose actuator runs it, or {@link Action#AT_SCHEDULER}
 * @param nodes whose work it touches; nothing else may act on them meanwhile
 * @param job whose ranks it touches; empty for an action on a node
 * @param parameters as the command bears them
 */
public record Aim(Action action, String executor, Set<String> nodes, String job, Map<String, String> parameters) {

    public Aim {
        nodes = java.util.Collections.unmodifiableSet(new TreeSet<>(nodes));
        parameters = Map.copyOf(parameters);
    }

    /** For people: what is done to what. */
    public String sentence() {
        StringBuilder text = new StringBuilder(action.label());
        if (!executor.equals(Action.AT_SCHEDULER)) {
            text.append(" on ").append(executor);
        }
        for (String name : action.parameters()) {
            String value = parameters.get(name);
            if (value != null && !name.equals("processes") && !name.equals("reason")) {
                text.append(", ").append(name).append(' ').append(value);
            }
        }
        return text.toString();
    }
}

package dev.unhang.healer.policy;

import dev.unhang.events.v1.IncidentKind;
import java.util.List;

/**
 * The ladder of one kind of incident under one condition. When no step is left a person is called, once.
 *
 * @param name unique; it stands in the incident that follows it
 * @param why what the ladder is for, a sentence for people
 */
public record Playbook(String name, IncidentKind kind, Condition when, Mode mode, List<Rung> rungs, String why) {

    public Playbook {
        rungs = List.copyOf(rungs);
    }

    Playbook at(Mode other) {
        return new Playbook(name, kind, when, other, rungs, why);
    }
}

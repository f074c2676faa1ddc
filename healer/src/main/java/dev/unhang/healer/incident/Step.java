package dev.unhang.healer.incident;

import dev.unhang.events.v1.GuardAnswer;
import dev.unhang.events.v1.Incident;
import java.util.List;

/**
 * One change of an incident.
 *
 * @param next the incident after it
 * @param sentence what happened, for a person
 * @param answers what the guards said, where they were asked
 */
public record Step(Incident next, String sentence, List<GuardAnswer> answers) {

    public Step {
        answers = List.copyOf(answers);
    }

    static Step of(Incident.Builder next, String sentence) {
        return new Step(next.build(), sentence, List.of());
    }
}

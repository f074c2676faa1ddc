package dev.unhang.healer.policy;

import dev.unhang.healer.command.Action;
import java.time.Duration;
import java.util.Map;

/**
 * One step of a ladder.
 *
 * @param when what must hold for it to be tried; where it does not hold the step is left out
 * @param timeout how long the action itself may take
 * @param verifyWithin how long after the action's end the incident's own signal has to become well
 * @param verifyFor how long the signal must then stay well
 * @param cooldown how long the same action on the same node or job must be apart; doubled with each that did not help
 * @param attempts how often it is offered for one incident before the next step is due
 * @param with parameters that the playbook itself gives, as the unit to restart
 */
public record Rung(
        Action action,
        Condition when,
        Duration timeout,
        Duration verifyWithin,
        Duration verifyFor,
        Duration cooldown,
        int attempts,
        Map<String, String> with) {

    public static final Duration USUAL_TIMEOUT = Duration.ofMinutes(2);
    public static final Duration USUAL_VERIFY_WITHIN = Duration.ofMinutes(5);
    public static final Duration USUAL_VERIFY_FOR = Duration.ofMinutes(1);
    public static final Duration USUAL_COOLDOWN = Duration.ofMinutes(10);

    public Rung {
        with = Map.copyOf(with);
    }

    /** Whether it only looks, so that it needs no approval and nothing waits for its success. */
    public boolean harmless() {
        return action.harm() == Action.Harm.NONE;
    }
}

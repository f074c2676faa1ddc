package dev.unhang.healer.actuator.repair;

import dev.unhang.events.v1.Offer;
import dev.unhang.healer.command.Action;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** One action as this node does it. All is called by the one worker's thread; what is asked and begun is never at once. */
public interface Repair {

    /** Which action it is. */
    Action action();

    /** Why it cannot be done now, as a sentence; empty when it can. Looks and changes nothing. */
    Optional<String> refusal(Offer offer);

    /**
     * Does it. First looks again: between the question and this up to 5 s went by. Always answers, and when it throws it
     * has failed.
     *
     * @param deadlineNs of {@link Programs#nanos}: what it started must be gone by then
     * @param cancelled whether the actuator is told to stop: then it ends as soon as nothing is left half way
     */
    End run(Offer offer, long deadlineNs, BooleanSupplier cancelled);

    /** Puts back what an earlier start left half way, before anything else is done; a sentence about what was found. */
    default Optional<String> restoreAtStart() {
        return Optional.empty();
    }
}

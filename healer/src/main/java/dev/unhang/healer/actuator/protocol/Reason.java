package dev.unhang.healer.actuator.protocol;

import dev.unhang.events.v1.Grant;
import dev.unhang.events.v1.Offer;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.command.ParameterHash;
import java.util.Optional;
import java.util.Set;

/**
 * Why an offer, or a grant of it, does not hold by its own words.
 *
 * @param more what in particular; may be empty
 */
record Reason(Refusal refusal, String more) {

    private static final long LONGEST_MS = 86_400_000;

    static Optional<Reason> against(Offer offer, Set<Action> allowed) {
        Optional<Action> action = Action.named(offer.getAction());
        if (action.isEmpty()) {
            return of(Refusal.UNKNOWN_ACTION, "'" + offer.getAction() + "'");
        }
        if (!allowed.contains(action.get())) {
            return of(Refusal.NOT_ALLOWED, offer.getAction());
        }
        if (!action.get().parameters().containsAll(offer.getParametersMap().keySet())) {
            return of(
                    Refusal.BAD_PARAMETERS,
                    offer.getAction() + " knows " + action.get().parameters() + ", and it has "
                            + offer.getParametersMap().keySet());
        }
        return offer.getTimeoutMs() == 0 ? of(Refusal.BAD_PARAMETERS, "it has no timeout") : Optional.empty();
    }

    /** A grant that bears the nonce of the claim, {@code ageNs} after the claim. */
    static Optional<Reason> against(Grant grant, Offer offer, long ageNs) {
        if (!grant.getAction().equals(offer.getAction())) {
            return of(Refusal.WRONG_ACTION, "'" + grant.getAction() + "'");
        }
        if (!grant.getParametersHash().equals(ParameterHash.of(offer.getParametersMap()))) {
            return of(Refusal.WRONG_PARAMETERS, "");
        }
        return ageNs > Protocol.GRANT_WITHIN_NS
                ? of(Refusal.LATE_GRANT, "after " + ageNs / 1_000_000 + " ms")
                : Optional.empty();
    }

    /** The time that an action may take, at most a day. */
    static long timeoutMs(Offer offer) {
        long timeoutMs = offer.getTimeoutMs();
        return timeoutMs < 0 ? LONGEST_MS : Math.min(timeoutMs, LONGEST_MS);
    }

    private static Optional<Reason> of(Refusal refusal, String more) {
        return Optional.of(new Reason(refusal, more));
    }
}

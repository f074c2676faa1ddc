package dev.unhang.healer.actuator.protocol;

import com.google.protobuf.Message;
import dev.unhang.events.v1.Offer;

/** What is to be done about what was read: values, which the edge carries out in their order. */
public sealed interface Effect {

    /** Say this: a {@code Claim} or an {@code ActionResult}. */
    record Tell(Message message) implements Effect {}

    /** Find out whether what the offer needs holds, and answer with {@link Protocol#onAnswer}. */
    record Ask(Offer offer) implements Effect {}

    /**
     * Begin this now and end it with {@link Protocol#onEnded}. It must not begin later than {@code latestNs} of the
     * monotonic clock, whatever the machine did meanwhile; then it ends as refused.
     *
     * @param timeoutMs how long it may take
     */
    record Begin(Offer offer, long latestNs, long timeoutMs) implements Effect {}

    /** Nobody need be told but the log: for each refusal, reported or not. */
    record Note(Refusal refusal, String command, String sentence) implements Effect {}
}

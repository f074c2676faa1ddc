package dev.unhang.healer.incident;

import dev.unhang.events.v1.Approval;
import dev.unhang.events.v1.GuardAnswer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is to be done about a confirmed incident now.
 *
 * @param sentence the reason, for a person: of a hold the refusal, of an act what is offered
 * @param answers of all guards that were asked
 * @param playbook name of the one that is followed; empty: none
 * @param rung of its ladder, from 0
 * @param rungAttempts offers made on that rung before this
 * @param approval what a person has said of this rung; null: nothing
 */
public record Ruling(
        Verdict verdict,
        String sentence,
        List<GuardAnswer> answers,
        String playbook,
        int rung,
        int rungAttempts,
        @Nullable Approval approval) {

    /** In one word. */
    public enum Verdict {
        /** A guard refuses: ask again later. */
        HOLD,
        /** Nobody refuses, and a person is to say yes. */
        AWAIT,
        /** Offer it. */
        ACT,
        /** No step is left, or attempts are used up: call a person. */
        ESCALATE
    }

    public Ruling {
        answers = List.copyOf(answers);
    }
}

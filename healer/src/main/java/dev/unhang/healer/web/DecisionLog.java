package dev.unhang.healer.web;

import dev.unhang.events.v1.OperatorDecision;
import java.util.concurrent.CompletionStage;

/** Where a person's decision is written down. It is done only when the decider reads it there. */
public interface DecisionLog {

    /** Returns at once; completes when the log has the record, or with the reason why it has not. */
    CompletionStage<Void> write(OperatorDecision decision);
}

package dev.unhang.healer.decide;

import dev.unhang.events.v1.JobProfile;
import dev.unhang.events.v1.JobState;
import dev.unhang.events.v1.StateValue;
import dev.unhang.healer.ledger.Ledger;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Keeps what the job detector has learned, so that the next decider need not begin anew. Stateless. */
final class JobBook {

    private JobBook() {}

    /** @param learned by job; null: the job is long gone, forget it */
    static void learned(Turn turn, Map<String, @Nullable JobProfile> learned) {
        learned.forEach((job, profile) -> {
            String key = Ledger.jobKey(job);
            StateValue before = turn.ledger().values().get(key);
            if (profile == null) {
                if (before != null) {
                    turn.put(key, null, "job " + job + " is forgotten: nothing was heard of it for a week");
                }
                return;
            }
            JobState.Builder state = before == null ? JobState.newBuilder().setJob(job) : before.getJob().toBuilder();
            turn.put(
                    key,
                    StateValue.newBuilder().setJob(state.setProfile(profile)).build(),
                    "learned of job " + job + ": " + profile.getLengthsMsCount() + " pauses, "
                            + profile.getPhasesCount() + " phases");
        });
    }
}

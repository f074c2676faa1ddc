package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.SchedulerFact;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which allocations a scheduler has ended or put back into its queue. Their processes may be seen for a while yet, since
 * they are being ended, and no word of them counts. Bounded: of the oldest ones nobody hears again. Confined to the
 * decider's thread.
 */
final class Scheduled {

    private static final int KEPT = 10_000;

    private static final Set<String> ENDED = Set.of(
            "DONE",
            "COMPLETED",
            "COMPLETING",
            "CANCELLED",
            "FAILED",
            "TIMEOUT",
            "DEADLINE",
            "NODE_FAIL",
            "BOOT_FAIL",
            "OUT_OF_MEMORY",
            "PREEMPTED");

    private static final Set<String> QUEUED =
            Set.of("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED");

    /** An allocation that does not run: whether it waits to be started, and what to tell a person. */
    private record Rest(boolean waits, String words) {}

    /** By scheduler and its id of the job. */
    private final Map<String, Rest> resting = new LinkedHashMap<>();

    /** True when an allocation has stopped to run by this word; {@link #rests} tells a person why. */
    boolean onFact(SchedulerFact fact) {
        if (fact.getJob().isEmpty()) {
            return false;
        }
        String key = key(fact.getScheduler(), fact.getJob());
        Rest rest = rest(fact);
        if (rest == null) {
            if (!fact.getJobState().isEmpty() && !fact.getJobState().equals("UNKNOWN")) {
                resting.remove(key);
            }
            return false;
        }
        boolean news = resting.put(key, rest) == null;
        if (news && resting.size() > KEPT) {
            resting.remove(resting.keySet().iterator().next());
        }
        return news;
    }

    /** Why no word of this job's processes counts, for a person; null: they count. */
    @Nullable
    String rests(JobIdentity identity) {
        Rest rest = of(identity);
        return rest == null ? null : rest.words;
    }

    /** It will be started again. */
    boolean waits(JobIdentity identity) {
        Rest rest = of(identity);
        return rest != null && rest.waits;
    }

    private @Nullable Rest of(JobIdentity identity) {
        if (resting.isEmpty()) {
            return null;
        }
        String slurm = identity.getSlurm();
        if (!slurm.isEmpty()) {
            int step = slurm.indexOf('.');
            return resting.get(key("slurm", step < 0 ? slurm : slurm.substring(0, step)));
        }
        return identity.getK8S().isEmpty() ? null : resting.get(key("k8s", identity.getK8S()));
    }

    /** Null: it runs, or nothing is known. */
    private static @Nullable Rest rest(SchedulerFact fact) {
        // Slurm's CANCELLED may name by whom.
        String state = fact.getJobState().toUpperCase(Locale.ROOT).split("[ +]", 2)[0];
        String says = fact.getScheduler() + " says of its job " + fact.getJob() + ": " + state;
        if (ENDED.contains(state)) {
            return new Rest(false, says + ", so it has ended");
        }
        return QUEUED.contains(state) ? new Rest(true, says + ", so it waits to be started") : null;
    }

    private static String key(String scheduler, String job) {
        return scheduler + ":" + job;
    }
}

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

    /** What is said of an allocation that does not run: by scheduler and its id of the job. */
    private final Map<String, String> resting = new LinkedHashMap<>();

    /** True when an allocation has stopped to run by this word: {@link #rests} tells a person why. */
    boolean onFact(SchedulerFact fact) {
        if (fact.getJob().isEmpty()) {
            return false;
        }
        String key = key(fact.getScheduler(), fact.getJob());
        String why = why(fact);
        if (why == null) {
            if (!fact.getJobState().isEmpty() && !fact.getJobState().equals("UNKNOWN")) {
                resting.remove(key);
            }
            return false;
        }
        boolean news = resting.put(key, why) == null;
        if (news && resting.size() > KEPT) {
            resting.remove(resting.keySet().iterator().next());
        }
        return news;
    }

    /** Why no word of this job's processes counts, for a person; null: they count. */
    @Nullable
    String rests(JobIdentity identity) {
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

    private static @Nullable String why(SchedulerFact fact) {
        // Slurm's CANCELLED may name by whom.
        String[] words = fact.getJobState().toUpperCase(Locale.ROOT).split("[ +]", 2);
        String state = words[0];
        String job = fact.getScheduler() + " says of its job " + fact.getJob() + ": " + state;
        if (ENDED.contains(state)) {
            return job + ", so it has ended";
        }
        return QUEUED.contains(state) ? job + ", so it waits to be started" : null;
    }

    private static String key(String scheduler, String job) {
        return scheduler + ":" + job;
    }
}

package dev.unhang.healer.act;

import dev.unhang.healer.command.Action;
import java.util.Map;

/**
 * A scheduler as the healer uses it: it tells of jobs and nodes, and is asked to drain, give back and requeue. Each call
 * has a deadline of its own and may block for as long; any thread may call, and at most a few at once are let through.
 */
public interface Scheduler {

    /** The name in facts, as {@code slurm}. */
    String name();

    /** All jobs that are known and all nodes, as they are now. */
    SchedulerView view() throws SchedulerException;

    /**
     * Whether an action could be run now; nothing is changed.
     *
     * @throws SchedulerException with the reason why not
     */
    void check(Action action, Map<String, String> parameters) throws SchedulerException;

    /**
     * Checks again, and runs it.
     *
     * @return what was done, for a person
     */
    String run(Action action, Map<String, String> parameters) throws SchedulerException;
}

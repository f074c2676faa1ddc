package dev.unhang.healer.act;

import java.util.List;

/** Jobs and nodes as a scheduler told of them at one time. Immutable. */
public record SchedulerView(List<Job> jobs, List<Node> nodes) {

    public SchedulerView {
        jobs = List.copyOf(jobs);
        nodes = List.copyOf(nodes);
    }

    /** What a job does, in words that are the same for all schedulers; those of {@code SchedulerFact}. */
    public enum JobState {
        /** It waits to be started, for the first time or again. */
        PENDING,
        RUNNING,
        /** Its processes were stopped on purpose and keep their nodes. */
        SUSPENDED,
        /** It is over, and its processes are being ended. */
        COMPLETING,
        DONE,
        UNKNOWN
    }

    /** What a node may be used for, in words that are the same for all schedulers; those of {@code SchedulerFact}. */
    public enum NodeState {
        UP,
        /** Nothing more is started on it, and something still runs. */
        DRAINING,
        /** Nothing more is started on it, and nothing runs. */
        DRAINED,
        DOWN,
        /** Switched off on purpose. */
        OFF,
        UNKNOWN
    }

    /**
     * A job.
     *
     * @param id that its processes see in their environment
     * @param word the scheduler's own
     * @param restarts how often it was started again
     * @param nodes that it has, or had last
     */
    public record Job(String id, JobState state, String word, int restarts, List<String> nodes) {
        public Job {
            nodes = List.copyOf(nodes);
        }
    }

    /**
     * A node.
     *
     * @param word the scheduler's own
     * @param reason why it is drained or down; empty where none is told
     * @param who set the reason; empty where not known
     */
    public record Node(String name, NodeState state, String word, String reason, String who) {}
}

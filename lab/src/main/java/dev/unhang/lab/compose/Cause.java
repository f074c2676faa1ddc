package dev.unhang.lab.compose;

/** What can be done to a job. The words are the rows of the matrix. */
enum Cause {
    STOPPED("rank stopped"),
    LOOPS("rank loops on its CPU"),
    SLEEPS("rank sleeps"),
    KILLED("rank killed, others wait"),
    KILLED_ABORTED("rank killed, some abort"),
    NIC_DOWN("NIC down"),
    NODE_SILENT("node silent"),
    ALL_WAIT("all wait, no culprit"),
    SEVERAL("several culprits"),
    RANK_0_AFTER_CHECKPOINTS("rank 0 after many checkpoints"),
    CHECKPOINT_NEVER_ENDS("checkpoint never ends"),
    STUCK_KERNEL("stuck kernel"),
    NO_PROGRESS("all work, no progress"),
    EXIT_OUT_OF_STEP("exit out of step"),
    ABSENT("rank absent at init"),
    SLOW("slow");

    private final String words;

    Cause(String words) {
        this.words = words;
    }

    String words() {
        return words;
    }

    /** Whether this can happen to such a job. */
    boolean possible(Setting setting) {
        return switch (this) {
            case NIC_DOWN ->
                setting.nodes() > 1
                        && (setting.path() == Setting.Path.NIC || setting.path() == Setting.Path.NIC_AND_NVLINK);
            case NODE_SILENT -> setting.nodes() > 1;
            case SEVERAL -> setting.world() >= 16;
            // Needs the time for many checkpoints.
            case RANK_0_AFTER_CHECKPOINTS, CHECKPOINT_NEVER_ENDS -> setting.world() <= 16;
            default -> true;
        };
    }
}

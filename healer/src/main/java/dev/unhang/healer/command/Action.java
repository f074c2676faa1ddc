package dev.unhang.healer.command;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * All that a healer can have done, with the parameters that a command carries. What is not in this list can be neither
 * decided nor allowed. Parameters are strings; {@code processes} is as {@link ProcessName} says.
 */
public enum Action {
    /** Reads what idle ranks are at: wait channel, system call, kernel stack; py-spy's stacks where it is installed. */
    LOOK(Scope.NODE, Harm.NONE, "processes"),
    /** Keeps what a later restart would destroy: stacks, kernel log, NCCL's flight recorder and RAS state. */
    COLLECT_EVIDENCE(Scope.NODE, Harm.NONE, "processes", "bug-report"),
    /** Ends rank processes; a launcher such as torchrun starts all of the job's ranks again in place. */
    RESTART_RANKS(Scope.JOB, Harm.JOB, "processes", "job"),
    /** Restarts a systemd unit that the actuator's own configuration names. */
    RELAUNCH_UNIT(Scope.JOB, Harm.JOB, "unit", "job"),
    /** Ends processes that hold a GPU and belong to no job that is there. */
    KILL_LEAKED(Scope.NODE, Harm.NODE, "gpu", "processes"),
    RESTART_PERSISTENCED(Scope.NODE, Harm.NODE),
    /** Resets one GPU that nobody uses. */
    RESET_GPU(Scope.NODE, Harm.NODE, "gpu"),
    /** Takes a port down and up, and puts back what the kernel forgets with that. */
    BOUNCE_NIC(Scope.NODE, Harm.NODE, "nic"),
    /** Has chrony correct the clock at once. */
    STEP_CLOCK(Scope.NODE, Harm.NODE),
    /** Tells the scheduler to start nothing more on a node. What runs there goes on. */
    DRAIN(Scope.NODE, Harm.NODE, "node", "reason"),
    /** Gives back a node that was drained with exactly this reason. */
    UNDRAIN(Scope.NODE, Harm.NONE, "node", "reason"),
    /** Has the scheduler end a job and start it again. */
    REQUEUE(Scope.JOB, Harm.JOB, "job", "scheduler-job");

    /** Where commands go that no node runs: the executor beside the healer. */
    public static final String AT_SCHEDULER = "@scheduler";

    /** What an action is about, and so what is counted and locked. */
    public enum Scope {
        /** One node. */
        NODE,
        /** A job, with all its nodes. */
        JOB
    }

    /** What an action puts at risk. */
    public enum Harm {
        /** It only looks, or gives back. */
        NONE,
        NODE,
        JOB
    }

    private final Scope scope;
    private final Harm harm;
    private final String parameters;

    Action(Scope scope, Harm harm, String... parameters) {
        this.scope = scope;
        this.harm = harm;
        this.parameters = String.join(" ", parameters);
    }

    /** The name in playbooks, commands and allowlists, as {@code restart-ranks}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public Scope scope() {
        return scope;
    }

    public Harm harm() {
        return harm;
    }

    /** Names of all parameters that a command with this action may bear. */
    public List<String> parameters() {
        return parameters.isEmpty() ? List.of() : List.of(parameters.split(" "));
    }

    /** Whether the executor beside the healer runs it, and not a node's actuator. */
    public boolean atScheduler() {
        return this == DRAIN || this == UNDRAIN || this == REQUEUE;
    }

    /** Whether it heals nothing by itself but makes the next step safe, so that its own result says whether it worked. */
    public boolean prepares() {
        return this == DRAIN;
    }

    public static Optional<Action> named(String label) {
        return Arrays.stream(values())
                .filter(action -> action.label().equals(label))
                .findFirst();
    }
}

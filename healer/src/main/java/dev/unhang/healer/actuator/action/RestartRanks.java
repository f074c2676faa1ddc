package dev.unhang.healer.actuator.action;

import dev.unhang.events.v1.Offer;
import dev.unhang.healer.actuator.process.NodeProcesses;
import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Repair;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.command.ProcessName;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Ends the named rank processes. Their launcher (torchrun) then ends the job's other ranks and starts all again in place.
 * If one of them is not the process that was meant, or is not of that job, nothing is signalled.
 */
public final class RestartRanks implements Repair {

    private static final Set<String> OF_THE_JOB = Set.of(
            "SLURM_JOB_ID",
            "TORCHELASTIC_RUN_ID",
            "TORCHELASTIC_RESTART_COUNT",
            "TORCHELASTIC_MAX_RESTARTS",
            "MASTER_ADDR",
            "MASTER_PORT",
            "UNHANG");

    private final NodeProcesses node;
    private final Ending ending;

    /** @param patience between SIGTERM and SIGKILL */
    public RestartRanks(NodeProcesses node, Programs programs, Duration patience) {
        this.node = node;
        this.ending = new Ending(node, programs, patience);
    }

    @Override
    public Action action() {
        return Action.RESTART_RANKS;
    }

    @Override
    public Optional<String> refusal(Offer offer) {
        Named named = Named.of(offer, node);
        return named.refusal().or(() -> notOfTheJob(named.processes(), offer.getParametersOrDefault("job", "")));
    }

    @Override
    public End run(Offer offer, long deadlineNs, BooleanSupplier cancelled) {
        Optional<String> refusal = refusal(offer);
        return refusal.isPresent()
                ? End.refused(refusal.get() + "; nothing was signalled")
                : ending.run(Named.of(offer, node).processes(), deadlineNs, cancelled);
    }

    private Optional<String> notOfTheJob(List<ProcessName> processes, String job) {
        for (ProcessName process : processes) {
            Optional<String> doubt = node.environ(process.pid(), OF_THE_JOB)
                    .map(environ -> doubt(environ, job))
                    .orElse(Optional.of(" has an environment that cannot be read: is the actuator root?"));
            if (doubt.isPresent()) {
                return Optional.of("process " + process.pid() + doubt.get());
            }
        }
        return Optional.empty();
    }

    /**
     * What the environment says against it. A job that is named by its heartbeats has another name there, so only a name
     * of the same form contradicts.
     */
    static Optional<String> doubt(Map<String, String> environ, String job) {
        String mode = environ.getOrDefault("UNHANG", "");
        if (mode.equals("off") || mode.equals("observe")) {
            return Optional.of(" has UNHANG=" + mode + " in its environment: its job wants no repair");
        }
        Optional<String> last = noRestartLeft(environ);
        if (last.isPresent()) {
            return last;
        }
        String slurm = environ.getOrDefault("SLURM_JOB_ID", "");
        String elastic = environ.getOrDefault("TORCHELASTIC_RUN_ID", "");
        String master = environ.getOrDefault("MASTER_ADDR", "") + ":" + environ.getOrDefault("MASTER_PORT", "");
        Set<String> names = new HashSet<>(List.of(slurm, elastic, master));
        if (job.isEmpty() || names.contains(job) || (!slurm.isEmpty() && job.startsWith(slurm + "."))) {
            return Optional.empty();
        }
        if (!slurm.isEmpty() && job.matches("\\d+(\\.\\S+)?")) {
            return Optional.of(" is of Slurm's job " + slurm + " and not of " + job);
        }
        return master.length() > 1 && job.matches("[^\\s/]+:\\d{1,5}")
                ? Optional.of(" is of the job at " + master + " and not of " + job)
                : Optional.empty();
    }

    /** Torchrun starts ranks again --max-restarts times, by default not once; after that a kill ends the job. */
    private static Optional<String> noRestartLeft(Map<String, String> environ) {
        String most = environ.getOrDefault("TORCHELASTIC_MAX_RESTARTS", "");
        String count = environ.getOrDefault("TORCHELASTIC_RESTART_COUNT", "");
        if (!most.matches("\\d{1,9}") || !count.matches("\\d{1,9}")) {
            return Optional.empty();
        }
        return Integer.parseInt(count) >= Integer.parseInt(most)
                ? Optional.of(" has been started again " + count + " times and torchrun allows " + most
                        + " (--max-restarts): to kill it would end the job")
                : Optional.empty();
    }
}

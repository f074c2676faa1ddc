package dev.unhang.healer.actuator.action;

import dev.unhang.events.v1.Offer;
import dev.unhang.healer.actuator.process.NodeProcesses;
import dev.unhang.healer.actuator.process.ProcessStat;
import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Repair;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.command.ProcessName;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Ends processes that hold a GPU and belong to no job that is there. Each must have the GPU's device file open or mapped,
 * and must be no living rank: a process whose environment names a rank counts as living unless a launcher had started it
 * and that is gone, so that the node's first process is its parent now. GPUs are found in
 * {@code /proc/driver/nvidia/gpus/ADDRESS/information}, lines {@code GPU UUID} and {@code Device Minor}.
 */
public final class KillLeaked implements Repair {

    private static final Set<String> BY_A_LAUNCHER =
            Set.of("TORCHELASTIC_RUN_ID", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK");
    private static final Set<String> OF_A_RANK = Set.of(
            "RANK",
            "JOB_COMPLETION_INDEX",
            "TORCHELASTIC_RUN_ID",
            "SLURM_PROCID",
            "OMPI_COMM_WORLD_RANK",
            "PMIX_RANK",
            "PMI_RANK");

    private final NodeProcesses node;
    private final Path proc;
    private final Ending ending;

    /** @param patience between SIGTERM and SIGKILL */
    public KillLeaked(NodeProcesses node, Path proc, Programs programs, Duration patience) {
        this.node = node;
        this.proc = proc;
        this.ending = new Ending(node, programs, patience);
    }

    @Override
    public Action action() {
        return Action.KILL_LEAKED;
    }

    @Override
    public Optional<String> refusal(Offer offer) {
        Named named = Named.of(offer, node);
        if (named.refusal().isPresent()) {
            return named.refusal();
        }
        String gpu = offer.getParametersOrDefault("gpu", "");
        Optional<String> device;
        try {
            device = deviceOf(gpu);
        } catch (IOException e) {
            return Optional.of("the driver's list of GPUs cannot be read: " + e.getMessage());
        }
        if (device.isEmpty()) {
            return Optional.of("no GPU of this node has the UUID '" + gpu + "'");
        }
        return named.processes().stream()
                .map(process -> doubt(process, device.get()))
                .flatMap(Optional::stream)
                .findFirst();
    }

    @Override
    public End run(Offer offer, long deadlineNs, BooleanSupplier cancelled) {
        Optional<String> refusal = refusal(offer);
        return refusal.isPresent()
                ? End.refused(refusal.get() + "; nothing was signalled")
                : ending.run(Named.of(offer, node).processes(), deadlineNs, cancelled);
    }

    private Optional<String> doubt(ProcessName process, String device) {
        if (!node.devices(process.pid()).contains(device)) {
            return Optional.of("process " + process.pid() + " does not hold " + device + " any more");
        }
        Optional<Map<String, String>> read = node.environ(process.pid(), OF_A_RANK);
        if (read.isEmpty()) {
            return Optional.of(
                    "the environment of process " + process.pid() + " cannot be read: is the actuator root?");
        }
        Map<String, String> environ = read.get();
        if (environ.isEmpty()) {
            return Optional.empty();
        }
        Optional<ProcessStat> parent = node.stat(process.pid()).flatMap(stat -> node.stat(stat.parent()));
        boolean orphan = parent.isPresent()
                && (parent.get().pid() == 1 || parent.get().comm().equals("systemd"));
        return orphan && environ.keySet().stream().anyMatch(BY_A_LAUNCHER::contains)
                ? Optional.empty()
                : Optional.of("process " + process.pid() + " is a living rank by its environment (" + environ.keySet()
                        + ") and its parent");
    }

    /** As {@code /dev/nvidia3}. */
    private Optional<String> deviceOf(String uuid) throws IOException {
        try (DirectoryStream<Path> gpus = Files.newDirectoryStream(proc.resolve("driver/nvidia/gpus"))) {
            for (Path gpu : gpus) {
                Optional<String> device = device(Files.readAllLines(gpu.resolve("information")), uuid);
                if (device.isPresent()) {
                    return device;
                }
            }
        }
        return Optional.empty();
    }

    /** Of the lines of one GPU's {@code information}; empty when it is another GPU. */
    static Optional<String> device(List<String> lines, String uuid) {
        String its = "";
        String minor = "";
        for (String line : lines) {
            int colon = line.indexOf(':');
            String value = line.substring(colon + 1).strip();
            if (line.startsWith("GPU UUID")) {
                its = value;
            } else if (line.startsWith("Device Minor")) {
                minor = value;
            }
        }
        return !uuid.isEmpty() && its.equalsIgnoreCase(uuid) && minor.matches("\\d+")
                ? Optional.of("/dev/nvidia" + minor)
                : Optional.empty();
    }
}

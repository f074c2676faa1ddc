package dev.unhang.healer.actuator.action;

import dev.unhang.events.v1.Offer;
import dev.unhang.healer.actuator.process.NodeProcesses;
import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Ran;
import dev.unhang.healer.actuator.repair.Repair;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.command.ProcessName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Keeps what a restart would destroy, in a folder of this node for root alone: what each process is at, the dumps of NCCL's
 * flight recorder that its environment names, NCCL's RAS state, the kernel's last lines on GPUs and network cards, and the
 * driver's bug report when asked for. What cannot be had is listed and harms nothing; no environment, command line or
 * dump leaves the node.
 */
public final class CollectEvidence implements Repair {

    private static final Duration KERNEL_LOG = Duration.ofSeconds(10);
    private static final Duration RAS = Duration.ofSeconds(3);
    private static final Duration AT_THE_END = Duration.ofSeconds(3);
    private static final int KERNEL_LINES = 500;
    private static final Pattern OF_DEVICES =
            Pattern.compile("NVRM|nvidia|mlx[45]|Xid|AER|mce:|hung_task|blocked for more");
    private static final String RECORDER = "TORCH_NCCL_DEBUG_INFO_TEMP_FILE";
    private static final String RECORDER_NEW = "TORCH_FR_DUMP_TEMP_FILE";
    private static final Set<String> NAMED = Set.of("RANK", RECORDER, RECORDER_NEW);

    private final NodeProcesses node;
    private final Programs programs;
    private final Limits limits;
    private final ProcessLook look;

    /**
     * Where evidence goes, and what it is made with.
     *
     * @param folder below the state folder
     * @param most bytes of one command
     * @param keep how many commands'
     * @param rasHost where NCCL's RAS is asked; empty for nowhere
     */
    public record Limits(
            Path folder,
            long most,
            int keep,
            String dmesg,
            String pySpy,
            String bugReport,
            String rasHost,
            int rasPort) {}

    public CollectEvidence(NodeProcesses node, Programs programs, Limits limits) {
        this.node = node;
        this.programs = programs;
        this.limits = limits;
        this.look = new ProcessLook(node, programs, limits.pySpy());
    }

    @Override
    public Action action() {
        return Action.COLLECT_EVIDENCE;
    }

    /** A process that has ended meanwhile is no reason: the rest is worth keeping. */
    @Override
    public Optional<String> refusal(Offer offer) {
        if (offer.containsParameters("processes")) {
            try {
                ProcessName.parse(offer.getParametersOrDefault("processes", ""));
            } catch (IllegalArgumentException e) {
                return Optional.of("parameter processes: " + e.getMessage());
            }
        }
        try {
            Path there = limits.folder();
            while (!Files.exists(there) && there.getParent() != null) {
                there = there.getParent();
            }
            long free = Files.getFileStore(there).getUsableSpace();
            return free >= limits.most()
                    ? Optional.empty()
                    : Optional.of("the disk of " + there + " is full: " + (free >> 10)
                            + " KiB are free, and evidence may take " + (limits.most() >> 10) + " KiB");
        } catch (IOException e) {
            return Optional.of("the disk of " + limits.folder() + " cannot be read: " + e.getMessage());
        }
    }

    @Override
    public End run(Offer offer, long deadlineNs, BooleanSupplier cancelled) {
        Optional<String> refusal = refusal(offer);
        if (refusal.isPresent()) {
            return End.refused(refusal.get());
        }
        EvidenceFolder folder;
        try {
            folder = EvidenceFolder.make(limits.folder(), offer.getCommandId(), limits.most(), limits.keep());
        } catch (IOException e) {
            return End.failed("the folder for evidence cannot be made: " + e);
        }
        List<String> missing = new ArrayList<>();
        List<Part> parts = parts(offer, folder, deadlineNs);
        for (Part part : parts) {
            if (programs.nanos() >= deadlineNs - AT_THE_END.toNanos() || cancelled.getAsBoolean()) {
                missing.add(part.name() + " (no time left)");
                continue;
            }
            try {
                part.write().run();
            } catch (IOException e) {
                missing.add(part.name() + " (" + e.getMessage() + ")");
            }
        }
        String without = missing.isEmpty() ? "" : "; without " + String.join(", ", missing);
        return missing.size() < parts.size()
                ? End.done(folder.told() + without)
                : End.failed("nothing could be kept" + without);
    }

    private interface Write {
        void run() throws IOException;
    }

    private record Part(String name, Write write) {}

    private List<Part> parts(Offer offer, EvidenceFolder folder, long deadlineNs) {
        List<Part> parts = new ArrayList<>();
        String named = offer.getParametersOrDefault("processes", "");
        for (ProcessName process : named.isEmpty() ? List.<ProcessName>of() : ProcessName.parse(named)) {
            String name = "process-" + process.pid();
            parts.add(new Part(name, () -> process(folder, process, name)));
        }
        parts.add(new Part("kernel log", () -> folder.write("kernel.log", kernelLog())));
        if (!limits.rasHost().isEmpty()) {
            parts.add(new Part(
                    "NCCL RAS",
                    () -> folder.write("nccl-ras.txt", NcclRas.status(limits.rasHost(), limits.rasPort(), RAS))));
        }
        if (offer.getParametersOrDefault("bug-report", "").equals("true")) {
            parts.add(new Part("nvidia-bug-report", () -> bugReport(folder, deadlineNs)));
        }
        return parts;
    }

    private void process(EvidenceFolder folder, ProcessName process, String name) throws IOException {
        Optional<String> doubt = node.doubt(process);
        if (doubt.isPresent()) {
            throw new IOException(doubt.get());
        }
        String text = look.at(process.pid()).entrySet().stream()
                .map(each -> each.getKey() + ":\n" + each.getValue() + "\n")
                .collect(Collectors.joining("\n"));
        folder.write(name + ".txt", text);
        recorder(process.pid()).ifPresent(dump -> {
            try {
                folder.copy(name + "-flight-recorder", dump);
            } catch (IOException e) {
                // There is none before the watchdog of PyTorch has written it.
            }
        });
    }

    /** The dump of the process's rank, where its environment names one: the value is what the file names begin with. */
    private Optional<Path> recorder(int pid) {
        Map<String, String> environ = node.environ(pid, NAMED).orElse(Map.of());
        String rank = environ.getOrDefault("RANK", "");
        String begins = environ.getOrDefault(RECORDER_NEW, environ.getOrDefault(RECORDER, ""));
        return begins.isEmpty() || rank.isEmpty() ? Optional.empty() : Optional.of(node.seenBy(pid, begins + rank));
    }

    private String kernelLog() throws IOException {
        Ran ran = programs.run(KERNEL_LOG, List.of(limits.dmesg()));
        if (!ran.ok()) {
            throw new IOException(ran.why());
        }
        return ofDevices(ran.output().lines().toList());
    }

    /** The last lines on GPUs, network cards, memory errors and hung tasks. */
    static String ofDevices(List<String> lines) {
        List<String> found =
                lines.stream().filter(line -> OF_DEVICES.matcher(line).find()).toList();
        return String.join("\n", found.subList(Math.max(0, found.size() - KERNEL_LINES), found.size())) + "\n";
    }

    private void bugReport(EvidenceFolder folder, long deadlineNs) throws IOException {
        Path file = folder.path().resolve("nvidia-bug-report.log");
        Duration left = Duration.ofNanos(deadlineNs - AT_THE_END.toNanos() - programs.nanos());
        Ran ran = programs.run(left, List.of(limits.bugReport(), "--output-file", file.toString()));
        if (!ran.ok()) {
            throw new IOException(ran.why());
        }
    }
}

package dev.unhang.healer.actuator.gpu;

import dev.unhang.healer.actuator.repair.Ran;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Which GPUs one reset has to reset together, or why it must not be: NVLink peers without NVSwitches go together; with
 * NVSwitches one goes alone, before Hopper only while Fabric Manager runs. Immutable.
 *
 * @param gpus what nvidia-smi said of each, by UUID; empty when refused
 * @param refusal a sentence, or empty
 */
record ResetTarget(Map<String, GpuAnswer> gpus, String refusal) {

    /** Whose GPUs are reset without Fabric Manager. */
    private static final Set<String> HOPPER_AND_LATER = Set.of("hopper", "blackwell", "rubin");

    ResetTarget {
        gpus = new java.util.LinkedHashMap<>(gpus);
    }

    List<String> uuids() {
        return List.copyOf(gpus.keySet());
    }

    List<String> persistent() {
        return gpus.entrySet().stream()
                .filter(gpu -> gpu.getValue().persistent())
                .map(Map.Entry::getKey)
                .toList();
    }

    private static ResetTarget refused(String why) {
        return new ResetTarget(Map.of(), why);
    }

    static ResetTarget find(String uuid, NvidiaTools tools, GpuSettings settings) throws IOException {
        if (!uuid.matches("GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")) {
            return refused("'" + uuid + "' is no UUID of a GPU");
        }
        Ran ran = tools.query(uuid);
        Optional<String> trouble = ran.ok() ? Optional.empty() : GpuAnswer.trouble(ran);
        if (!ran.ok()) {
            return refused(trouble.orElse("nvidia-smi cannot read it, " + ran.why()));
        }
        GpuAnswer gpu = GpuAnswer.parse(ran.output());
        if (!uuid.equals(gpu.value("GPU UUID"))) {
            return refused("nvidia-smi answers for another GPU, " + gpu.value("GPU UUID"));
        }
        Ran log = tools.kernelLog();
        if (!log.ok()) {
            return refused("the kernel log cannot be read, " + log.why());
        }
        Optional<String> against = KernelWords.against(log.output(), gpu.busId());
        if (against.isPresent()) {
            return refused(against.get());
        }
        Map<String, GpuAnswer> all = new java.util.LinkedHashMap<>(Map.of(uuid, gpu));
        boolean switches = hasSwitches(settings) || gpu.inFabric();
        boolean later = HOPPER_AND_LATER.contains(gpu.architecture().toLowerCase(Locale.ROOT));
        if (switches && !later && !"Ampere".equals(gpu.architecture())) {
            return refused(
                    "how a GPU of architecture '" + gpu.architecture() + "' is reset beside NVSwitches is not known");
        }
        if (switches && !later && !tools.isActive(settings.fabricManager())) {
            return refused(
                    settings.fabricManager() + " does not run, and a GPU of this generation is reset only with it");
        }
        if (!switches) {
            all.putAll(peers(uuid, tools));
        }
        return judged(all);
    }

    private static ResetTarget judged(Map<String, GpuAnswer> all) {
        for (Map.Entry<String, GpuAnswer> gpu : all.entrySet()) {
            String recovery = gpu.getValue().recovery().toLowerCase(Locale.ROOT);
            if (gpu.getValue().mig()) {
                return refused(gpu.getKey() + " is in MIG mode, or will be after a reset");
            }
            if (gpu.getValue().isGuestOfAVirtualGpu()) {
                return refused(gpu.getKey() + " is a virtual GPU or serves some, which are not reset from here");
            }
            if (recovery.contains("reboot") || recovery.contains("imex")) {
                return refused("the driver asks for '" + gpu.getValue().recovery() + "', which a reset is not");
            }
        }
        return new ResetTarget(all, "");
    }

    private static Map<String, GpuAnswer> peers(String uuid, NvidiaTools tools) throws IOException {
        Map<Integer, String> uuids = tools.gpus();
        int index = uuids.entrySet().stream()
                .filter(entry -> entry.getValue().equals(uuid))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseThrow(() -> new IOException("nvidia-smi lists no GPU " + uuid));
        if (uuids.size() == 1) {
            return Map.of();
        }
        Ran topology = tools.topology();
        if (!topology.ok()) {
            throw new IOException("nvidia-smi does not tell which GPUs are joined, " + topology.why());
        }
        Map<String, GpuAnswer> peers = new java.util.LinkedHashMap<>();
        for (int peer : Topology.joined(topology.output(), index)) {
            String other = uuids.getOrDefault(peer, "");
            if (other.equals(uuid)) {
                continue;
            }
            Ran ran = tools.query(other);
            if (!ran.ok()) {
                throw new IOException("its NVLink peer " + other + " must be reset with it and cannot be read, "
                        + GpuAnswer.trouble(ran).orElse(ran.why()));
            }
            peers.put(other, GpuAnswer.parse(ran.output()));
        }
        return peers;
    }

    private static boolean hasSwitches(GpuSettings settings) throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> nodes = Files.newDirectoryStream(settings.dev(), "nvidia-nvswitch[0-9]*")) {
            nodes.forEach(found::add);
        }
        Path devices = settings.proc().resolve("driver/nvidia-nvswitch/devices");
        if (Files.isDirectory(devices)) {
            try (DirectoryStream<Path> nodes = Files.newDirectoryStream(devices)) {
                nodes.forEach(found::add);
            }
        }
        return !found.isEmpty();
    }
}

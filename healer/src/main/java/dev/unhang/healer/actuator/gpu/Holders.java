package dev.unhang.healer.actuator.gpu;

import dev.unhang.healer.actuator.repair.OpenFiles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Who uses GPUs: programs that compute, by nvidia-smi, and all that have {@code /dev/nvidiaN} open or mapped, by
 * {@code /proc}. Reads only; on the worker's thread.
 */
final class Holders {

    private final NvidiaTools tools;
    private final GpuSettings settings;
    private final OpenFiles open;

    Holders(NvidiaTools tools, GpuSettings settings) {
        this.tools = tools;
        this.settings = settings;
        this.open = new OpenFiles(settings.proc());
    }

    /** Everybody who has one of them open. */
    List<OpenFiles.Holder> all(ResetTarget target) {
        Set<String> nodes = new LinkedHashSet<>();
        boolean any = false;
        for (GpuAnswer gpu : target.gpus().values()) {
            gpu.minor().ifPresent(minor -> nodes.add(settings.dev() + "/nvidia" + minor));
            any |= gpu.minor().isEmpty();
        }
        String prefix = settings.dev() + "/nvidia";
        boolean everyNode = any; // without its number each GPU may be it
        return open.holders(path -> nodes.contains(path)
                || (everyNode
                        && path.startsWith(prefix)
                        && path.substring(prefix.length()).matches("\\d+")));
    }

    /** Those who must not be disturbed: all but who is stopped, or lets go when asked. A sentence part each. */
    List<String> strangers(ResetTarget target) throws IOException {
        Set<String> strangers = new LinkedHashSet<>(tools.computing(target.uuids()));
        for (OpenFiles.Holder holder : all(target)) {
            if (!isHandled(holder)) {
                strangers.add(holder.shown());
            }
        }
        return new ArrayList<>(strangers);
    }

    private boolean isHandled(OpenFiles.Holder holder) {
        List<String> units = new ArrayList<>(settings.clients());
        units.add(settings.persistenced());
        units.add(settings.fabricManager());
        return units.stream().anyMatch(unit -> isOf(holder, unit))
                || Set.of("nvidia-persiste", "nv-fabricmanage").contains(holder.name())
                || isCollector(holder);
    }

    static boolean isOf(OpenFiles.Holder holder, String unit) {
        return holder.cgroup().lines().anyMatch(line -> line.endsWith("/" + unit) || line.contains("/" + unit + "/"));
    }

    /** Only a guess that it will let go when asked: once it was asked, whoever still holds the GPU is in the way. */
    private boolean isCollector(OpenFiles.Holder holder) {
        try {
            String command = java.nio.file.Files.readString(settings.proc().resolve(holder.pid() + "/cmdline"));
            return command.contains("unhang") && command.contains("collector");
        } catch (IOException e) {
            return false;
        }
    }
}

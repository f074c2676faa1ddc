package dev.unhang.healer.actuator.gpu;

import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Ran;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The calls of nvidia-smi, systemctl and dmesg that a reset needs, each with a deadline. On the worker's thread. */
final class NvidiaTools {

    private static final Duration QUERY = Duration.ofSeconds(30);
    private static final Duration UNIT = Duration.ofSeconds(60);

    private final Programs programs;

    NvidiaTools(Programs programs) {
        this.programs = programs;
    }

    /** All about one GPU. */
    Ran query(String uuid) {
        return programs.run(QUERY, List.of("nvidia-smi", "-q", "-i", uuid));
    }

    Ran topology() {
        return programs.run(QUERY, List.of("nvidia-smi", "topo", "-m"));
    }

    /** UUIDs by index. */
    Map<Integer, String> gpus() throws IOException {
        Ran ran = programs.run(QUERY, List.of("nvidia-smi", "--query-gpu=index,uuid", "--format=csv,noheader"));
        if (!ran.ok()) {
            throw new IOException("nvidia-smi does not list the GPUs, " + ran.why());
        }
        Map<Integer, String> gpus = new TreeMap<>();
        for (String line : ran.output().lines().toList()) {
            List<String> cells = List.of(line.split(",\\s*", -1));
            if (cells.size() == 2 && cells.get(0).matches("\\d{1,3}")) {
                gpus.put(Integer.parseInt(cells.get(0)), cells.get(1).strip());
            }
        }
        return gpus;
    }

    /** Process and name of each program that computes on one of these. */
    List<String> computing(List<String> uuids) throws IOException {
        Ran ran = programs.run(
                QUERY,
                List.of("nvidia-smi", "--query-compute-apps=gpu_uuid,pid,process_name", "--format=csv,noheader"));
        if (!ran.ok()) {
            throw new IOException("nvidia-smi does not list the programs, " + ran.why());
        }
        return ran.output()
                .lines()
                .filter(line -> uuids.stream().anyMatch(line::startsWith))
                .map(line -> {
                    String[] cells = line.split(",\\s*", 3);
                    return cells.length == 3 ? "process " + cells[1] + " (" + cells[2] + ")" : line;
                })
                .toList();
    }

    Ran persistence(String uuid, boolean on) {
        return programs.run(QUERY, List.of("nvidia-smi", "-pm", on ? "1" : "0", "-i", uuid));
    }

    Ran reset(List<String> uuids, Duration deadline) {
        return programs.run(deadline, List.of("nvidia-smi", "--gpu-reset", "-i", String.join(",", uuids)));
    }

    boolean isActive(String unit) {
        return programs.run(QUERY, List.of("systemctl", "is-active", "--quiet", unit))
                .ok();
    }

    Ran stop(String unit) {
        return programs.run(UNIT, List.of("systemctl", "stop", unit));
    }

    Ran start(String unit) {
        return programs.run(UNIT, List.of("systemctl", "start", unit));
    }

    Ran kernelLog() {
        return programs.run(QUERY, List.of("dmesg"));
    }
}

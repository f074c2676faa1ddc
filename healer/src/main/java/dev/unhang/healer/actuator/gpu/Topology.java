package dev.unhang.healer.actuator.gpu;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads the matrix of {@code nvidia-smi topo -m}: which GPUs are joined by NVLink. Pure. */
final class Topology {

    private static final Pattern COLOURS = Pattern.compile("\u001b\\[[0-9;]*m");
    private static final Pattern GPU = Pattern.compile("GPU(\\d+)");
    private static final Pattern NVLINK = Pattern.compile("NV\\d+");

    private Topology() {}

    /**
     * @param index of a GPU
     * @return indices of all that are joined to it, itself among them, also over others
     * @throws IllegalArgumentException when the matrix has no such row
     */
    static List<Integer> joined(String text, int index) {
        List<List<String>> rows = new ArrayList<>();
        for (String line : COLOURS.matcher(text).replaceAll("").lines().toList()) {
            List<String> cells = List.of(line.strip().split("\\s*\t\\s*", -1));
            if (GPU.matcher(cells.get(0)).matches() && cells.stream().anyMatch("X"::equals)) {
                rows.add(cells);
            }
        }
        Set<Integer> joined = new LinkedHashSet<>(Set.of(index));
        boolean grew = true;
        while (grew) {
            grew = false;
            for (int from : List.copyOf(joined)) {
                List<String> row = rows.stream()
                        .filter(cells -> cells.get(0).equals("GPU" + from))
                        .findFirst()
                        .orElseThrow(() -> new IllegalArgumentException("nvidia-smi topo -m has no row of GPU" + from));
                for (int to = 0; to < rows.size() && to + 1 < row.size(); to++) {
                    grew |= NVLINK.matcher(row.get(to + 1)).matches() && joined.add(to);
                }
            }
        }
        return joined.stream().sorted().toList();
    }
}

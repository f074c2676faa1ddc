package dev.unhang.collector.source.process;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntUnaryOperator;

/**
 * Chooses, among processes that claim to be ranks, those that are. An environment is inherited, so a shell wrapper, a
 * launcher and the workers of a data loader all claim the rank of the process that does the work. Pure:
 *
 * <ul>
 *   <li>a process that sends heartbeats is a rank, and then the others of its claim are not;
 *   <li>an ancestor of a process with another claim is a launcher (an agent that was itself started by Slurm);
 *   <li>of those with one and the same claim it is the one that holds a GPU, else the eldest that is no known wrapper;
 *   <li>wrappers alone make no rank.
 * </ul>
 */
final class RankPicker {

    private static final Set<String> WRAPPERS = Set.of(
            "sh",
            "bash",
            "dash",
            "ash",
            "zsh",
            "ksh",
            "csh",
            "tcsh",
            "fish",
            "busybox",
            "env",
            "sudo",
            "su",
            "time",
            "timeout",
            "nohup",
            "nice",
            "ionice",
            "chrt",
            "setsid",
            "stdbuf",
            "script",
            "tini",
            "dumb-init",
            "catatonit",
            "pause",
            "sleep",
            "tail",
            "tee",
            "cat",
            "srun",
            "sbatch",
            "salloc",
            "slurmstepd",
            "mpirun",
            "mpiexec",
            "mpiexec.hydra",
            "orterun",
            "prterun",
            "orted",
            "prted",
            "hydra_pmi_proxy",
            "torchrun",
            "accelerate",
            "deepspeed",
            "numactl",
            "taskset",
            "nsys",
            "nsys-launcher",
            "ncu",
            "strace",
            "gdb",
            "perf",
            "py-spy",
            "singularity",
            "apptainer",
            "starter",
            "starter-suid",
            "enroot",
            "podman",
            "docker",
            "conda",
            "uv");

    private static final int DEEPEST = 64;

    /** A process that claims to be a rank, as it stands now. */
    record Candidate(ProcStat stat, RankClaim claim, boolean holdsGpu, boolean beats) {

        boolean works() {
            return holdsGpu || beats;
        }
    }

    private RankPicker() {}

    /** @param parentOf the parent of a pid, 0 where it is not known */
    static List<Candidate> pick(Collection<Candidate> candidates, IntUnaryOperator parentOf) {
        Map<Integer, Candidate> byPid = new HashMap<>();
        candidates.forEach(each -> byPid.put(each.stat().pid(), each));
        Set<Integer> launchers = new HashSet<>();
        for (Candidate each : candidates) {
            int ancestor = parentOf.applyAsInt(each.stat().pid());
            for (int depth = 0; ancestor > 1 && depth < DEEPEST; depth++) {
                Candidate above = byPid.get(ancestor);
                if (above != null && !above.works() && !above.claim().equals(each.claim())) {
                    launchers.add(ancestor);
                }
                ancestor = parentOf.applyAsInt(ancestor);
            }
        }
        Map<RankClaim, List<Candidate>> groups = new LinkedHashMap<>();
        for (Candidate each : candidates) {
            boolean eligible = each.claim().family() != RankClaim.Family.INDEXED_JOB || each.works();
            if (eligible && !launchers.contains(each.stat().pid())) {
                groups.computeIfAbsent(each.claim(), ignored -> new ArrayList<>())
                        .add(each);
            }
        }
        List<Candidate> ranks = new ArrayList<>();
        groups.values().forEach(group -> choose(group, ranks));
        return ranks;
    }

    private static void choose(List<Candidate> group, List<Candidate> ranks) {
        List<Candidate> beating = group.stream().filter(Candidate::beats).toList();
        if (!beating.isEmpty()) {
            ranks.addAll(beating);
            return;
        }
        group.stream()
                .filter(each ->
                        each.holdsGpu() || !WRAPPERS.contains(each.stat().comm()))
                .min(Comparator.comparing((Candidate each) -> !each.holdsGpu())
                        .thenComparing(each -> each.stat().ended())
                        .thenComparing(each -> each.stat().startTicks())
                        .thenComparing(each -> each.stat().pid()))
                .ifPresent(ranks::add);
    }
}

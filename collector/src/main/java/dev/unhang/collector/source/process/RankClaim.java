package dev.unhang.collector.source.process;

import dev.unhang.events.v1.JobIdentity;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * That a process was started as a rank, by the word of its environment. Launchers, wrappers and workers that inherited
 * the environment claim the same; {@link RankPicker} chooses among them. Pure, immutable.
 *
 * @param family who gave the rank its number
 * @param job all identities found, without a heartbeat's
 */
record RankClaim(Family family, int rank, int localRank, JobIdentity job) {

    /** In the order in which they are believed. */
    enum Family {
        TORCH,
        OPEN_MPI,
        SLURM,
        PMI,
        /** Every process of a pod of an indexed Job has the variable, so only one that holds a GPU is a rank. */
        INDEXED_JOB
    }

    /**
     * @param network the namespace of the process's network: a loopback master means one job only within it; may be
     *     empty
     */
    record Local(String network, int session) {}

    private static final int MOST_RANKS = 1 << 24;
    private static final Pattern LOOPBACK =
            Pattern.compile("127\\..*|localhost(\\..*)?|ip6-localhost|\\[?::1\\]?|0\\.0\\.0\\.0|");

    /**
     * Null where the variables make no rank.
     *
     * @param local what ties the processes of one job on this node together where nothing better does
     */
    static @Nullable RankClaim of(Map<String, String> environ, CgroupIdentity cgroup, Local local) {
        int world = number(environ, "WORLD_SIZE");
        int rank = number(environ, "RANK");
        if (rank >= 0 && world > rank) {
            return claim(Family.TORCH, rank, "LOCAL_RANK", world, environ, cgroup, local);
        }
        rank = number(environ, "OMPI_COMM_WORLD_RANK");
        if (rank >= 0) {
            world = number(environ, "OMPI_COMM_WORLD_SIZE");
            return claim(Family.OPEN_MPI, rank, "OMPI_COMM_WORLD_LOCAL_RANK", world, environ, cgroup, local);
        }
        rank = number(environ, "SLURM_PROCID");
        if (rank >= 0 && environ.containsKey("SLURM_JOB_ID")) {
            world = number(environ, "SLURM_STEP_NUM_TASKS");
            world = world > 0 ? world : number(environ, "SLURM_NTASKS");
            return claim(Family.SLURM, rank, "SLURM_LOCALID", world, environ, cgroup, local);
        }
        rank = Math.max(number(environ, "PMIX_RANK"), number(environ, "PMI_RANK"));
        if (rank >= 0) {
            return claim(Family.PMI, rank, "MPI_LOCALRANKID", number(environ, "PMI_SIZE"), environ, cgroup, local);
        }
        rank = number(environ, "JOB_COMPLETION_INDEX");
        return rank < 0 ? null : claim(Family.INDEXED_JOB, rank, "LOCAL_RANK", 0, environ, cgroup, local);
    }

    private static RankClaim claim(
            Family family,
            int rank,
            String localRank,
            int world,
            Map<String, String> environ,
            CgroupIdentity cgroup,
            Local local) {
        JobIdentity.Builder job = JobIdentity.newBuilder().setK8S(cgroup.pod()).setWorld(Math.max(0, world));
        String slurm = slurm(environ, cgroup);
        job.setSlurm(slurm);
        String runId = environ.getOrDefault("TORCHELASTIC_RUN_ID", "");
        if (!runId.equalsIgnoreCase("none")) {
            job.setTorchelastic(runId);
        }
        String address = environ.getOrDefault("MASTER_ADDR", "");
        String port = environ.getOrDefault("MASTER_PORT", "");
        boolean loopback = LOOPBACK.matcher(address).matches();
        if (!loopback && !port.isEmpty()) {
            job.setMaster(address + ":" + port);
        }
        if (!hasIdentity(job)) {
            job.setLocal(
                    address.isEmpty() || port.isEmpty()
                            ? "session:" + local.session()
                            : "loopback:" + port + "@" + local.network());
        }
        epoch(environ, !slurm.isEmpty(), job);
        String mode = environ.getOrDefault("UNHANG", "");
        if (mode.equals("observe") || mode.equals("off")) {
            job.setMode(mode);
        }
        return new RankClaim(family, rank, Math.max(0, number(environ, localRank)), job.build());
    }

    /** True where some identity holds beyond this node. */
    static boolean hasIdentity(JobIdentity.Builder job) {
        return !(job.getSlurm().isEmpty()
                && job.getK8S().isEmpty()
                && job.getTorchelastic().isEmpty()
                && job.getMaster().isEmpty());
    }

    private static String slurm(Map<String, String> environ, CgroupIdentity cgroup) {
        if (!cgroup.slurm().isEmpty()) {
            return cgroup.slurm();
        }
        String job = environ.getOrDefault("SLURM_JOB_ID", "");
        String step = environ.getOrDefault("SLURM_STEP_ID", "");
        return job.isEmpty() || step.isEmpty() ? job : job + "." + step;
    }

    /**
     * The count of torchelastic begins anew when Slurm requeues a job, and an epoch must never go back, so both go into
     * one number.
     */
    private static void epoch(Map<String, String> environ, boolean slurm, JobIdentity.Builder job) {
        int requeued = number(environ, "SLURM_RESTART_COUNT"); // Slurm sets it only once the job was restarted
        int restarted = number(environ, "TORCHELASTIC_RESTART_COUNT");
        if (restarted >= 0 || slurm) {
            job.setEpochKnown(true).setEpoch(Math.max(0, requeued) * 1000 + Math.max(0, restarted) % 1000);
        }
    }

    /** -1 where it is missing or no number of ranks. */
    private static int number(Map<String, String> environ, String name) {
        String text = environ.getOrDefault(name, "");
        if (text.isEmpty() || text.length() > 9 || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return -1;
        }
        int value = Integer.parseInt(text);
        return value < MOST_RANKS ? value : -1;
    }
}

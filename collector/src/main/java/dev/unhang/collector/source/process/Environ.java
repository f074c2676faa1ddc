package dev.unhang.collector.source.process;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Takes the named variables out of an environment block, and nothing else: users keep secrets in theirs. A variable
 * that is not named is skipped byte by byte and never becomes a string. Pure but for the stream.
 */
public final class Environ {

    /** All that may leave the node. Each is a number, an address or an identity of a job. */
    static final Set<String> NAMED = Set.of(
            "RANK",
            "WORLD_SIZE",
            "LOCAL_RANK",
            "MASTER_ADDR",
            "MASTER_PORT",
            "TORCHELASTIC_RUN_ID",
            "TORCHELASTIC_RESTART_COUNT",
            "SLURM_JOB_ID",
            "SLURM_STEP_ID",
            "SLURM_PROCID",
            "SLURM_LOCALID",
            "SLURM_NTASKS",
            "SLURM_STEP_NUM_TASKS",
            "SLURM_RESTART_COUNT",
            "OMPI_COMM_WORLD_RANK",
            "OMPI_COMM_WORLD_SIZE",
            "OMPI_COMM_WORLD_LOCAL_RANK",
            "PMIX_RANK",
            "PMI_RANK",
            "PMI_SIZE",
            "MPI_LOCALRANKID",
            "JOB_COMPLETION_INDEX",
            "UNHANG");

    private static final int LONGEST_NAME = 32;
    private static final int LONGEST_VALUE = 256;
    private static final int LONGEST_BLOCK = 4 << 20;

    private Environ() {}

    /** A named variable whose value is longer than 256 bytes is no number or identity, and is left out. */
    static Map<String, String> read(InputStream block) throws IOException {
        return read(block, NAMED, LONGEST_VALUE);
    }

    /** Only what is named here; values that are longer are left out. */
    public static Map<String, String> read(InputStream block, Set<String> named, int longestValue) throws IOException {
        Map<String, String> found = new HashMap<>();
        byte[] chunk = new byte[16 * 1024];
        ByteArrayOutputStream name = new ByteArrayOutputStream();
        ByteArrayOutputStream value = new ByteArrayOutputStream();
        String wanted = "";
        boolean inName = true;
        boolean skip = false;
        int total = 0;
        int length;
        while (total < LONGEST_BLOCK && (length = block.read(chunk)) > 0) {
            total += length;
            for (int i = 0; i < length; i++) {
                byte b = chunk[i];
                if (b == 0) {
                    if (!inName && !skip) {
                        found.putIfAbsent(wanted, value.toString(StandardCharsets.UTF_8));
                    }
                    name.reset();
                    value.reset();
                    inName = true;
                    skip = false;
                } else if (!skip && !inName) {
                    value.write(b);
                    skip = value.size() > longestValue;
                } else if (!skip && b == '=') {
                    wanted = name.toString(StandardCharsets.US_ASCII);
                    skip = !named.contains(wanted);
                    inName = false;
                } else if (!skip) {
                    name.write(b);
                    skip = name.size() > LONGEST_NAME;
                }
            }
        }
        return found;
    }
}

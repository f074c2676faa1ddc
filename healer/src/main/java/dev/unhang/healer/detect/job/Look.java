package dev.unhang.healer.detect.job;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a look found a rank's process at, as far as it tells a checkpoint from a hang. A moment's picture: that it stores
 * explains a pause, that all its threads wait is only as good as the counters would be, and a thread that runs may be at
 * anything. Immutable.
 *
 * @param words for a person; empty when it says nothing
 */
record Look(Says says, String words) {

    enum Says {
        /** A thread is in a call that reads or writes files, or sleeps in the kernel for storage. */
        STORES,
        /** All threads wait, and none for storage. */
        WAITS,
        NOTHING
    }

    static final Look NONE = new Look(Says.NOTHING, "");

    /** Parts of the kernel's function names in which a thread waits for storage: page cache, block layer, file systems. */
    private static final Pattern KERNEL = Pattern.compile(
            "\\b((?:folio_wait|wait_on_page|filemap_|balance_dirty_pages|"
                    + "io_schedule|blk_|submit_bio|bio_|rq_qos_wait|jbd2_|ext4_|xfs_|btrfs_|nfs_|nfs4_|rpc_wait|ceph_|fuse_|"
                    + "request_wait_answer|cl_sync_io|ll_file|osc_|ptlrpc_|beegfs|vfs_fsync|do_fsync|file_write_and_wait)\\w*)");

    /** Python's frames of a checkpoint or a load, as py-spy prints them: {@code save (torch/serialization.py:850)}. */
    private static final Pattern PYTHON =
            Pattern.compile("(\\S+ \\(\\S*(?:torch/serialization|distributed/checkpoint|safetensors|orbax)[^)]*\\))");

    /** Calls on a file, as the actuator names them: {@code write of a file}. */
    private static final Pattern FILE_CALL = Pattern.compile(
            "\\b((?:read|write|pread64|pwrite64|readv|writev|preadv|pwritev|fsync|fdatasync|sync_file_range|sendfile|"
                    + "copy_file_range) of a file)\\b");

    /** Reads the findings of one look, by name, as the actuator tells them. */
    static Look at(Map<String, String> findings) {
        String call = first(FILE_CALL, findings.getOrDefault("calls", ""));
        if (!call.isEmpty()) {
            return new Look(Says.STORES, "a thread is in the system call " + call + ", as for a checkpoint");
        }
        String threads = findings.getOrDefault("threads", "");
        String kernel = first(
                KERNEL, findings.getOrDefault("wchan", "") + ' ' + findings.getOrDefault("stack", "") + ' ' + threads);
        if (!kernel.isEmpty()) {
            return new Look(Says.STORES, "a thread waits for storage in the kernel (" + kernel + ")");
        }
        String python = first(PYTHON, findings.getOrDefault("python", ""));
        if (!python.isEmpty()) {
            return new Look(Says.STORES, "its Python is in " + python + ", as for a checkpoint");
        }
        return waits(findings.getOrDefault("state", ""), threads)
                ? new Look(Says.WAITS, "all its threads wait, and none of them for storage")
                : NONE;
    }

    /** A list as {@code 12 S futex_wait_queue, 1 S}: nothing but sleepers, among them the first thread. */
    private static boolean waits(String state, String threads) {
        if (!state.toUpperCase(Locale.ROOT).equals("S") || threads.isEmpty()) {
            return false;
        }
        for (String some : threads.split(", ", -1)) {
            String[] words = some.strip().split(" ", -1);
            if (words.length < 2 || !words[1].equals("S")) {
                return false;
            }
        }
        return true;
    }

    private static String first(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        return matcher.find() ? matcher.group(1) : "";
    }
}

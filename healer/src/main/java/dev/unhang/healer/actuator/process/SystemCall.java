package dev.unhang.healer.actuator.process;

import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The system call in which a thread is, from {@code /proc/PID/task/TID/syscall}. Pure. Numbers are those of the kernel's
 * tables for x86-64 (arch/x86/entry/syscalls/syscall_64.tbl) and for arm64 (include/uapi/asm-generic/unistd.h).
 *
 * @param name as in the manual; {@code call N} for one that is of no matter here
 * @param descriptor its first argument where that is a file descriptor, else -1
 */
public record SystemCall(String name, int descriptor) {

    private static final Map<Integer, String> X86 = Map.ofEntries(
            Map.entry(0, "read"),
            Map.entry(1, "write"),
            Map.entry(7, "poll"),
            Map.entry(17, "pread64"),
            Map.entry(18, "pwrite64"),
            Map.entry(19, "readv"),
            Map.entry(20, "writev"),
            Map.entry(26, "msync"),
            Map.entry(40, "sendfile"),
            Map.entry(44, "sendto"),
            Map.entry(45, "recvfrom"),
            Map.entry(46, "sendmsg"),
            Map.entry(47, "recvmsg"),
            Map.entry(74, "fsync"),
            Map.entry(75, "fdatasync"),
            Map.entry(202, "futex"),
            Map.entry(230, "clock_nanosleep"),
            Map.entry(232, "epoll_wait"),
            Map.entry(277, "sync_file_range"),
            Map.entry(281, "epoll_pwait"),
            Map.entry(295, "preadv"),
            Map.entry(296, "pwritev"),
            Map.entry(326, "copy_file_range"));

    private static final Map<Integer, String> ARM64 = Map.ofEntries(
            Map.entry(22, "epoll_pwait"),
            Map.entry(63, "read"),
            Map.entry(64, "write"),
            Map.entry(65, "readv"),
            Map.entry(66, "writev"),
            Map.entry(67, "pread64"),
            Map.entry(68, "pwrite64"),
            Map.entry(69, "preadv"),
            Map.entry(70, "pwritev"),
            Map.entry(71, "sendfile"),
            Map.entry(73, "ppoll"),
            Map.entry(82, "fsync"),
            Map.entry(83, "fdatasync"),
            Map.entry(84, "sync_file_range"),
            Map.entry(98, "futex"),
            Map.entry(115, "clock_nanosleep"),
            Map.entry(206, "sendto"),
            Map.entry(207, "recvfrom"),
            Map.entry(211, "sendmsg"),
            Map.entry(212, "recvmsg"),
            Map.entry(227, "msync"),
            Map.entry(285, "copy_file_range"));

    private static final Set<String> OF_NO_DESCRIPTOR =
            Set.of("poll", "ppoll", "futex", "clock_nanosleep", "msync", "epoll_wait", "epoll_pwait");

    /**
     * Reads the file's one line; empty for a thread that runs, is between calls, or may not be read.
     *
     * @param arch as {@code os.arch} says
     */
    public static Optional<SystemCall> parse(String text, String arch) {
        String[] words = text.strip().split("\\s+", -1);
        if (words.length < 2 || !words[0].matches("\\d{1,5}")) {
            return Optional.empty();
        }
        int number = Integer.parseInt(words[0]);
        Map<Integer, String> names = arch.equals("aarch64") ? ARM64 : X86;
        String name = names.getOrDefault(number, "call " + number);
        boolean has = names.containsKey(number) && !OF_NO_DESCRIPTOR.contains(name);
        return Optional.of(new SystemCall(name, has ? descriptor(words[1]) : -1));
    }

    private static int descriptor(String word) {
        String digits = word.startsWith("0x") ? word.substring(2) : word;
        return digits.matches("[0-9a-f]{1,7}") ? Integer.parseInt(digits, 16) : -1;
    }
}

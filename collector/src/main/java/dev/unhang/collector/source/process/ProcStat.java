package dev.unhang.collector.source.process;

import org.jspecify.annotations.Nullable;

/**
 * The fields of {@code /proc/PID/stat} that we use (proc(5)). Pure.
 *
 * @param comm the program's name, at most 15 bytes
 * @param cpuTicks user and system time of all threads, in ticks of 100 Hz
 * @param startTicks since boot; with boot id and pid the identity of the process
 * @param environAt where the environment lies; it changes with each exec, and is 0 without permission and in a zombie
 */
record ProcStat(
        int pid,
        String comm,
        char state,
        int parent,
        int session,
        boolean kernelThread,
        long cpuTicks,
        long startTicks,
        long environAt) {

    private static final long PF_KTHREAD = 0x0020_0000;

    /** Null where the line is not of that form, as when the process ended while it was read. */
    static @Nullable ProcStat parse(String line) {
        // comm may hold blanks and brackets: it ends at the last one.
        int open = line.indexOf('(');
        int close = line.lastIndexOf(')');
        if (open < 2 || close < open || close + 4 > line.length()) {
            return null;
        }
        String[] field = line.substring(close + 2).split(" ", -1);
        if (field.length < 48) {
            return null;
        }
        try {
            return new ProcStat(
                    Integer.parseInt(line.substring(0, open - 1)),
                    line.substring(open + 1, close),
                    field[0].charAt(0),
                    Integer.parseInt(field[1]),
                    Integer.parseInt(field[3]),
                    (Long.parseLong(field[6]) & PF_KTHREAD) != 0,
                    Long.parseLong(field[11]) + Long.parseLong(field[12]),
                    Long.parseLong(field[19]),
                    Long.parseUnsignedLong(field[47]));
        } catch (NumberFormatException | StringIndexOutOfBoundsException e) {
            return null;
        }
    }

    /** It has ended, or is about to: its environment can no longer be read. */
    boolean ended() {
        return state == 'Z' || state == 'X' || state == 'x';
    }
}

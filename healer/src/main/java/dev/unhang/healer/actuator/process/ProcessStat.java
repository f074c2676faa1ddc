package dev.unhang.healer.actuator.process;

import java.util.Optional;

/**
 * The fields of {@code /proc/PID/stat} that are used here (proc(5)). Pure.
 *
 * @param comm the program's name, at most 15 bytes
 * @param state as R, S, D, T, t, Z
 * @param startTicks since boot, unsigned; with boot id and pid the identity of the process
 */
public record ProcessStat(int pid, String comm, char state, int parent, long startTicks) {

    /** Empty where the line is not of that form, as when the process ended while it was read. */
    static Optional<ProcessStat> parse(String line) {
        // comm may hold blanks and brackets: it ends at the last one.
        int open = line.indexOf('(');
        int close = line.lastIndexOf(')');
        if (open < 2 || close < open || close + 2 > line.length()) {
            return Optional.empty();
        }
        String[] field = line.substring(close + 2).split(" ", -1);
        if (field.length < 20 || field[0].isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(new ProcessStat(
                    Integer.parseInt(line.substring(0, open - 1)),
                    line.substring(open + 1, close),
                    field[0].charAt(0),
                    Integer.parseInt(field[1]),
                    Long.parseUnsignedLong(field[19])));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** Stopped by a signal, or by a debugger: a signal to terminate would wait. */
    public boolean stopped() {
        return state == 'T' || state == 't';
    }

    /** It has ended; only its parent has not asked how. */
    public boolean ended() {
        return state == 'Z' || state == 'X' || state == 'x';
    }

    /** As {@code process 4711 (python3)}. */
    public String shown() {
        return "process " + pid + " (" + comm + ")";
    }
}

package dev.unhang.healer.command;

import dev.unhang.events.v1.RankProcess;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A process on a node as a parameter of a command: {@code BOOT:PID:START}, boot id in 32 hex digits, start in clock ticks
 * since boot (field 22 of {@code /proc/PID/stat}, unsigned). Several are parted by commas. Immutable.
 */
public record ProcessName(String bootId, int pid, long startTicks) {

    private static final Pattern FORM = Pattern.compile("([0-9a-f]{32}):([1-9][0-9]{0,9}):([0-9]{1,20})");

    public static ProcessName of(RankProcess process) {
        return new ProcessName(
                HexFormat.of().formatHex(process.getBootId().toByteArray()), process.getPid(), process.getStartTicks());
    }

    public static String join(List<ProcessName> processes) {
        return String.join(",", processes.stream().map(ProcessName::toString).toList());
    }

    /**
     * Reads the value of a parameter {@code processes}.
     *
     * @throws IllegalArgumentException with a sentence, when it is not well formed
     */
    public static List<ProcessName> parse(String parameter) {
        List<ProcessName> processes = new ArrayList<>();
        for (String part : parameter.split(",", -1)) {
            Matcher matcher = FORM.matcher(part);
            if (!matcher.matches()) {
                throw new IllegalArgumentException("'" + part + "' is no process: it is BOOT:PID:START, as"
                        + " 0123456789abcdef0123456789abcdef:4711:123456");
            }
            try {
                processes.add(new ProcessName(
                        matcher.group(1), Integer.parseInt(matcher.group(2)), unsigned(matcher.group(3))));
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException("'" + part + "' has a number that is too large", e);
            }
        }
        return List.copyOf(processes);
    }

    @Override
    public String toString() {
        return bootId + ':' + pid + ':' + Long.toUnsignedString(startTicks);
    }

    private static long unsigned(String digits) {
        if (new BigInteger(digits).bitLength() > Long.SIZE) {
            throw new NumberFormatException(digits);
        }
        return Long.parseUnsignedLong(digits);
    }
}

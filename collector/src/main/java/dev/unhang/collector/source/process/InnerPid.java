package dev.unhang.collector.source.process;

/** The pid that a process has in its own pid namespace, as it knows itself in a container. Pure. */
public final class InnerPid {

    private InnerPid() {}

    /** The last number of {@code NSpid:} in {@code /proc/PID/status}, or 0. */
    public static int of(String status) {
        for (String line : status.split("\n", -1)) {
            if (line.startsWith("NSpid:")) {
                String[] pids = line.substring("NSpid:".length()).strip().split("\\s+", -1);
                try {
                    return Integer.parseInt(pids[pids.length - 1]);
                } catch (NumberFormatException e) {
                    return 0;
                }
            }
        }
        return 0;
    }
}

package dev.unhang.collector.source.nccl;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Who wrote a line, by its own prefix: NCCL writes {@code host:pid:tid [device]}, PyTorch {@code [rank3]:}. Several ranks,
 * even of several nodes, may write one file. Pure.
 *
 * @param host without its domain; empty where the line does not tell
 * @param pid as the process knows itself, in a container another than outside; 0 where the line does not tell
 * @param rank -1 where the line does not tell
 */
record Speaker(String host, int pid, int rank) {

    static final Speaker UNKNOWN = new Speaker("", 0, -1);

    private static final Pattern NCCL =
            Pattern.compile("(?<![A-Za-z0-9._-])([A-Za-z0-9_-]{1,64}):(\\d{1,9}):\\d{1,9} \\[-?\\d+\\] ");
    private static final Pattern TORCH = Pattern.compile("\\[rank(\\d{1,8})\\]:");

    static Speaker of(String line) {
        if (line.contains("[rank")) {
            Matcher torch = TORCH.matcher(line);
            if (torch.find()) {
                return new Speaker("", 0, Integer.parseInt(torch.group(1)));
            }
        }
        Matcher nccl = NCCL.matcher(line);
        return line.contains("NCCL") && nccl.find()
                ? new Speaker(nccl.group(1), Integer.parseInt(nccl.group(2)), -1)
                : UNKNOWN;
    }

    boolean known() {
        return pid > 0 || rank >= 0;
    }
}

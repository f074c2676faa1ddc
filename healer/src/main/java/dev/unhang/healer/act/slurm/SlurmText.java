package dev.unhang.healer.act.slurm;

import dev.unhang.healer.act.SchedulerView.Job;
import dev.unhang.healer.act.SchedulerView.JobState;
import dev.unhang.healer.act.SchedulerView.Node;
import dev.unhang.healer.act.SchedulerView.NodeState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads what {@code squeue} and {@code sinfo} print in the formats that are asked for here. Their {@code --json} is not
 * used: it is another one in each release (22.05, 23.02 and 23.11 differ in every field that matters here), while these
 * fields and states have been the same since 20.02. Names that people choose freely, as a job's, are never asked for, and
 * a node's reason stands last in its line. Pure.
 */
final class SlurmText {

    /** For {@code squeue -O}. */
    static final String JOB_FIELDS = "JobID:|,State:|,RestartCnt:|,BatchFlag:|,Requeue:|,NodeList:|";

    /** For {@code sinfo -N -O}. */
    static final String NODE_FIELDS = "NodeList:|,StateComplete:|,User:|,Reason:|";

    private static final Pattern NODE =
            Pattern.compile("([^|\\s]+)\\|([A-Za-z_]+[A-Za-z_+*~#$@^%!-]*)\\|([^|]*)\\|(.*)", Pattern.DOTALL);

    private static final Set<String> WAITING = Set.of(
            "PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD", "CONFIGURING");
    private static final Set<String> AT_WORK = Set.of("RUNNING", "RESIZING", "SIGNALING", "STAGE_OUT");
    private static final Set<String> STOPPED = Set.of("SUSPENDED", "STOPPED");
    private static final Set<String> OVER = Set.of(
            "COMPLETED",
            "CANCELLED",
            "FAILED",
            "TIMEOUT",
            "NODE_FAIL",
            "PREEMPTED",
            "BOOT_FAIL",
            "DEADLINE",
            "OUT_OF_MEMORY",
            "REVOKED",
            "LAUNCH_FAILED",
            "RECONFIG_FAIL");

    private SlurmText() {}

    /**
     * A line of {@code squeue}.
     *
     * @param batch whether it has a script that Slurm can start again
     * @param requeues whether it may be requeued
     */
    record JobLine(Job job, boolean batch, boolean requeues) {}

    /** @throws IllegalArgumentException with a sentence, for a line that is none of these */
    static List<JobLine> jobs(String output) {
        List<JobLine> jobs = new ArrayList<>();
        for (String line : output.split("\n", -1)) {
            if (line.isBlank()) {
                continue;
            }
            String[] fields = line.split("\\|", -1);
            if (fields.length != 7 || !fields[0].matches("[0-9]{1,10}") || !fields[2].matches("[0-9]{1,9}")) {
                throw unreadable("squeue", line);
            }
            Job job = new Job(
                    fields[0],
                    jobState(fields[1]),
                    fields[1],
                    Integer.parseInt(fields[2]),
                    HostList.expand(absent(fields[5]) ? "" : fields[5]));
            jobs.add(new JobLine(job, fields[3].equals("1"), fields[4].equals("1")));
        }
        return jobs;
    }

    /**
     * A node stands in a line for each of its partitions; all say the same. What follows a line and begins none is the rest
     * of its reason.
     *
     * @throws IllegalArgumentException with a sentence, for a line that is none of these
     */
    static List<Node> nodes(String output) {
        List<String> lines = new ArrayList<>();
        for (String line : output.split("\n", -1)) {
            if (NODE.matcher(line).matches()) {
                lines.add(line);
            } else if (!lines.isEmpty()) {
                lines.add(lines.remove(lines.size() - 1) + '\n' + line);
            } else if (!line.isBlank()) {
                throw unreadable("sinfo", line);
            }
        }
        Map<String, Node> nodes = new LinkedHashMap<>();
        for (String line : lines) {
            Node node = node(line);
            nodes.putIfAbsent(node.name(), node);
        }
        return List.copyOf(nodes.values());
    }

    private static Node node(String line) {
        Matcher fields = NODE.matcher(line);
        if (!fields.matches()) {
            throw unreadable("sinfo", line);
        }
        String reason = fields.group(4).stripTrailing();
        reason = reason.endsWith("|") ? reason.substring(0, reason.length() - 1) : reason;
        boolean unsaid = fields.group(3).equals("Unknown");
        boolean given = !reason.isEmpty() && !(unsaid && reason.equals("none"));
        return new Node(
                fields.group(1),
                nodeState(fields.group(2)),
                fields.group(2),
                given ? reason : "",
                given && !unsaid ? fields.group(3) : "");
    }

    static JobState jobState(String word) {
        if (AT_WORK.contains(word)) {
            return JobState.RUNNING;
        }
        if (WAITING.contains(word)) {
            return JobState.PENDING;
        }
        if (STOPPED.contains(word)) {
            return JobState.SUSPENDED;
        }
        if (word.equals("COMPLETING")) {
            return JobState.COMPLETING;
        }
        return OVER.contains(word) ? JobState.DONE : JobState.UNKNOWN;
    }

    /** The base state and its flags, as {@code allocated+drain} or {@code down+drain+not_responding}. */
    static NodeState nodeState(String word) {
        List<String> flags = flags(word);
        String base = flags.get(0);
        if (flags.contains("powered_down") || flags.contains("powering_down") || flags.contains("power_down")) {
            return NodeState.OFF;
        }
        if (base.equals("down") || base.equals("error")) {
            return NodeState.DOWN;
        }
        if (flags.contains("drain") || flags.contains("fail")) {
            boolean busy = base.equals("allocated") || base.equals("mixed") || flags.contains("completing");
            return busy ? NodeState.DRAINING : NodeState.DRAINED;
        }
        return base.equals("unknown") || base.equals("future") ? NodeState.UNKNOWN : NodeState.UP;
    }

    /** Whether people or we took it out of service, whatever else it is. */
    static boolean drained(Node node) {
        return flags(node.word()).contains("drain");
    }

    /** Whether its daemon has not registered yet. */
    static boolean unheard(Node node) {
        return flags(node.word()).get(0).equals("unknown");
    }

    private static List<String> flags(String word) {
        return List.of(
                word.toLowerCase(Locale.ROOT).replaceAll("[*~#$@^%!-]+$", "").split("\\+"));
    }

    private static boolean absent(String field) {
        return field.equals("(null)") || field.equals("n/a") || field.equals("N/A");
    }

    private static IllegalArgumentException unreadable(String by, String line) {
        String shown = line.length() > 120 ? line.substring(0, 120) + "..." : line;
        return new IllegalArgumentException(
                by + " printed a line that is not in the form that was asked for: " + shown);
    }
}

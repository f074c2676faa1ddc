package dev.unhang.healer.act.slurm;

import dev.unhang.healer.act.OutsideCommand;
import dev.unhang.healer.act.OutsideCommand.Answer;
import dev.unhang.healer.act.Scheduler;
import dev.unhang.healer.act.SchedulerException;
import dev.unhang.healer.act.SchedulerException.Kind;
import dev.unhang.healer.act.SchedulerView;
import dev.unhang.healer.act.SchedulerView.Job;
import dev.unhang.healer.act.SchedulerView.JobState;
import dev.unhang.healer.act.SchedulerView.Node;
import dev.unhang.healer.act.SchedulerView.NodeState;
import dev.unhang.healer.act.slurm.SlurmText.JobLine;
import dev.unhang.healer.command.Action;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Slurm by its own command line: {@code squeue}, {@code sinfo} and {@code scontrol} of the version that is installed.
 * Drains and gives back only nodes that nobody else has a hand on, and requeues only what Slurm can start again. What is
 * there is read anew right before each change; the moment between cannot be locked, so a drain is read back after. It
 * never sets a node DOWN, never cancels a job. Any thread may call.
 */
public final class SlurmScheduler implements Scheduler, AutoCloseable {

    /** Every reason of ours begins so, and then names the incident. */
    public static final String OURS = "unhang: ";

    private static final int LONGEST_REASON = 1_000;
    private static final Pattern NODE_NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,252}");
    private static final Pattern JOB = Pattern.compile("([1-9][0-9]{0,9})(\\.[A-Za-z0-9_+]{1,20})?");

    /** What Slurm's programs say when they reached nobody. */
    private static final Pattern UNREACHED = Pattern.compile(
            "(?i)unable to contact|connection refused|could not establish|unable to establish|munge encode failed|fatal:"
                    + "|in standby mode");

    /** What they say when they may have reached somebody and got no answer; every other complaint is an answer. */
    private static final Pattern UNANSWERED = Pattern.compile("(?i)timed out|zero bytes were transmitted|authentication"
            + "|communication (connection )?failure|unexpected message received");

    private final OutsideCommand outside;
    private final String user;
    private final @Nullable Path folder;

    /**
     * Starts nothing yet.
     *
     * @param user as whom Slurm sees us, by name
     */
    public SlurmScheduler(SlurmConfig config, String user) {
        this.user = user;
        this.folder = config.folder();
        this.outside = new OutsideCommand(
                "slurm", config.deadline(), SlurmScheduler::trouble, given -> environment(config, given));
    }

    @Override
    public String name() {
        return "slurm";
    }

    @Override
    public SchedulerView view() throws SchedulerException {
        List<Job> jobs = new ArrayList<>();
        for (JobLine line : jobLines(asked("squeue", "-h", "-a", "-r", "-t", "all", "-O", SlurmText.JOB_FIELDS))) {
            jobs.add(line.job());
        }
        return new SchedulerView(jobs, nodeLines(asked("sinfo", "-h", "-a", "-N", "-O", SlurmText.NODE_FIELDS)));
    }

    @Override
    public void check(Action action, Map<String, String> parameters) throws SchedulerException {
        switch (action) {
            case DRAIN -> mayDrain(node(parameters), reason(parameters));
            case UNDRAIN -> mayGiveBack(node(parameters), reason(parameters));
            case REQUEUE -> mayRequeue(job(parameters));
            default -> throw SchedulerException.refused(action.label() + " is no action of a scheduler");
        }
    }

    @Override
    public String run(Action action, Map<String, String> parameters) throws SchedulerException {
        check(action, parameters);
        return switch (action) {
            case DRAIN -> drain(node(parameters), reason(parameters));
            case UNDRAIN -> giveBack(node(parameters));
            case REQUEUE -> requeue(job(parameters));
            default -> throw SchedulerException.refused(action.label() + " is no action of a scheduler");
        };
    }

    @Override
    public void close() {
        outside.close();
    }

    // ---- drain and give back

    private void mayDrain(String name, String reason) throws SchedulerException {
        Node node = read(name);
        if (SlurmText.drained(node) && !isOurs(node, reason)) {
            throw SchedulerException.refused(told(node) + ", and what is not ours stays as it is");
        }
        if (node.state() == NodeState.DOWN || node.state() == NodeState.OFF) {
            throw SchedulerException.refused(told(node) + ", so nothing is started there anyway");
        }
    }

    private String drain(String name, String reason) throws SchedulerException {
        said("scontrol", "update", "NodeName=" + name, "State=DRAIN", "Reason=" + reason);
        Node after;
        try {
            after = read(name);
        } catch (SchedulerException e) {
            throw new SchedulerException(
                    Kind.UNKNOWN, "the drain was accepted, and could not be read back: " + e.words(), e);
        }
        if (!SlurmText.drained(after) || !isOurs(after, reason)) {
            throw new SchedulerException(
                    Kind.FAILED, "the node was drained, and somebody changed that at once: now " + told(after));
        }
        return told(after) + "; what runs there goes on";
    }

    private void mayGiveBack(String name, String reason) throws SchedulerException {
        Node node = read(name);
        if (!SlurmText.drained(node)) {
            throw SchedulerException.refused(told(node) + ", so there is nothing to give back");
        }
        if (!isOurs(node, reason)) {
            throw SchedulerException.refused(told(node) + ", and only what was drained by " + user
                    + " with the reason '" + reason + "' is given back");
        }
        if (node.state() == NodeState.DOWN || node.state() == NodeState.OFF) {
            throw SchedulerException.refused(
                    told(node) + ": to give it back would end that too, and that is a person's to do");
        }
        if (SlurmText.unheard(node)) {
            throw SchedulerException.refused(told(node)
                    + ": Slurm has not heard of it since its controller started, and gives nothing back before");
        }
    }

    private String giveBack(String name) throws SchedulerException {
        said("scontrol", "update", "NodeName=" + name, "State=RESUME");
        return "node " + name + " was given back to Slurm";
    }

    /** Word for word, and set by us. */
    private boolean isOurs(Node node, String reason) {
        return node.reason().equals(reason) && node.who().equals(user);
    }

    private Node read(String name) throws SchedulerException {
        return nodeLines(asked("sinfo", "-h", "-a", "-N", "-n", name, "-O", SlurmText.NODE_FIELDS)).stream()
                .filter(node -> node.name().equals(name))
                .findFirst()
                .orElseThrow(() -> SchedulerException.refused("Slurm has no node '" + name
                        + "' in any partition: the collector's `node` must be Slurm's name"));
    }

    private static String told(Node node) {
        StringBuilder text = new StringBuilder("node " + node.name() + " is " + node.word());
        if (!node.reason().isEmpty()) {
            text.append(" (").append(node.reason());
            text.append(node.who().isEmpty() ? "" : ", by " + node.who()).append(')');
        }
        return text.toString();
    }

    // ---- requeue

    private void mayRequeue(String id) throws SchedulerException {
        JobLine line = readJob(id);
        Job job = line.job();
        if (!line.batch()) {
            throw SchedulerException.refused(
                    "job " + id
                            + " has no batch script (salloc or srun alone), so Slurm cannot start it again: start it with sbatch");
        }
        if (!line.requeues()) {
            throw SchedulerException.refused("job " + id
                    + " may not be requeued: it was submitted with --no-requeue, or JobRequeue is 0 in slurm.conf."
                    + " `scontrol update JobId=" + id + " Requeue=1` allows it");
        }
        if (job.state() != JobState.RUNNING && job.state() != JobState.SUSPENDED) {
            throw SchedulerException.refused("job " + id + " is " + job.word()
                    + ": only one that runs is requeued, or what had ended would run again");
        }
    }

    private String requeue(String id) throws SchedulerException {
        said("scontrol", "requeue", id);
        return "job " + id + " is in the queue again: Slurm ends it, waits until its old credentials have expired"
                + " (two minutes unless AuthInfo sets cred_expire), and starts its script from the beginning";
    }

    private JobLine readJob(String id) throws SchedulerException {
        List<String> command = command("squeue", "-h", "-a", "-t", "all", "-j", id, "-O", SlurmText.JOB_FIELDS);
        Answer answer = read(command);
        List<JobLine> lines = answer.status() == 0 ? jobLines(answer.out()) : List.of();
        return lines.stream()
                .filter(line -> line.job().id().equals(id))
                .findFirst()
                .orElseThrow(() -> SchedulerException.refused("Slurm knows no job " + id
                        + (answer.status() == 0 ? "" : " (" + OutsideCommand.words(answer) + ")")));
    }

    // ---- parameters, which come from far and are checked as what they shall be

    private static String node(Map<String, String> parameters) throws SchedulerException {
        String node = parameters.getOrDefault("node", "");
        if (!NODE_NAME.matcher(node).matches()) {
            throw SchedulerException.refused("the parameter node is '" + node + "', which is no name of one node");
        }
        return node;
    }

    private static String reason(Map<String, String> parameters) throws SchedulerException {
        String reason = parameters.getOrDefault("reason", "");
        if (!reason.startsWith(OURS) || reason.length() > LONGEST_REASON) {
            throw SchedulerException.refused("the parameter reason must begin with '" + OURS
                    + "' and the incident, and have at most " + LONGEST_REASON + " characters");
        }
        if (!reason.equals(reason.strip()) || reason.chars().anyMatch(Character::isISOControl)) {
            throw SchedulerException.refused("the parameter reason must be one line without blanks at its end");
        }
        return reason;
    }

    /** Slurm's number of the job; the step is of no matter, since a job is requeued as a whole. */
    private static String job(Map<String, String> parameters) throws SchedulerException {
        String job = parameters.getOrDefault("scheduler-job", "");
        var matcher = JOB.matcher(job);
        if (!matcher.matches()) {
            throw SchedulerException.refused(
                    "the parameter scheduler-job is '" + job + "', which is no job of Slurm as 4711 or 4711.0");
        }
        return matcher.group(1);
    }

    // ---- running

    /** Asks and changes nothing: a complaint of any kind is no answer. */
    private String asked(String program, String... arguments) throws SchedulerException {
        Answer answer = read(command(program, arguments));
        if (answer.status() != 0) {
            throw new SchedulerException(Kind.FAILED, program + " says: " + OutsideCommand.words(answer));
        }
        return answer.out();
    }

    /** What only asks has changed nothing, however it ended. */
    private Answer read(List<String> command) throws SchedulerException {
        try {
            return outside.run(command);
        } catch (SchedulerException e) {
            throw e.kind() == Kind.UNKNOWN ? new SchedulerException(Kind.UNREACHABLE, e.words(), e) : e;
        }
    }

    /** Changes something. */
    private void said(String program, String... arguments) throws SchedulerException {
        Answer answer = outside.run(command(program, arguments));
        if (answer.status() != 0) {
            throw new SchedulerException(
                    Kind.FAILED, program + ' ' + arguments[0] + " was refused: " + OutsideCommand.words(answer));
        }
    }

    private List<String> command(String program, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(folder == null ? program : folder.resolve(program).toString());
        command.addAll(List.of(arguments));
        return command;
    }

    private static List<JobLine> jobLines(String output) throws SchedulerException {
        try {
            return SlurmText.jobs(output);
        } catch (IllegalArgumentException e) {
            throw new SchedulerException(Kind.FAILED, String.valueOf(e.getMessage()), e);
        }
    }

    private static List<Node> nodeLines(String output) throws SchedulerException {
        try {
            return SlurmText.nodes(output);
        } catch (IllegalArgumentException e) {
            throw new SchedulerException(Kind.FAILED, String.valueOf(e.getMessage()), e);
        }
    }

    static Optional<Kind> trouble(Answer answer) {
        if (answer.status() == 0) {
            return Optional.empty();
        }
        if (UNREACHED.matcher(answer.err()).find()) {
            return Optional.of(Kind.UNREACHABLE);
        }
        boolean none = UNANSWERED.matcher(answer.out() + answer.err()).find();
        return none ? Optional.of(Kind.UNKNOWN) : Optional.empty();
    }

    /** Variables of ours that would change what the programs print are not passed on. */
    static Map<String, String> environment(SlurmConfig config, Map<String, String> given) {
        Map<String, String> seen = new TreeMap<>(given);
        seen.keySet()
                .removeIf(name -> name.startsWith("SQUEUE_")
                        || name.startsWith("SINFO_")
                        || name.startsWith("SCONTROL_")
                        || (name.startsWith("SLURM_") && !name.equals("SLURM_CONF") && !name.equals("SLURM_JWT")));
        seen.put("LC_ALL", "C.UTF-8");
        Path file = config.configFile();
        if (file != null) {
            seen.put("SLURM_CONF", file.toString());
        }
        return seen;
    }
}

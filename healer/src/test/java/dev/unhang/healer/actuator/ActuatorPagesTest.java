package dev.unhang.healer.actuator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.healer.actuator.protocol.Refusal;
import dev.unhang.healer.command.Action;
import dev.unhang.settings.BadSettingsException;
import dev.unhang.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The reference pages are printed from the code; run with {@code -Dunhang.docs=write} to print them anew. */
class ActuatorPagesTest {

    private static final Path FOLDER = Path.of("..", "docs", "reference");
    private static final String AGAIN = "`mvn -pl healer -am test -Dtest=ActuatorPagesTest -Dunhang.docs=write"
            + " -Dsurefire.failIfNoSpecifiedTests=false`";

    @Test
    void thePageOfSettingsIsTheCodes() throws IOException, BadSettingsException {
        Settings settings = Settings.none(Map.of("UNHANG_KAFKA_BOOTSTRAP_SERVERS", "kafka:9092"));
        ActuatorConfig.read(settings, "the-host-name");
        StringBuilder page = new StringBuilder("# Settings of the actuator\n\n")
                .append("One YAML file, kebab-case keys; `a.b-c` is the key `b-c` under `a`. Durations are written")
                .append(" `250ms`, `15s`, `10m`, `2h`; sizes `512KiB`, `64MiB`.\n")
                .append(
                        "The environment variable `UNHANG_A_B_C` overrides `a.b-c`. `unhang actuator --config F --check`")
                .append(" tells all mistakes of a file at once, with their lines, those of key files too.\n\n")
                .append("This page is printed from the code (`ActuatorConfig`); change it there and run\n")
                .append(AGAIN)
                .append(".\n\n| key | value | default | meaning |\n|---|---|---|---|\n");
        for (Settings.Key key : settings.keys()) {
            page.append("| `")
                    .append(key.name())
                    .append("` | ")
                    .append(key.type())
                    .append(" | ");
            page.append(key.fallback().isEmpty() ? "" : "`" + key.fallback() + "`");
            page.append(" | ").append(key.meaning()).append(" |\n");
        }
        compare("actuator-settings.md", page.toString());
    }

    @Test
    void thePageOfActionsIsTheCodes() throws IOException {
        StringBuilder page = new StringBuilder("# Actions\n\n")
                .append("All that a healer can have done. A node does only what `actions` of its actuator's settings")
                .append(" names; `drain`, `undrain` and `requeue` are done beside the healer.\n")
                .append("A process is written `BOOT:PID:START`: boot id in 32 hex digits, pid, start in clock ticks")
                .append(" since boot; several with commas.\n\n")
                .append("This page is printed from the code (`Action`, `ActuatorPagesTest`); change it there and run\n")
                .append(AGAIN)
                .append(".\n\n| action | counts | parameters | what it does | what it needs | refuses |\n")
                .append("|---|---|---|---|---|---|\n");
        for (Action action : Action.values()) {
            Told told = told(action);
            page.append("| `")
                    .append(action.label())
                    .append("` | ")
                    .append(
                            action.harm() == Action.Harm.NONE
                                    ? "nothing"
                                    : action.harm() == Action.Harm.JOB ? "jobs" : "nodes")
                    .append(" | ")
                    .append(action.parameters().stream()
                            .map(name -> "`" + name + "`")
                            .collect(Collectors.joining(", ")))
                    .append(" | ")
                    .append(told.does())
                    .append(" | ")
                    .append(told.needs())
                    .append(" | ")
                    .append(told.refuses())
                    .append(" |\n");
        }
        page.append("\n## Refusals\n\n")
                .append("A refusal begins with its name, in the result and in the actuator's log.\n\n")
                .append("| name | meaning |\n|---|---|\n");
        for (Refusal refusal : Refusal.values()) {
            page.append("| `")
                    .append(refusal.label())
                    .append("` | ")
                    .append(refusal.sentence())
                    .append(" |\n");
        }
        compare("actions.md", page.toString());
    }

    private record Told(String does, String needs, String refuses) {}

    private static Told told(Action action) {
        return switch (action) {
            case LOOK ->
                new Told(
                        "reads state, wait channel, system call, kernel stack, threads, devices and py-spy's stacks of each"
                                + " process, as `ProbeResult`s",
                        "root, for other users' processes; py-spy where wanted",
                        "a process that is not the one named");
            case COLLECT_EVIDENCE ->
                new Told(
                        "keeps the same, NCCL's flight recorder dumps and RAS state, the kernel's lines on devices and, with"
                                + " `bug-report` true, the driver's bug report, below `state-folder`",
                        "root; what is not there is listed and harms nothing",
                        "a disk with less room than `evidence.most-bytes`");
            case RESTART_RANKS ->
                new Told(
                        "SIGTERM to each process, `terminate-wait`, SIGKILL; one in state T is killed at once. The launcher"
                                + " starts the ranks again in place",
                        "root; a launcher that restarts, as torchrun with `--max-restarts`",
                        "when any process has ended or is another one now, is of another job, is of one that torchrun would not start again (`--max-restarts`), or has `UNHANG=observe` or"
                                + " `off`: then nothing is signalled");
            case RELAUNCH_UNIT ->
                new Told(
                        "`systemctl restart`, then looks whether the unit is active",
                        "root, systemd, the unit under `units`",
                        "a unit that is not under `units` or that systemd does not know");
            case KILL_LEAKED ->
                new Told(
                        "ends each process as `restart-ranks` does",
                        "root; the driver's `/proc/driver/nvidia/gpus`",
                        "a process that does not hold the GPU's device file, or that is a living rank: its environment names"
                                + " a rank, and it is not the orphan of a launcher");
            case RESTART_PERSISTENCED ->
                new Told(
                        "restarts nvidia-persistenced, then looks for up to 30 s whether persistence mode is on at every GPU",
                        "root, systemd, nvidia-smi",
                        "a node without the unit");
            case RESET_GPU ->
                new Told(
                        "resets one GPU that nobody uses ([how](repairs.md))",
                        "root, nvidia-smi",
                        "a GPU in use, lost or MIG");
            case BOUNCE_NIC ->
                new Told(
                        "takes a port down and up, and puts back what the kernel forgets with that ([how](repairs.md))",
                        "root, iproute2",
                        "a port that carries Kafka, SSH, a default route or a network file system");
            case STEP_CLOCK ->
                new Told(
                        "`chronyc -a makestep`, then looks for up to 10 s whether less than 10 ms are left to correct",
                        "root, or a user that chronyd's socket obeys; chrony",
                        "a chronyd that does not answer or follows no source");
            case DRAIN ->
                new Told(
                        "tells the scheduler to start nothing more on a node",
                        "a scheduler",
                        "a node that is drained already");
            case UNDRAIN ->
                new Told("gives back a node", "a scheduler", "a node that is not drained with exactly this reason");
            case REQUEUE ->
                new Told(
                        "has the scheduler end a job and start it again",
                        "a scheduler",
                        "a job that the scheduler cannot start again");
        };
    }

    private static void compare(String name, String page) throws IOException {
        Path file = FOLDER.resolve(name);
        if ("write".equals(System.getProperty("unhang.docs"))) {
            Files.createDirectories(FOLDER);
            Files.writeString(file, page);
        }
        assertThat(file).as("run with -Dunhang.docs=write").hasContent(page);
    }
}

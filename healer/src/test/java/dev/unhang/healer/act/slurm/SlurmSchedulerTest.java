package dev.unhang.healer.act.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.unhang.healer.act.OutsideCommand.Answer;
import dev.unhang.healer.act.SchedulerException;
import dev.unhang.healer.act.SchedulerException.Kind;
import dev.unhang.healer.command.Action;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The rules of each action, against programs that print what Slurm's would and note what they were asked. */
class SlurmSchedulerTest {

    private static final String OURS = "unhang: job-hang-1a2b3c4d rank 3 of job 7 stands still";

    @TempDir
    Path folder;

    private SlurmScheduler slurm = new SlurmScheduler(config(Path.of("/none"), 5), "root");

    @BeforeEach
    void programs() throws IOException {
        slurm = new SlurmScheduler(config(folder, 5), "root");
        sinfo("node-1|idle|Unknown|none|");
        squeue("7|RUNNING|0|1|1|node-[1-2]|");
        program("scontrol", "printf '%s\\n' \"$*\" >>" + folder.resolve("asked"));
    }

    @AfterEach
    void close() {
        slurm.close();
    }

    @Test
    void jobsAndNodesAreTold() throws Exception {
        assertThat(slurm.view().jobs()).hasSize(1);
        assertThat(slurm.view().nodes()).hasSize(1);
    }

    @Test
    void aNodeIsDrainedWithTheReasonAsItIs() throws Exception {
        // From its first change on the node is as Slurm would tell it.
        program(
                "sinfo",
                "if [ -e %s ]; then echo 'node-1|allocated+drain|root|%s|'; else echo 'node-1|allocated|Unknown|none|'; fi"
                        .formatted(folder.resolve("asked"), OURS));
        assertThat(slurm.run(Action.DRAIN, drain(OURS)))
                .contains("node-1 is allocated+drain")
                .contains(OURS);
        assertThat(asked()).containsExactly("update NodeName=node-1 State=DRAIN Reason=" + OURS);
    }

    @Test
    void aDrainThatSomebodyElseReplacedAtOnceHasFailed() throws Exception {
        program(
                "sinfo",
                "if [ -e %s ]; then echo 'node-1|idle+drain|ann|fan|'; else echo 'node-1|idle|Unknown|none|'; fi"
                        .formatted(folder.resolve("asked")));
        SchedulerException e = refusal(Action.DRAIN, drain(OURS));
        assertThat(e.kind()).isEqualTo(Kind.FAILED);
        assertThat(e).hasMessageContaining("fan, by ann");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "node-1|idle+drain|ann|fan is broken|",
                "node-1|allocated+drain|ann|" + OURS + "|",
                "node-1|idle+drain|root|unhang: job-hang-99999999 another|",
                "node-1|down|ann|board|",
                "node-1|down+not_responding|slurm|Not responding|",
                "node-1|down+drain|root|" + OURS + "|",
                "node-1|idle+powered_down|Unknown|none|"
            })
    void whatSomebodyElseDrainedOrSetDownIsLeftAsItIs(String line) throws Exception {
        sinfo(line);
        SchedulerException e = refusal(Action.DRAIN, drain(OURS));
        assertThat(e.kind()).isEqualTo(Kind.REFUSED);
        assertThat(e).hasMessageStartingWith("node node-1 is ");
        assertThat(asked()).isEmpty();
    }

    @Test
    void aDrainOfOursMayBeSaidAgain() throws Exception {
        sinfo("node-1|idle+drain|root|" + OURS + "|");
        slurm.run(Action.DRAIN, drain(OURS));
        assertThat(asked()).hasSize(1);
    }

    @Test
    void whatWeDrainedIsGivenBack() throws Exception {
        sinfo("node-1|idle+drain|root|" + OURS + "|");
        slurm.run(Action.UNDRAIN, drain(OURS));
        assertThat(asked()).containsExactly("update NodeName=node-1 State=RESUME");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "node-1|idle+drain|root|" + OURS + ".|; is given back",
                "node-1|idle+drain|root|" + OURS + " |; is given back",
                "node-1|idle+drain|ann|" + OURS + "|; is given back",
                "node-1|idle+drain|ann|fan is broken|; is given back",
                "node-1|idle|Unknown|none|; nothing to give back",
                "node-1|down|slurm|Not responding|; nothing to give back",
                "node-1|down+drain|root|" + OURS + "|; a person's",
                "node-1|unknown+drain|root|" + OURS + "|; has not heard of it"
            })
    void nothingElseIsGivenBack(String line, String why) throws Exception {
        sinfo(line);
        SchedulerException e = refusal(Action.UNDRAIN, drain(OURS));
        assertThat(e.kind()).isEqualTo(Kind.REFUSED);
        assertThat(e).hasMessageContaining(why);
        assertThat(asked()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"7", "7.0", "7.batch"})
    void aJobIsRequeuedByItsNumber(String job) throws Exception {
        slurm.run(Action.REQUEUE, Map.of("job", "train", "scheduler-job", job));
        assertThat(asked()).containsExactly("requeue 7");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "7|RUNNING|0|1|0|node-1|; --no-requeue",
                "7|RUNNING|0|0|1|node-1|; no batch script",
                "7|PENDING|1|1|1||; only one that runs",
                "7|COMPLETED|0|1|1|node-1|; only one that runs",
                "7|COMPLETING|0|1|1|node-1|; only one that runs",
                "77|RUNNING|0|1|1|node-1|; knows no job 7"
            })
    void whatSlurmCannotStartAgainIsNotRequeued(String line, String why) throws Exception {
        squeue(line);
        SchedulerException e = refusal(Action.REQUEUE, Map.of("scheduler-job", "7"));
        assertThat(e.kind()).isEqualTo(Kind.REFUSED);
        assertThat(e).hasMessageContaining(why);
        assertThat(asked()).isEmpty();
    }

    @Test
    void aJobThatSlurmDoesNotKnowIsTold() throws Exception {
        program("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1");
        SchedulerException e = refusal(Action.REQUEUE, Map.of("scheduler-job", "7"));
        assertThat(e.kind()).isEqualTo(Kind.REFUSED);
        assertThat(e).hasMessageContaining("knows no job 7").hasMessageContaining("Invalid job id");
    }

    @Test
    void slurmsOwnNoIsToldAsItIs() throws Exception {
        program("scontrol", "echo 'Requested operation is presently disabled for job 7' >&2; exit 1");
        SchedulerException e = refusal(Action.REQUEUE, Map.of("scheduler-job", "7"));
        assertThat(e.kind()).isEqualTo(Kind.FAILED);
        assertThat(e).hasMessageContaining("Requested operation is presently disabled for job 7");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "node-1 State=DOWN; unhang: x; node",
                "node-[1-9]; unhang: x; node",
                "-h; unhang: x; node",
                "ALL,node-1; unhang: x; node",
                "''; unhang: x; node",
                "node-1; fan is broken; reason",
                "node-1; ''; reason"
            })
    void aParameterThatIsNotWhatItShallBeReachesNoProgram(String node, String reason, String which) {
        SchedulerException e = refusal(Action.DRAIN, Map.of("node", node, "reason", reason));
        assertThat(e.kind()).isEqualTo(Kind.REFUSED);
        assertThat(e).hasMessageContaining("the parameter " + which);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "7,8", "7 8", "all", "-7", "7_1", "Incomplete"})
    void onlyOneJobByItsNumberIsRequeued(String job) {
        assertThat(refusal(Action.REQUEUE, Map.of("scheduler-job", job)))
                .hasMessageContaining("the parameter scheduler-job");
    }

    @Test
    void anActionOfANodeIsNone() {
        assertThat(refusal(Action.RESET_GPU, Map.of())).hasMessageContaining("reset-gpu");
    }

    @Test
    void aNodeThatSlurmDoesNotHaveIsTold() throws Exception {
        sinfo("");
        assertThat(refusal(Action.DRAIN, drain(OURS))).hasMessageContaining("Slurm has no node 'node-1'");
    }

    @Test
    void aProgramThatIsMissingIsTold() throws Exception {
        Files.delete(folder.resolve("sinfo"));
        SchedulerException e = refusal(Action.DRAIN, drain(OURS));
        assertThat(e.kind()).isEqualTo(Kind.UNREACHABLE);
        assertThat(e).hasMessageContaining("sinfo does not start");
    }

    @Test
    void aProgramThatHangsIsKilledAndTheEndIsNotKnown() throws Exception {
        slurm = new SlurmScheduler(config(folder, 1), "root");
        program("scontrol", "echo $$ >%s; exec sleep 60".formatted(folder.resolve("pid")));
        SchedulerException e = refusal(Action.REQUEUE, Map.of("scheduler-job", "7"));
        assertThat(e.kind()).isEqualTo(Kind.UNKNOWN);
        assertThat(e).hasMessageContaining("did not end within 1 s");
        long pid = Long.parseLong(Files.readString(folder.resolve("pid")).strip());
        ProcessHandle.of(pid).ifPresent(left -> left.onExit().join());
    }

    @Test
    void afterThreeCallsWithoutAnAnswerSlurmIsLeftAlone() throws Exception {
        program(
                "squeue",
                "echo x >>%s; echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1"
                        .formatted(folder.resolve("calls")));
        for (int i = 0; i < 3; i++) {
            assertThat(catchThrowableOfType(SchedulerException.class, slurm::view))
                    .hasMessageContaining("slurm does not answer: ")
                    .hasMessageContaining("Unable to contact slurm controller");
        }
        assertThat(catchThrowableOfType(SchedulerException.class, slurm::view)).hasMessageContaining("left alone");
        assertThat(Files.readAllLines(folder.resolve("calls"))).hasSize(3);
    }

    @Test
    void anAnswerThatIsNoOpensNothing() throws Exception {
        program("scontrol", "echo 'Invalid node name specified' >&2; exit 1");
        for (int i = 0; i < 10; i++) {
            assertThat(refusal(Action.DRAIN, drain(OURS))).hasMessageContaining("Invalid node name");
        }
        assertThat(slurm.view().jobs()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "1; slurm_update error: Unable to contact slurm controller (connect failure); UNREACHABLE",
                "1; sinfo: fatal: Could not establish a configuration source; UNREACHABLE",
                "1; scontrol: error: Munge encode failed: Failed to access socket; UNREACHABLE",
                "1; slurm_update error: Socket timed out on send/recv operation; UNKNOWN",
                "1; Unexpected message received for job 1; UNKNOWN",
                "1; slurm_update error: Zero Bytes were transmitted or received; UNKNOWN",
                "1; slurm_update error: Invalid node name specified; ",
                "0; Unable to contact slurm controller; ",
            })
    void whetherSomebodyWasAsked(int status, String complaint, Kind kind) {
        assertThat(SlurmScheduler.trouble(new Answer(status, "", complaint)).orElse(null))
                .isEqualTo(kind);
    }

    @Test
    void variablesThatChangeWhatIsPrintedAreNotPassedOn() {
        Map<String, String> given = Map.of(
                "PATH",
                "/bin",
                "SQUEUE_STATES",
                "PD",
                "SINFO_FORMAT",
                "%n",
                "SLURM_CLUSTERS",
                "other",
                "SLURM_CONF",
                "/a");
        assertThat(SlurmScheduler.environment(config(null, 5), given))
                .isEqualTo(Map.of("PATH", "/bin", "SLURM_CONF", "/a", "LC_ALL", "C.UTF-8"));
        assertThat(SlurmScheduler.environment(new SlurmConfig(true, null, Path.of("/b"), Duration.ofSeconds(5)), given))
                .containsEntry("SLURM_CONF", "/b");
    }

    private SchedulerException refusal(Action action, Map<String, String> parameters) {
        return catchThrowableOfType(SchedulerException.class, () -> slurm.run(action, parameters));
    }

    private static Map<String, String> drain(String reason) {
        return Map.of("node", "node-1", "reason", reason);
    }

    private static SlurmConfig config(@org.jspecify.annotations.Nullable Path folder, int seconds) {
        return new SlurmConfig(true, folder, null, Duration.ofSeconds(seconds));
    }

    private List<String> asked() throws IOException {
        Path asked = folder.resolve("asked");
        return Files.exists(asked) ? Files.readAllLines(asked) : List.of();
    }

    private void sinfo(String line) throws IOException {
        program("sinfo", "echo '" + line + "'");
    }

    private void squeue(String line) throws IOException {
        program("squeue", "echo '" + line + "'");
    }

    private void program(String name, String script) throws IOException {
        Path file = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}

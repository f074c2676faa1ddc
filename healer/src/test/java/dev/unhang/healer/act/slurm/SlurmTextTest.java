package dev.unhang.healer.act.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.unhang.healer.act.SchedulerView.Job;
import dev.unhang.healer.act.SchedulerView.JobState;
import dev.unhang.healer.act.SchedulerView.Node;
import dev.unhang.healer.act.SchedulerView.NodeState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The lines are those of Slurm 22.05. */
class SlurmTextTest {

    @Test
    void jobsAreRead() {
        assertThat(SlurmText.jobs("""
                        1|RUNNING|0|1|1|node-[1-2]|
                        2|PENDING|3|1|0||
                        """))
                .containsExactly(
                        new SlurmText.JobLine(
                                new Job("1", JobState.RUNNING, "RUNNING", 0, java.util.List.of("node-1", "node-2")),
                                true,
                                true),
                        new SlurmText.JobLine(
                                new Job("2", JobState.PENDING, "PENDING", 3, java.util.List.of()), true, false));
    }

    @Test
    void noJobsAreNoLines() {
        assertThat(SlurmText.jobs("")).isEmpty();
        assertThat(SlurmText.jobs("\n")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"JOBID PARTITION NAME", "1|RUNNING|0|1|1|", "x|RUNNING|0|1|1|node-1|", "1|RUNNING|0|1|1|node-[|"
            })
    void aLineOfAnotherFormIsTold(String line) {
        assertThatIllegalArgumentException().isThrownBy(() -> SlurmText.jobs(line));
    }

    @Test
    void nodesAreReadOnceThoughTheyAreInSeveralPartitions() {
        assertThat(SlurmText.nodes("""
                        node-1|allocated+drain|root|unhang: job-hang-1 rank 3 [x@y] = a  b|c|
                        node-2|mixed|Unknown|none|
                        node-1|allocated+drain|root|unhang: job-hang-1 rank 3 [x@y] = a  b|c|
                        """))
                .containsExactly(
                        new Node(
                                "node-1",
                                NodeState.DRAINING,
                                "allocated+drain",
                                "unhang: job-hang-1 rank 3 [x@y] = a  b|c",
                                "root"),
                        new Node("node-2", NodeState.UP, "mixed", "", ""));
    }

    @Test
    void aReasonOfSeveralLinesIsOneReason() {
        assertThat(SlurmText.nodes("""
                        node-1|idle+drain|ann|two|
                        lines|x|
                        node-2|idle|Unknown|none|
                        """))
                .extracting(Node::name, Node::reason)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("node-1", "two|\nlines|x"),
                        org.assertj.core.groups.Tuple.tuple("node-2", ""));
    }

    @Test
    void aPersonsReasonNoneIsAReason() {
        assertThat(SlurmText.nodes("node-1|idle+drain|ann|none|").get(0).reason())
                .isEqualTo("none");
    }

    @Test
    void aTableInsteadOfLinesIsTold() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SlurmText.nodes("PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"))
                .withMessageContaining("sinfo printed a line that is not in the form that was asked for");
    }

    @ParameterizedTest
    @CsvSource({
        "idle, UP",
        "mixed, UP",
        "allocated+completing, UP",
        "idle+planned, UP",
        "idle+not_responding, UP",
        "allocated+drain, DRAINING",
        "mixed+drain, DRAINING",
        "idle+completing+drain, DRAINING",
        "idle+drain, DRAINED",
        "idle+drain+not_responding, DRAINED",
        "idle+fail, DRAINED",
        "down, DOWN",
        "down*, DOWN",
        "down+drain, DOWN",
        "down+drain+not_responding, DOWN",
        "idle+powered_down, OFF",
        "down+powering_down, OFF",
        "unknown, UNKNOWN",
        "future, UNKNOWN"
    })
    void statesOfNodesAreRead(String word, NodeState state) {
        assertThat(SlurmText.nodeState(word)).isEqualTo(state);
    }

    @ParameterizedTest
    @CsvSource({
        "RUNNING, RUNNING",
        "PENDING, PENDING",
        "CONFIGURING, PENDING",
        "REQUEUE_HOLD, PENDING",
        "SPECIAL_EXIT, PENDING",
        "SUSPENDED, SUSPENDED",
        "COMPLETING, COMPLETING",
        "COMPLETED, DONE",
        "CANCELLED, DONE",
        "NODE_FAIL, DONE",
        "OUT_OF_MEMORY, DONE",
        "SOMETHING_NEW, UNKNOWN"
    })
    void statesOfJobsAreRead(String word, JobState state) {
        assertThat(SlurmText.jobState(word)).isEqualTo(state);
    }

    @ParameterizedTest
    @CsvSource({"idle+drain, true", "down+drain+not_responding, true", "down, false", "idle, false"})
    void aDrainIsSeenUnderWhateverElseANodeIs(String word, boolean drained) {
        Node node = new Node("node-1", SlurmText.nodeState(word), word, "", "");
        assertThat(SlurmText.drained(node)).isEqualTo(drained);
    }
}

package dev.unhang.healer.act;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.SchedulerFact;
import dev.unhang.healer.act.SchedulerView.Job;
import dev.unhang.healer.act.SchedulerView.JobState;
import dev.unhang.healer.act.SchedulerView.Node;
import dev.unhang.healer.act.SchedulerView.NodeState;
import java.util.List;
import org.junit.jupiter.api.Test;

class FactBookTest {

    private static final Job RUNNING = job(JobState.RUNNING, "RUNNING", 0, "node-1", "node-2");
    private static final Node UP = new Node("node-1", NodeState.UP, "idle", "", "");
    private static final Node DRAINED = new Node("node-1", NodeState.DRAINED, "idle+drain", "fan", "ann");

    private final FactBook book = new FactBook("slurm");

    @Test
    void allIsToldAtFirstAndThenOnlyWhatChanged() {
        assertThat(view(0, List.of(RUNNING), UP)).hasSize(2);
        assertThat(view(10, List.of(RUNNING), UP)).isEmpty();
        assertThat(view(20, List.of(RUNNING), DRAINED))
                .containsExactly(SchedulerFact.newBuilder()
                        .setScheduler("slurm")
                        .setNode("node-1")
                        .setNodeState("DRAINED")
                        .setReason("fan")
                        .setWho("ann")
                        .build());
    }

    @Test
    void afterAMinuteAllIsToldAgain() {
        view(0, List.of(RUNNING), UP);
        assertThat(view(59, List.of(RUNNING), UP)).isEmpty();
        assertThat(view(60, List.of(RUNNING), UP)).hasSize(2);
        assertThat(view(61, List.of(RUNNING), UP)).isEmpty();
    }

    @Test
    void aJobThatWaitsForItsFirstStartIsNotToldOf() {
        assertThat(view(0, List.of(job(JobState.PENDING, "PENDING", 0)))).isEmpty();
        assertThat(view(1, List.of(job(JobState.PENDING, "PENDING", 1))))
                .extracting(SchedulerFact::getJobState)
                .containsExactly("PENDING");
    }

    @Test
    void aRequeuedJobIsToldOfUntilItRunsAgain() {
        view(0, List.of(RUNNING));
        assertThat(view(1, List.of(job(JobState.PENDING, "PENDING", 0))))
                .extracting(SchedulerFact::getJobState)
                .containsExactly("PENDING");
        assertThat(view(2, List.of(job(JobState.RUNNING, "RUNNING", 1, "node-3"))))
                .extracting(fact -> fact.getNodes(0))
                .containsExactly("node-3");
    }

    @Test
    void anEndIsToldOnceWithSlurmsOwnWord() {
        Job ended = job(JobState.DONE, "TIMEOUT", 0, "node-1");
        view(0, List.of(RUNNING));
        assertThat(view(1, List.of(ended)))
                .extracting(SchedulerFact::getJobState, SchedulerFact::getReason)
                .containsExactly(org.assertj.core.groups.Tuple.tuple("DONE", "TIMEOUT"));
        assertThat(view(70, List.of(ended))).isEmpty();
        assertThat(view(80, List.of())).isEmpty();
    }

    @Test
    void aJobThatIsNotListedAnyMoreHasEnded() {
        view(0, List.of(RUNNING));
        assertThat(view(1, List.of()))
                .extracting(SchedulerFact::getJob, SchedulerFact::getJobState)
                .containsExactly(org.assertj.core.groups.Tuple.tuple("7", "DONE"));
        assertThat(view(2, List.of())).isEmpty();
    }

    @Test
    void whoTakesOverHearsOfJobsThatEndedMeanwhile() {
        assertThat(view(0, List.of(job(JobState.DONE, "COMPLETED", 0, "node-1"))))
                .hasSize(1);
    }

    @Test
    void silenceIsToldOnceAndEndsNoJob() {
        view(0, List.of(RUNNING), UP);
        assertThat(book.onSilence("slurm does not answer"))
                .containsExactly(SchedulerFact.newBuilder()
                        .setScheduler("slurm")
                        .setJobState("UNKNOWN")
                        .setNodeState("UNKNOWN")
                        .setReason("slurm does not answer")
                        .build());
        assertThat(book.onSilence("slurm does not answer")).isEmpty();
        assertThat(view(20, List.of(RUNNING), UP)).as("all again").hasSize(2);
        assertThat(book.onSilence("again")).hasSize(1);
    }

    @Test
    void aJobThatEndedDuringASilenceIsToldOfAfterIt() {
        view(0, List.of(RUNNING));
        book.onSilence("slurm does not answer");
        assertThat(view(20, List.of())).extracting(SchedulerFact::getJobState).containsExactly("DONE");
    }

    private List<SchedulerFact> view(long second, List<Job> jobs, Node... nodes) {
        return book.onView(new SchedulerView(jobs, List.of(nodes)), second * 1_000_000_000L);
    }

    private static Job job(JobState state, String word, int restarts, String... nodes) {
        return new Job("7", state, word, restarts, List.of(nodes));
    }
}

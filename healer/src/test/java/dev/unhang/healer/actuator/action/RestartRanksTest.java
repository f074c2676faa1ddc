package dev.unhang.healer.actuator.action;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.Offer;
import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.RealPrograms;
import dev.unhang.healer.command.ProcessName;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RestartRanksTest {

    private static final String RANK = "echo; while true; do sleep 0.05; done";

    private final Children children = new Children();
    private final RealPrograms programs = new RealPrograms(System::nanoTime);

    @AfterEach
    void end() {
        children.close();
    }

    private static Offer offer(String job, ProcessName... processes) {
        return Offer.newBuilder()
                .setCommandId("c-1")
                .setAction("restart-ranks")
                .putParameters("processes", ProcessName.join(List.of(processes)))
                .putParameters("job", job)
                .build();
    }

    private End run(Duration patience, Offer offer) {
        return new RestartRanks(Children.NODE, programs, patience)
                .run(offer, programs.nanos() + Duration.ofSeconds(30).toNanos(), () -> false);
    }

    @Test
    void aProcessInStateTIsKilledAtOnce() throws Exception {
        Process rank = children.start(Map.of(), RANK);
        Children.stop(rank);

        long begun = programs.nanos();
        End end = run(Duration.ofMinutes(1), offer("train", Children.name(rank)));

        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_DONE);
        assertThat(end.detail()).contains("stood in state T and was killed");
        assertThat(rank.waitFor(5, TimeUnit.SECONDS)).isTrue();
        assertThat(rank.exitValue()).isEqualTo(128 + 9);
        assertThat(Duration.ofNanos(programs.nanos() - begun)).isLessThan(Duration.ofSeconds(30));
    }

    @Test
    void aProcessThatListensEndsByItself() throws Exception {
        Process rank = children.start(Map.of(), RANK);
        End end = run(Duration.ofMinutes(1), offer("train", Children.name(rank)));
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_DONE);
        assertThat(end.detail()).endsWith("was told to end");
        assertThat(rank.waitFor(5, TimeUnit.SECONDS)).isTrue();
        assertThat(rank.exitValue()).isEqualTo(128 + 15);
    }

    @Test
    void aProcessThatDoesNotListenIsKilledAfterTheWait() throws Exception {
        Process rank = children.start(Map.of(), "trap '' TERM; " + RANK);
        End end = run(Duration.ofMillis(300), offer("train", Children.name(rank)));
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_DONE);
        assertThat(end.detail()).contains("did not end within").endsWith("was killed");
        assertThat(rank.waitFor(5, TimeUnit.SECONDS)).isTrue();
        assertThat(rank.exitValue()).isEqualTo(128 + 9);
    }

    @Test
    void ofAnotherStartTimeNothingIsSignalledNotEvenTheOthers() throws Exception {
        Process well = children.start(Map.of(), RANK);
        Process reused = children.start(Map.of(), RANK);
        ProcessName name = Children.name(reused);
        ProcessName earlier = new ProcessName(name.bootId(), name.pid(), name.startTicks() - 1);

        End end = run(Duration.ZERO, offer("train", Children.name(well), earlier));

        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_REFUSED);
        assertThat(end.detail()).contains("pid " + name.pid() + " is another process now", "nothing was signalled");
        assertThat(well.isAlive()).isTrue();
        assertThat(reused.isAlive()).isTrue();
    }

    @Test
    void ofAnotherBootNothingIsSignalled() throws Exception {
        Process rank = children.start(Map.of(), RANK);
        ProcessName name = Children.name(rank);
        End end = run(Duration.ZERO, offer("train", new ProcessName("0".repeat(32), name.pid(), name.startTicks())));
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_REFUSED);
        assertThat(end.detail()).contains("earlier boot");
        assertThat(rank.isAlive()).isTrue();
    }

    @Test
    void aProcessThatHasEndedIsARefusal() throws Exception {
        Process rank = children.start(Map.of(), RANK);
        ProcessName name = Children.name(rank);
        rank.destroyForcibly().waitFor();
        assertThat(run(Duration.ZERO, offer("train", name)).detail()).contains("has ended");
    }

    @Test
    void neitherTheFirstProcessOfTheNodeNorWeOurselvesAreSignalled() throws IOException {
        ProcessName first = new ProcessName(
                Children.NODE.bootId(), 1, Children.NODE.stat(1).orElseThrow().startTicks());
        assertThat(run(Duration.ZERO, offer("train", first)).how()).isEqualTo(ActionEnd.ACTION_REFUSED);
        int own = (int) ProcessHandle.current().pid();
        ProcessName self = new ProcessName(
                Children.NODE.bootId(),
                own,
                Children.NODE.stat(own).orElseThrow().startTicks());
        assertThat(run(Duration.ZERO, offer("train", self)).how()).isEqualTo(ActionEnd.ACTION_REFUSED);
    }

    @Test
    void aJobThatWantsNoRepairHasNone() throws Exception {
        Process rank = children.start(Map.of("UNHANG", "observe"), RANK);
        End end = run(Duration.ZERO, offer("train", Children.name(rank)));
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_REFUSED);
        assertThat(end.detail()).contains("UNHANG=observe");
        assertThat(rank.isAlive()).isTrue();
    }

    @Test
    void aRankOfAnotherJobOfSlurmIsARefusal() {
        Map<String, String> environ = Map.of("SLURM_JOB_ID", "42");
        assertThat(RestartRanks.doubt(environ, "43.0")).isPresent();
        assertThat(RestartRanks.doubt(environ, "42.0")).isEmpty();
        assertThat(RestartRanks.doubt(environ, "42")).isEmpty();
        assertThat(RestartRanks.doubt(environ, "named-by-heartbeats")).isEmpty();
    }

    @Test
    void aJobThatTorchrunWouldNotStartAgainIsARefusal() {
        assertThat(RestartRanks.doubt(restarts("0", "0"), "")).get().asString().contains("--max-restarts");
        assertThat(RestartRanks.doubt(restarts("3", "3"), "")).isPresent();
        assertThat(RestartRanks.doubt(restarts("2", "3"), "")).isEmpty();
        assertThat(RestartRanks.doubt(Map.of(), "")).isEmpty();
    }

    private static Map<String, String> restarts(String count, String most) {
        return Map.of("TORCHELASTIC_RESTART_COUNT", count, "TORCHELASTIC_MAX_RESTARTS", most);
    }

    @Test
    void aRankOfAnotherMasterIsARefusal() {
        Map<String, String> environ = Map.of("MASTER_ADDR", "10.0.0.1", "MASTER_PORT", "29500");
        assertThat(RestartRanks.doubt(environ, "10.0.0.2:29500")).isPresent();
        assertThat(RestartRanks.doubt(environ, "10.0.0.1:29500")).isEmpty();
    }

    @Test
    void whatIsNoProcessIsARefusalThatShowsTheForm() {
        Offer offer = Offer.newBuilder().putParameters("processes", "4711").build();
        assertThat(run(Duration.ZERO, offer).detail()).contains("BOOT:PID:START");
    }
}

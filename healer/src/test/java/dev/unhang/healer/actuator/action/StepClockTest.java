package dev.unhang.healer.actuator.action;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.Offer;
import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.RealPrograms;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** chronyc as a script, with the words and exit codes of chrony 4.3. */
class StepClockTest {

    private static final String NEVER = "00000000,,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Not synchronised";

    @TempDir
    Path folder;

    private final RealPrograms programs = new RealPrograms(System::nanoTime);

    private End run(String body) throws IOException {
        String chronyc = new Scripts(folder).write("chronyc", body);
        return new StepClock(programs, chronyc)
                .run(
                        Offer.getDefaultInstance(),
                        programs.nanos() + Duration.ofSeconds(3).toNanos(),
                        () -> false);
    }

    private static String tracking(String offset) {
        return "C0A80101,10.0.0.1,3,1733029561.1," + offset + ",0.0,0.00001,-5.1,0.0,0.02,0.001,0.002,64.2,Normal";
    }

    @Test
    void aClockThatIsRightAfterTheStepIsDone() throws IOException {
        End end = run("[ \"$2\" = makestep ] && { echo '200 OK'; touch $calls.step; exit 0; }\n"
                + "if [ -e $calls.step ]; then echo " + tracking("0.000012345") + "; else echo "
                + tracking("-12.5") + "; fi\n");
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_DONE);
        assertThat(end.detail()).contains("0.000012 s are left to correct");
        assertThat(new Scripts(folder).calls("chronyc")).contains("-a makestep");
    }

    @Test
    void aStepThatChangesNothingHasFailed() throws IOException {
        End end = run("[ \"$2\" = makestep ] && { echo '200 OK'; exit 0; }\necho " + tracking("-12.5") + "\n");
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_FAILED);
        assertThat(end.detail()).contains("-12.500000 s");
    }

    @Test
    void whoMayNotStepIsTold() throws IOException {
        End end = run("[ \"$2\" = makestep ] && { echo '501 Not authorised'; exit 1; }\necho " + tracking("1") + "\n");
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_FAILED);
        assertThat(end.detail()).contains("501 Not authorised", "exit 1");
    }

    @Test
    void aChronydWithoutASourceIsNotAskedToStep() throws IOException {
        End end = run("echo '" + NEVER + "'\n");
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_REFUSED);
        assertThat(end.detail()).contains("follows no source of time");
        assertThat(new Scripts(folder).calls("chronyc")).doesNotContain("makestep");
    }

    @Test
    void noChronydIsARefusal() throws IOException {
        End end = run("echo '506 Cannot talk to daemon'\nexit 1\n");
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_REFUSED);
        assertThat(end.detail()).contains("506 Cannot talk to daemon");
    }

    @Test
    void whatIsNoTrackingIsNoOffset() {
        assertThat(StepClock.offset("")).isEmpty();
        assertThat(StepClock.offset(tracking("x"))).isEmpty();
        assertThat(StepClock.offset(tracking("-0.25"))).hasValue(-0.25);
    }
}

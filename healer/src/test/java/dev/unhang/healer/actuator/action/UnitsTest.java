package dev.unhang.healer.actuator.action;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.Offer;
import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.RealPrograms;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** systemctl and nvidia-smi as scripts, with the words and exit codes of systemd 252 and of driver 535. */
class UnitsTest {

    private static final String LOADED = "[ $1 = show ] && { echo loaded; exit 0; }\n";

    @TempDir
    Path folder;

    private final RealPrograms programs = new RealPrograms(System::nanoTime);
    private Scripts scripts = new Scripts(Path.of(""));

    @BeforeEach
    void scripts() {
        scripts = new Scripts(folder);
    }

    private End relaunch(String systemctl, String unit, Duration time) {
        Offer offer = Offer.newBuilder().putParameters("unit", unit).build();
        return new RelaunchUnit(programs, systemctl, Set.of("train.service"))
                .run(offer, programs.nanos() + time.toNanos(), () -> false);
    }

    private End persistenced(String systemctl, String smi, Duration time) {
        return new RestartPersistenced(programs, systemctl, smi)
                .run(Offer.getDefaultInstance(), programs.nanos() + time.toNanos(), () -> false);
    }

    @Test
    void aUnitThatIsListedIsRestartedAndLookedAt() throws IOException {
        String systemctl = scripts.write("systemctl", LOADED + "[ $1 = is-active ] && echo active\nexit 0\n");
        End end = relaunch(systemctl, "train.service", Duration.ofSeconds(20));
        assertThat(end).isEqualTo(End.done("train.service was restarted and is active"));
        assertThat(scripts.calls("systemctl")).contains("restart -- train.service", "is-active -- train.service");
    }

    @Test
    void aUnitThatIsNotListedIsRefusedAndSystemctlIsNotEvenAsked() throws IOException {
        String systemctl = scripts.write("systemctl", "exit 0\n");
        End end = relaunch(systemctl, "sshd.service", Duration.ofSeconds(20));
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_REFUSED);
        assertThat(end.detail()).contains("'sshd.service' is not under `units`");
        assertThat(folder.resolve("systemctl.calls")).doesNotExist();
    }

    @Test
    void aUnitThatSystemdDoesNotKnowIsRefused() throws IOException {
        String systemctl = scripts.write("systemctl", "echo not-found\n");
        End end = relaunch(systemctl, "train.service", Duration.ofSeconds(20));
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_REFUSED);
        assertThat(end.detail()).contains("train.service is 'not-found'");
    }

    @Test
    void theStartLimitIsToldWithItsMend() throws IOException {
        String systemctl = scripts.write("systemctl", LOADED + """
                echo 'Job for train.service failed because start of the service was attempted too often.' >&2
                echo 'See "systemctl status train.service" and "journalctl -xeu train.service" for details.' >&2
                exit 1
                """);
        End end = relaunch(systemctl, "train.service", Duration.ofSeconds(20));
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_FAILED);
        assertThat(end.detail()).contains("start limit is reached", "systemctl reset-failed", "exit 1", "too often");
    }

    @Test
    void aUnitThatIsGoneAfterItsRestartHasFailed() throws IOException {
        String systemctl =
                scripts.write("systemctl", LOADED + "[ $1 = is-active ] && { echo failed; exit 3; }\nexit 0\n");
        End end = relaunch(systemctl, "train.service", Duration.ofSeconds(20));
        assertThat(end).isEqualTo(End.failed("train.service was restarted and is failed now"));
    }

    @Test
    void aRestartThatHangsIsKilledAndItsEndIsUnknown() throws IOException {
        String systemctl =
                scripts.write("systemctl", LOADED + "sleep 600 & echo $! > " + folder.resolve("pid") + "\nwait\n");
        End end = relaunch(systemctl, "train.service", Duration.ofSeconds(2));
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_TIMED_OUT);
        assertThat(end.detail()).contains("was killed", "systemd may still be at it");
        int pid = Integer.parseInt(
                java.nio.file.Files.readString(folder.resolve("pid")).strip());
        assertThat(Children.NODE.stat(pid).filter(stat -> !stat.ended())).isEmpty();
    }

    @Test
    void aMachineWithoutSystemdRefuses() {
        End end = relaunch(folder.resolve("nothing").toString(), "train.service", Duration.ofSeconds(20));
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_REFUSED);
        assertThat(end.detail()).contains("systemctl does not answer", "No such file");
    }

    @Test
    void persistenceModeThatComesBackIsTheEndOfTheRepair() throws IOException {
        String systemctl = scripts.write("systemctl", LOADED + "exit 0\n");
        String smi = scripts.write("nvidia-smi", """
                if [ $(wc -l < $calls) -lt 2 ]; then echo Disabled; echo Enabled; else echo Enabled; echo Enabled; fi
                """);
        End end = persistenced(systemctl, smi, Duration.ofSeconds(20));
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_DONE);
        assertThat(scripts.calls("systemctl")).contains("restart -- nvidia-persistenced.service");
        assertThat(scripts.calls("nvidia-smi").lines()).hasSize(2);
    }

    @Test
    void persistenceModeThatStaysOffHasFailed() throws IOException {
        String systemctl = scripts.write("systemctl", LOADED + "exit 0\n");
        String smi = scripts.write("nvidia-smi", "echo Disabled\n");
        End end = persistenced(systemctl, smi, Duration.ofSeconds(2));
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_FAILED);
        assertThat(end.detail()).contains("persistence mode is Disabled");
    }

    @Test
    void aDriverThatIsGoneIsToldInItsOwnWords() throws IOException {
        String systemctl = scripts.write("systemctl", LOADED + "exit 0\n");
        String smi = scripts.write("nvidia-smi", """
                echo "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
                exit 9
                """);
        End end = persistenced(systemctl, smi, Duration.ofSeconds(2));
        assertThat(end.how()).isEqualTo(ActionEnd.ACTION_FAILED);
        assertThat(end.detail()).contains("exit 9", "couldn't communicate with the NVIDIA driver");
    }

    @Test
    void noGpuAtAllIsNotPersistenceMode() {
        assertThat(RestartPersistenced.enabled("")).isFalse();
        assertThat(RestartPersistenced.enabled("Enabled\nEnabled\n")).isTrue();
        assertThat(RestartPersistenced.enabled("Enabled\n[N/A]\n")).isFalse();
    }
}

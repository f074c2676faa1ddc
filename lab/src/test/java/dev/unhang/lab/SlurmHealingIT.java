package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A job of a real Slurm, hung and healed: {@code lab/scripts/slurm-healing.sh}. It takes four minutes, half of them for the
 * job to be learned and for what is healed to be seen well.
 */
@Tag("root")
@Tag("long")
class SlurmHealingIT {

    @Test
    void aStoppedRanksNodeIsDrainedItsJobTrainsAgainElsewhereAndTheNodeIsGivenBack() throws Exception {
        String logs = Path.of("target", "slurm-healing").toAbsolutePath().toString();
        Process script = new ProcessBuilder("bash", "scripts/slurm-healing.sh", "--keep-logs", logs)
                .redirectErrorStream(true)
                .inheritIO()
                .start();
        try {
            assertThat(script.waitFor(9, TimeUnit.MINUTES))
                    .as("ended by itself")
                    .isTrue();
            assertThat(script.exitValue()).as("exit status").isZero();
        } finally {
            script.destroy();
        }
    }
}

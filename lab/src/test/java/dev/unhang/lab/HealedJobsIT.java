package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A real job under torchrun on two nodes in namespaces, which are the whole cluster; a rank is stopped, and the healer has
 * it started again in place: {@code lab/scripts/healed-jobs.sh}.
 */
@Tag("root")
class HealedJobsIT {

    @Test
    void aHungJobIsRelaunchedInPlaceAndGoesOnFromItsCheckpoint() throws Exception {
        run("healed-jobs-once", "--times", "1");
    }

    @Test
    @Tag("long")
    void halfOfAllRelaunchesTrainAgainWithinFortyFiveSeconds() throws Exception {
        run("healed-jobs", "--times", "5");
    }

    private static void run(String logs, String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of("bash", "scripts/healed-jobs.sh"));
        command.addAll(List.of(options));
        command.addAll(
                List.of("--keep-logs", Path.of("target", logs).toAbsolutePath().toString()));
        Process script = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .inheritIO()
                .start();
        try {
            assertThat(script.waitFor(19, TimeUnit.MINUTES))
                    .as("ended by itself")
                    .isTrue();
            assertThat(script.exitValue()).as("exit status").isZero();
        } finally {
            script.destroy();
        }
    }
}

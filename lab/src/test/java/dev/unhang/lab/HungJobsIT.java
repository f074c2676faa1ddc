package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Real training jobs on pairs of nodes in namespaces, hung on purpose: {@code lab/scripts/hung-jobs.sh}. The whole takes
 * six minutes.
 */
@Tag("root")
class HungJobsIT {

    @Test
    void aStoppedRankIsNamedAndACheckpointThatNobodyAnnouncedIsNoHang() throws Exception {
        run("hung-jobs-short", "--short");
    }

    @Test
    @Tag("long")
    void stoppedAndLoopingRanksAreNamedAndNoCheckpointIsAHang() throws Exception {
        run("hung-jobs");
    }

    private static void run(String logs, String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of("bash", "scripts/hung-jobs.sh"));
        command.addAll(List.of(options));
        command.addAll(
                List.of("--keep-logs", Path.of("target", logs).toAbsolutePath().toString()));
        Process script = new ProcessBuilder(command)
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

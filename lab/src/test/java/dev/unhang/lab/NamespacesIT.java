package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two nodes in network namespaces, real collectors, a real broker and healer: {@code lab/scripts/namespaces.sh}. */
@Tag("root")
class NamespacesIT {

    @Test
    void aLinkACollectorAndAClockBreakAndEachIsNamed() throws Exception {
        Path logs = Path.of("target", "namespaces").toAbsolutePath();
        Process script = new ProcessBuilder("bash", "scripts/namespaces.sh", "--keep-logs", logs.toString())
                .redirectErrorStream(true)
                .inheritIO()
                .start();
        try {
            assertThat(script.waitFor(8, TimeUnit.MINUTES))
                    .as("ended by itself")
                    .isTrue();
            assertThat(script.exitValue()).as("exit status").isZero();
        } finally {
            script.destroy();
        }
    }
}

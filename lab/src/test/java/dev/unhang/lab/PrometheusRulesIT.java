package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The shipped rules, by Prometheus' own tool. */
class PrometheusRulesIT {

    private static final Path RULES = Path.of("..", "docker", "prometheus");

    @Test
    void theRulesAreRulesAndTheConfigurationIsOne() throws Exception {
        promtool("check", "rules", "unhang-rules.yml");
        promtool("check", "config", "--syntax-only", "prometheus.yml");
    }

    @Test
    void eachRuleFiresOnWhatItIsForAndNotOtherwise() throws Exception {
        promtool("test", "rules", "unhang-rules-test.yml");
    }

    private static void promtool(String... arguments) throws Exception {
        Process process = new ProcessBuilder()
                .command(Stream.concat(Stream.of("promtool"), Arrays.stream(arguments))
                        .toList())
                .directory(RULES.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(said).isZero();
    }
}

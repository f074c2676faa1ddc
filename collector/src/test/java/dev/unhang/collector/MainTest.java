package dev.unhang.collector;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MainTest {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @TempDir
    private Path folder;

    @Test
    void aWrongConfigurationIsRefusedWithTwoAndAllItsMistakes() throws IOException {
        Path file = Files.writeString(folder.resolve("c.yaml"), "nod: a\nkafka:\n  topic-prefix: 'a b'\n");

        assertThat(run("--config", file.toString())).isEqualTo(2);
        assertThat(text(err)).contains("3 mistakes", "line 1: nod ", "line 3: kafka.topic-prefix", "bootstrap-servers");
    }

    @Test
    void aFileThatIsNotThereIsNamed() {
        assertThat(run("--config", "/nowhere.yaml")).isEqualTo(2);
        assertThat(text(err)).contains("/nowhere.yaml");
    }

    @Test
    void withoutAConfigurationItTellsWhatIsMissing() {
        assertThat(run()).isEqualTo(2);
        assertThat(text(err)).contains("--config FILE");
        assertThat(run("--confg", "x")).isEqualTo(2);
    }

    @Test
    void aGoodFileIsCheckedAndNothingIsStarted() throws IOException {
        Path file = Files.writeString(folder.resolve("c.yaml"), "node: n1\nkafka:\n  bootstrap-servers: k:9092\n");

        assertThat(run("--config", file.toString(), "--check")).isZero();
        assertThat(text(out)).contains("is well", "n1", "k:9092");
    }

    @Test
    void oneSampleOfThisMachineIsPrintedWithoutABroker() throws IOException {
        Path file = Files.writeString(
                folder.resolve("c.yaml"), "sample:\n  interval: 100ms\nheartbeat:\n  listen: 127.0.0.1:19733\n");

        assertThat(run("--config", file.toString(), "--print-sample")).isZero();
        assertThat(text(out)).contains("# the sample", "seq: ", "# the inventory", "kernel: ");
    }

    private int run(String... arguments) {
        return Main.run(
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                Map.of(),
                arguments);
    }

    private static String text(ByteArrayOutputStream stream) {
        return stream.toString(StandardCharsets.UTF_8);
    }
}

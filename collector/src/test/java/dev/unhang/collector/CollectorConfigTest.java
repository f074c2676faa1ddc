package dev.unhang.collector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.unhang.settings.BadSettingsException;
import dev.unhang.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CollectorConfigTest {

    @TempDir
    private Path folder;

    @Test
    void aWholeFileIsRead() throws Exception {
        Path secrets = Files.writeString(folder.resolve("kafka.properties"), "security.protocol=SASL_SSL\n");
        CollectorConfig config = read("""
                node: gpu-17
                kafka:
                  bootstrap-servers: k1:9092,k2:9092
                  topic-prefix: test.
                  properties-file: %s
                sample:
                  interval: 500ms
                backlog:
                  records: 50
                  bytes: 256KiB
                sources:
                  kernel:
                    enabled: false
                labels:
                  rack: r7
                serve:
                  listen: 0.0.0.0:9999
                  socket: none
                """.formatted(secrets));

        assertThat(config.node()).isEqualTo("gpu-17");
        assertThat(config.kafka().topicPrefix()).isEqualTo("test.");
        assertThat(config.kafka().extra()).containsExactly(Map.entry("security.protocol", "SASL_SSL"));
        assertThat(config.interval()).isEqualTo(Duration.ofMillis(500));
        assertThat(config.backlog()).isEqualTo(new CollectorConfig.Backlog(50, 256 << 10));
        assertThat(config.enabled()).doesNotContain("kernel").contains("nvml", "net");
        assertThat(config.labels()).containsEntry("rack", "r7");
        assertThat(config.serve().listen()).isEqualTo(new CollectorConfig.Address("0.0.0.0", 9999));
        assertThat(config.serve().socket()).isNull();
    }

    @Test
    void theDefaultsAreThoseOfTheContract() throws Exception {
        CollectorConfig config = read("kafka:\n  bootstrap-servers: k:9092\n");

        assertThat(config.node()).isEqualTo("this-host");
        assertThat(config.interval()).isEqualTo(Duration.ofSeconds(1));
        assertThat(config.serve().listen()).isEqualTo(new CollectorConfig.Address("127.0.0.1", 9720));
        assertThat(config.heartbeat()).isEqualTo(new CollectorConfig.Address("127.0.0.1", 9721));
        assertThat(config.serve().socket()).isEqualTo(Path.of("/run/unhang/collector.sock"));
        assertThat(config.enabled()).containsExactlyInAnyOrderElementsOf(CollectorConfig.SOURCES);
    }

    @Test
    void fiveMistakesAreAllToldWithTheirLines() {
        BadSettingsException told = refused("""
                node: "two words"
                kafka:
                  bootstrap-servers: k1
                sample:
                  interval: 1 second
                sources:
                  nvlm:
                    enabled: false
                serve:
                  listen: nowhere
                """);

        assertThat(told.mistakes())
                .satisfiesExactly(
                        line -> assertThat(line).startsWith("line 1: ").contains("node is 'two words'"),
                        line -> assertThat(line).startsWith("line 3: ").contains("host:port"),
                        line -> assertThat(line).startsWith("line 5: ").contains("1 second"),
                        line -> assertThat(line).startsWith("line 8: ").contains("sources.nvlm.enabled"),
                        line -> assertThat(line).startsWith("line 10: ").contains("HOST:PORT"));
    }

    @Test
    void aCollectorThatPublishesMustNameABroker() throws Exception {
        assertThat(refused("node: a\n").mistakes())
                .singleElement()
                .asString()
                .contains("kafka.bootstrap-servers must be set");

        Settings none = Settings.none(Map.of());
        assertThat(CollectorConfig.read(none, "this-host", false).node()).isEqualTo("this-host");
    }

    @Test
    void aPropertiesFileThatIsNotThereIsAMistakeOfItsLine() {
        assertThat(refused("kafka:\n  bootstrap-servers: k:9092\n  properties-file: /nowhere\n")
                        .mistakes())
                .singleElement()
                .asString()
                .startsWith("line 3: ")
                .contains("/nowhere", "NoSuchFile");
    }

    private CollectorConfig read(String yaml) throws IOException, BadSettingsException {
        Path file = Files.writeString(folder.resolve("collector.yaml"), yaml);
        return CollectorConfig.read(Settings.read(file, Map.of()), "this-host", true);
    }

    private BadSettingsException refused(String yaml) {
        BadSettingsException told = catchThrowableOfType(BadSettingsException.class, () -> read(yaml));
        assertThat(told).isNotNull();
        return told;
    }
}

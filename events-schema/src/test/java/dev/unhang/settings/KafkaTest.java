package dev.unhang.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KafkaTest {

    @TempDir
    private Path folder;

    @Test
    void aClientGetsTheAddressAndWhatThePropertiesFileSays() throws Exception {
        Path file = Files.writeString(
                folder.resolve("kafka.properties"), "security.protocol=SASL_SSL\nbootstrap.servers=old:1\n");
        Kafka kafka = read("""
                kafka:
                  bootstrap-servers: k1:9092,k2:9092
                  topic-prefix: test.
                  properties-file: %s
                """.formatted(file), true);
        assertThat(kafka.topicPrefix()).isEqualTo("test.");
        assertThat(kafka.client())
                .containsOnly(
                        Map.entry("bootstrap.servers", "k1:9092,k2:9092"), Map.entry("security.protocol", "SASL_SSL"));
    }

    @Test
    void aBrokerMustBeNamedOnlyWhereSomethingIsSent() throws Exception {
        assertThat(refused("", true).mistakes())
                .singleElement()
                .asString()
                .startsWith("kafka.bootstrap-servers must be set");
        assertThat(read("", false).bootstrapServers()).isEmpty();
    }

    @Test
    void everyMistakeIsToldWithItsLine() {
        BadSettingsException told = refused("""
                kafka:
                  bootstrap-servers: k1
                  topic-prefix: "a b"
                  properties-file: /nowhere
                """, false);
        assertThat(told.mistakes())
                .satisfiesExactly(
                        line -> assertThat(line).startsWith("line 2: ").contains("'k1'", "host:port"),
                        line -> assertThat(line).startsWith("line 3: ").contains("'a b'"),
                        line -> assertThat(line).startsWith("line 4: ").contains("/nowhere", "NoSuchFile"));
    }

    @Test
    void anAddressInBracketsIsTaken() throws Exception {
        assertThat(read("kafka:\n  bootstrap-servers: '[::1]:9092'\n", true).bootstrapServers())
                .isEqualTo("[::1]:9092");
    }

    private Kafka read(String yaml, boolean needed) throws IOException, BadSettingsException {
        Path file = Files.writeString(folder.resolve("daemon.yaml"), yaml);
        Settings settings = Settings.read(file, Map.of());
        Kafka kafka = Kafka.from(settings, needed);
        settings.finish();
        return kafka;
    }

    private BadSettingsException refused(String yaml, boolean needed) {
        BadSettingsException told = catchThrowableOfType(BadSettingsException.class, () -> read(yaml, needed));
        assertThat(told).isNotNull();
        return told;
    }
}

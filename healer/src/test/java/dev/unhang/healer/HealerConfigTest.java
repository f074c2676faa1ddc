package dev.unhang.healer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.unhang.healer.act.SchedulerConfig;
import dev.unhang.healer.web.WebConfig;
import dev.unhang.settings.BadSettingsException;
import dev.unhang.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HealerConfigTest {

    private static final Path PAGE = Path.of("..", "docs", "reference", "healer-settings.md");

    @TempDir
    private Path folder;

    @Test
    void aWholeFileIsRead() throws Exception {
        Path secrets = Files.writeString(folder.resolve("kafka.properties"), "security.protocol=SASL_SSL\n");
        HealerConfig config = read("""
                healer:
                  id: healer-1
                kafka:
                  bootstrap-servers: k1:9092,k2:9092
                  topic-prefix: test.
                  properties-file: %s
                roles:
                  telemetry: false
                """.formatted(secrets));
        assertThat(config.id()).isEqualTo("healer-1");
        assertThat(config.brokers().prefix()).isEqualTo("test.");
        assertThat(config.brokers().client())
                .containsOnly(
                        Map.entry("bootstrap.servers", "k1:9092,k2:9092"), Map.entry("security.protocol", "SASL_SSL"));
        assertThat(config.judges()).isFalse();
        assertThat(config.decides()).isTrue();
    }

    @Test
    void withoutAnIdItTakesTheOneOfThisStart() throws Exception {
        assertThat(read("kafka:\n  bootstrap-servers: k:1\n").id()).isEqualTo("host-1a2b3c");
    }

    @Test
    void whatActsNeedsAKeyThatNobodyElseCanRead() throws Exception {
        Path playbooks = Files.writeString(folder.resolve("playbooks.yaml"), "modes: {job-hang: enforce}\n");
        String policy = "kafka:\n  bootstrap-servers: k:1\npolicy:\n  playbooks-file: " + playbooks + "\n";
        assertThat(mistakes(policy)).contains("policy.grant-key-file is missing");
        Path key = folder.resolve("grant.pem");
        String file = policy + "  grant-key-file: " + key + "\n";
        assertThat(mistakes(file)).contains("cannot read the key");
        Files.writeString(key, "no key at all");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        assertThat(mistakes(file)).contains("it has no line '-----BEGIN PRIVATE KEY-----'");
        KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        Files.writeString(
                key,
                "-----BEGIN PRIVATE KEY-----\n"
                        + Base64.getMimeEncoder()
                                .encodeToString(pair.getPrivate().getEncoded())
                        + "\n-----END PRIVATE KEY-----\n");
        assertThat(read(file).orders().policy().acts()).isTrue();
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r-----"));
        assertThat(mistakes(file)).contains("is open to others").contains("chmod 600");
    }

    @Test
    void mistakesInPlaybooksAreToldWithTheirFileAndLine() throws IOException {
        Path playbooks = Files.writeString(folder.resolve("playbooks.yaml"), "modes:\n  job-hang: on\n");
        assertThat(mistakes("kafka:\n  bootstrap-servers: k:1\npolicy:\n  playbooks-file: " + playbooks + "\n"))
                .contains(playbooks + ":2: mode is 'on'");
    }

    private String mistakes(String yaml) {
        BadSettingsException told = catchThrowableOfType(BadSettingsException.class, () -> read(yaml));
        return String.valueOf(told.getMessage());
    }

    @Test
    void fiveMistakesAreAllToldWithTheirLines() {
        BadSettingsException told = catchThrowableOfType(BadSettingsException.class, () -> read("""
                        healer:
                          id: "two words"
                        kafka:
                          bootstrap-servers: k1
                          topic-prefix: "a b"
                        roles:
                          telemetry: maybe
                          decidr: true
                        """));
        assertThat(told.mistakes())
                .satisfiesExactly(
                        line -> assertThat(line).startsWith("line 2: ").contains("two words"),
                        line -> assertThat(line).startsWith("line 4: ").contains("host:port"),
                        line -> assertThat(line).startsWith("line 5: ").contains("topic-prefix"),
                        line -> assertThat(line).startsWith("line 7: ").contains("maybe"),
                        line -> assertThat(line).startsWith("line 8: ").contains("did you mean roles.decider?"));
    }

    @Test
    void theReferencePageIsTheCodes() throws IOException {
        Settings settings = Settings.none(Map.of());
        HealerConfig.from(settings, "id");
        WebConfig.from(settings);
        SchedulerConfig.from(settings);
        StringBuilder page = new StringBuilder("""
                # Settings of the healer

                One YAML file, given with `unhang healer --config FILE`. An environment variable `UNHANG_A_B_C` overrides the key `a.b-c`.
                All mistakes are told at once, with their lines. This page is printed from the code (`HealerConfig`, `WebConfig`, `SchedulerConfig`); change it there and run
                `mvn -pl healer -am test -Dtest=HealerConfigTest -Dunhang.docs=write -Dsurefire.failIfNoSpecifiedTests=false`.

                | key | type | default | meaning |
                |---|---|---|---|
                """);
        for (Settings.Key key : settings.keys()) {
            String fallback = key.fallback().isEmpty() ? "" : "`" + key.fallback() + "`";
            page.append("| `")
                    .append(key.name())
                    .append("` | ")
                    .append(key.type())
                    .append(" | ")
                    .append(fallback)
                    .append(" | ")
                    .append(key.meaning())
                    .append(" |\n");
        }
        if ("write".equals(System.getProperty("unhang.docs"))) {
            Files.writeString(PAGE, page);
        }
        assertThat(PAGE).hasContent(page.toString());
    }

    private HealerConfig read(String yaml) throws IOException, BadSettingsException {
        Path file = Files.writeString(folder.resolve("healer.yaml"), yaml);
        return HealerConfig.read(Settings.read(file, Map.of()), "host-1a2b3c");
    }
}

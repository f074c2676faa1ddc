package dev.unhang.healer.actuator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.unhang.healer.command.Action;
import dev.unhang.settings.BadSettingsException;
import dev.unhang.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ActuatorConfigTest {

    @TempDir
    Path folder;

    private ActuatorConfig read(String yaml) throws IOException, BadSettingsException {
        Path file = folder.resolve("actuator.yaml");
        Files.writeString(file, yaml);
        return ActuatorConfig.read(Settings.read(file, Map.of()), "gpu-17");
    }

    private Path key() throws IOException, GeneralSecurityException {
        byte[] key = KeyPairGenerator.getInstance("Ed25519")
                .generateKeyPair()
                .getPublic()
                .getEncoded();
        Path file = folder.resolve("grant.pub");
        Files.writeString(
                file,
                "-----BEGIN PUBLIC KEY-----\n" + Base64.getEncoder().encodeToString(key)
                        + "\n-----END PUBLIC KEY-----\n");
        return file;
    }

    @Test
    void byDefaultANodeOnlyLetsLookAndNobodysKeyIsTrusted() throws Exception {
        ActuatorConfig config = read("kafka:\n  bootstrap-servers: k:9092\n");
        assertThat(config.node()).isEqualTo("gpu-17");
        assertThat(config.actions()).containsExactlyInAnyOrder(Action.LOOK, Action.COLLECT_EVIDENCE);
        assertThat(config.keys()).isEmpty();
        assertThat(config.units()).isEmpty();
        assertThat(config.stop()).isEqualTo(Path.of("/etc/unhang/stop"));
    }

    @Test
    void whatIsSetIsRead() throws Exception {
        ActuatorConfig config = read("""
                kafka: {bootstrap-servers: "k:9092"}
                node: gpu-18
                actions: [restart-ranks, relaunch-unit]
                units: [train.service]
                grant-keys: {healer-2026: %s}
                terminate-wait: 30s
                programs: {systemctl: /bin/true}
                """.formatted(key()));
        assertThat(config.node()).isEqualTo("gpu-18");
        assertThat(config.actions()).containsExactlyInAnyOrder(Action.RESTART_RANKS, Action.RELAUNCH_UNIT);
        assertThat(config.units()).containsExactly("train.service");
        assertThat(config.keys()).containsOnlyKeys("healer-2026");
        assertThat(config.terminate()).hasSeconds(30);
        assertThat(config.programs().systemctl()).isEqualTo("/bin/true");
    }

    @Test
    void allMistakesAreToldAtOnceWithTheirLines() throws IOException {
        Path noKey = folder.resolve("private.pem");
        Files.writeString(noKey, "nothing");
        assertThatThrownBy(() -> read("""
                        kafka: {bootstrap-servers: "k:9092"}
                        node: "@scheduler"
                        actions: [restart-rank, drain]
                        grant-keys:
                          a: %s
                          b: /does/not/exist
                        state-foldr: /tmp
                        """.formatted(noKey)))
                .isInstanceOfSatisfying(
                        BadSettingsException.class,
                        bad -> assertThat(bad.mistakes())
                                .satisfiesExactly(
                                        one -> assertThat(one).startsWith("line 2: node is '@scheduler'"),
                                        one -> assertThat(one).startsWith("line 3: actions has 'restart-rank'"),
                                        one -> assertThat(one).startsWith("line 3: actions has 'drain'"),
                                        one -> assertThat(one)
                                                .startsWith("line 5: grant-keys.a:")
                                                .contains("BEGIN PUBLIC KEY"),
                                        one -> assertThat(one).startsWith("line 6: grant-keys.b:"),
                                        one -> assertThat(one).contains("state-foldr is no key", "state-folder")));
    }

    @Test
    void actionsThatNoKeyCouldGrantAreAMistake() {
        assertThatThrownBy(() -> read("kafka: {bootstrap-servers: \"k:9092\"}\nactions: [step-clock]\n"))
                .hasMessageContaining("line 2: actions are allowed, but grant-keys names no key");
    }
}

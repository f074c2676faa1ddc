package dev.unhang.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {

    private enum Mode {
        OBSERVE,
        DRY_RUN
    }

    @TempDir
    Path folder;

    @Test
    void everyMistakeIsToldAtOnceInTheOrderOfItsLine() {
        List<String> mistakes = mistakes("""
                kafka:
                  topic-prefx: lab.
                interval: fast
                port: 70000
                mode: enforce
                backlog: 64MB
                """, settings -> {
            settings.text("kafka.topic-prefix", "unhang.", "");
            duration(settings);
            settings.number("port", 8080, 1, 65535, "");
            settings.choice("mode", Mode.class, Mode.OBSERVE, "");
            size(settings);
        });
        assertThat(mistakes)
                .containsExactly(
                        "line 2: kafka.topic-prefx is no key of this daemon; did you mean kafka.topic-prefix?",
                        "line 3: interval is 'fast' and must be a duration as 250ms, 15s, 10m or 2h",
                        "line 4: port is '70000' and must be from 1 to 65535",
                        "line 5: mode is 'enforce' and must be one of observe, dry-run",
                        "line 6: backlog is '64MB' and must be a size as 512KiB or 64MiB");
    }

    @Test
    void theMessageNamesTheFileAndCountsTheMistakes() throws IOException {
        Settings settings = read("a: 1\nb: 2\n", Map.of());
        assertThatThrownBy(settings::finish)
                .isInstanceOf(BadSettingsException.class)
                .hasMessageContaining("daemon.yaml has 2 mistakes:")
                .hasMessageContaining("line 1: a is no key of this daemon")
                .hasMessageContaining("line 2: b is no key of this daemon");
    }

    @Test
    void aFileWithoutMistakesGivesItsValues() throws Exception {
        Settings settings = read("""
                node: n1
                port: 1
                enabled: true
                mode: dry-run
                """, Map.of());
        assertThat(settings.text("node", "localhost", "")).isEqualTo("n1");
        assertThat(settings.number("port", 8080, 1, 65535, "")).isEqualTo(1);
        assertThat(settings.flag("enabled", false, "")).isTrue();
        assertThat(settings.choice("mode", Mode.class, Mode.OBSERVE, "")).isEqualTo(Mode.DRY_RUN);
        settings.finish();
    }

    @Test
    void aKeyThatIsLeftOutHasItsFallback() throws Exception {
        Settings settings = read("", Map.of());
        assertThat(settings.text("node", "localhost", "")).isEqualTo("localhost");
        assertThat(settings.optionalText("password-file", "")).isNull();
        assertThat(settings.number("port", 8080, 1, 65535, "")).isEqualTo(8080);
        assertThat(settings.flag("enabled", true, "")).isTrue();
        assertThat(settings.choice("mode", Mode.class, Mode.OBSERVE, "")).isEqualTo(Mode.OBSERVE);
        assertThat(duration(settings)).isEqualTo(Duration.ofSeconds(1));
        assertThat(size(settings)).isEqualTo(1 << 20);
        assertThat(settings.list("devices", List.of("eth0"), "")).containsExactly("eth0");
        assertThat(settings.map("labels", "")).isEmpty();
        settings.finish();
    }

    @Test
    void anEnvironmentVariableOverridesTheFile() throws Exception {
        Settings settings = read(
                "kafka:\n  bootstrap-servers: file:9092\ndevices: [a]\n",
                Map.of("UNHANG_KAFKA_BOOTSTRAP_SERVERS", "env:9092", "UNHANG_DEVICES", "b, c"));
        assertThat(settings.text("kafka.bootstrap-servers", "", "")).isEqualTo("env:9092");
        assertThat(settings.list("devices", List.of(), "")).containsExactly("b", "c");
        settings.finish();
    }

    @Test
    void anEnvironmentVariableOverridesAWrongValueToo() throws Exception {
        Settings settings = read("port: many\n", Map.of("UNHANG_PORT", "9"));
        assertThat(settings.number("port", 8080, 1, 65535, "")).isEqualTo(9);
        settings.finish();
    }

    @Test
    void aWrongEnvironmentVariableIsNamed() {
        Settings settings = Settings.none(Map.of("UNHANG_PORT", "many"));
        settings.number("port", 8080, 1, 65535, "");
        assertMistakes(settings, "port (from UNHANG_PORT) is 'many' and must be a number");
    }

    @Test
    void anEmptyListInTheEnvironmentIsEmpty() throws Exception {
        Settings settings = Settings.none(Map.of("UNHANG_DEVICES", ""));
        assertThat(settings.list("devices", List.of("eth0"), "")).isEmpty();
        settings.finish();
    }

    @ParameterizedTest
    @CsvSource({"100ms, 100", "99ms, -1", "10s, 10000", "10001ms, -1", "0m, -1", "9s, 9000"})
    void aDurationHasLimits(String written, long ms) throws IOException {
        Settings settings = read("interval: " + written + "\n", Map.of());
        assertThat(duration(settings).toMillis()).isEqualTo(ms < 0 ? 1000 : ms);
        if (ms < 0) {
            assertMistakes(settings, "line 1: interval is '" + written + "' and must be from 100ms to 10s");
        }
    }

    @ParameterizedTest
    @CsvSource({"250ms, 250", "15s, 15000", "10m, 600000", "2h, 7200000", "7d, 604800000"})
    void aDurationHasAUnit(String written, long ms) {
        assertThat(Settings.parseDuration(written)).isEqualTo(Duration.ofMillis(ms));
    }

    @ParameterizedTest
    @ValueSource(strings = {"5", "5 s", "-5s", "5S", "1.5s", "s", "", "5w"})
    void whatHasNoUnitIsNoDuration(String written) {
        assertThatThrownBy(() -> Settings.parseDuration(written)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"99999999999999999999s", "9223372036854775807d"})
    void aDurationThatIsTooLongToCountIsAMistake(String written) throws IOException {
        Settings settings = read("interval: " + written + "\n", Map.of());
        duration(settings);
        assertThatThrownBy(settings::finish).hasMessageContaining("line 1: interval is '" + written + "'");
    }

    @ParameterizedTest
    @CsvSource({
        "1KiB, 1024",
        "1023B, -1",
        "1024B, 1024",
        "1GiB, 1073741824",
        "1025MiB, -1",
        "64MiB, 67108864",
        "2GiB, -1"
    })
    void aSizeHasLimits(String written, long bytes) throws IOException {
        Settings settings = read("backlog: " + written + "\n", Map.of());
        assertThat(size(settings)).isEqualTo(bytes < 0 ? 1 << 20 : bytes);
        if (bytes < 0) {
            assertMistakes(settings, "line 1: backlog is '" + written + "' and must be from 1KiB to 1GiB");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"64", "64MB", "64 MiB", "-1MiB", "1TiB", "many"})
    void whatHasNoUnitIsNoSize(String written) throws IOException {
        Settings settings = read("backlog: " + written + "\n", Map.of());
        size(settings);
        assertMistakes(settings, "line 1: backlog is '" + written + "' and must be a size as 512KiB or 64MiB");
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "0, -1", "65535, 65535", "65536, -1"})
    void aNumberHasLimits(String written, int number) throws IOException {
        Settings settings = read("port: " + written + "\n", Map.of());
        assertThat(settings.number("port", 8080, 1, 65535, "")).isEqualTo(number < 0 ? 8080 : number);
        if (number < 0) {
            assertMistakes(settings, "line 1: port is '" + written + "' and must be from 1 to 65535");
        }
    }

    @Test
    void onlyTrueAndFalseAreFlags() throws IOException {
        Settings settings = read("enabled: yes\n", Map.of());
        settings.flag("enabled", false, "");
        assertMistakes(settings, "line 1: enabled is 'yes' and must be true or false");
    }

    @Test
    void aListIsWrittenInEitherForm() throws Exception {
        Settings settings = read("a: [x, y]\nb:\n  - z\n", Map.of());
        assertThat(settings.list("a", List.of(), "")).containsExactly("x", "y");
        assertThat(settings.list("b", List.of(), "")).containsExactly("z");
        settings.finish();
    }

    @Test
    void aListOfSomethingElseIsAMistake() {
        assertThat(mistakes("a: x\nb: [{c: d}]\n", settings -> {
                    settings.list("a", List.of(), "");
                    settings.list("b", List.of(), "");
                }))
                .containsExactly("line 1: a must be a list of texts, as [a, b]", "line 2: b must be a list of texts");
    }

    @Test
    void aListWhereOneValueIsMeantIsAMistake() {
        assertThat(mistakes("port: [1, 2]\n", settings -> settings.number("port", 8080, 1, 65535, "")))
                .containsExactly("line 1: port must be one value (number)");
    }

    @Test
    void theKeysOfAMapAreTheOperatorsOwn() throws Exception {
        Settings settings = read("labels:\n  rack: r1\n  pool.name: a100\n", Map.of());
        assertThat(settings.map("labels", ""))
                .containsExactlyInAnyOrderEntriesOf(Map.of("rack", "r1", "pool.name", "a100"));
        settings.finish();
    }

    @Test
    void aListInAMapIsAMistakeAndNotDropped() {
        assertThat(mistakes("labels:\n  rack: [r1, r2]\n", settings -> settings.map("labels", "")))
                .containsExactly("line 2: labels.rack must be one value (text)");
    }

    @Test
    void aKeyThatStandsTwiceIsAMistake() {
        assertThat(mistakes("port: 1\nport: 2\n", settings -> settings.number("port", 8080, 1, 65535, "")))
                .containsExactly("line 2: port stands here twice");
    }

    @Test
    void whatIsNotYamlIsAMistakeWithItsLine() {
        assertThat(mistakes("port: 1\n  mode: [\n", settings -> settings.number("port", 8080, 1, 65535, "")))
                .singleElement()
                .asString()
                .startsWith("line 2: this is not YAML: ");
    }

    @Test
    void aFileThatIsNoMappingIsAMistake() {
        assertThat(mistakes("- a\n- b\n", settings -> {}))
                .containsExactly("line 1: the file must be a mapping of keys to values");
    }

    @Test
    void anUnknownKeyThatIsNearNothingHasNoSuggestion() {
        assertThat(mistakes("horoscope: leo\n", settings -> settings.number("port", 8080, 1, 65535, "")))
                .containsExactly("line 1: horoscope is no key of this daemon");
    }

    @Test
    void theNearestKeyIsSuggested() {
        assertThat(mistakes("kafka-b: x\n", settings -> {
                    settings.text("kafka-add", "", "");
                    settings.text("kafka-a", "", "");
                }))
                .containsExactly("line 1: kafka-b is no key of this daemon; did you mean kafka-a?");
    }

    @Test
    void aShortKeyIsNotTakenForAnother() {
        assertThat(mistakes("pool: x\n", settings -> settings.text("node", "", "")))
                .containsExactly("line 1: pool is no key of this daemon");
    }

    @Test
    void aMistakeThatSpansKeysHasTheLineOfTheKey() {
        assertThat(mistakes("a: 1\nb: 2\n", settings -> {
                    settings.text("a", "", "");
                    settings.text("b", "", "");
                    settings.mistake("b", "b needs a to be off");
                }))
                .containsExactly("line 2: b needs a to be off");
    }

    @Test
    void theKeysThatWereAskedForAreKnownToTheReferencePage() {
        Settings settings = Settings.none(Map.of());
        duration(settings);
        settings.map("labels", "of this node");
        assertThat(settings.keys())
                .containsExactly(
                        new Settings.Key("interval", "duration", "1s", "how often"),
                        new Settings.Key("labels.*", "text", "none", "of this node"));
    }

    @Test
    void aFileThatIsNotThereIsAnErrorOfItsOwn() {
        assertThatThrownBy(() -> Settings.read(folder.resolve("none.yaml"), Map.of()))
                .isInstanceOf(NoSuchFileException.class);
    }

    private static Duration duration(Settings settings) {
        return settings.duration(
                "interval", Duration.ofSeconds(1), Duration.ofMillis(100), Duration.ofSeconds(10), "how often");
    }

    private static long size(Settings settings) {
        return settings.size("backlog", 1 << 20, 1 << 10, 1L << 30, "");
    }

    private Settings read(String yaml, Map<String, String> environment) throws IOException {
        return Settings.read(Files.writeString(folder.resolve("daemon.yaml"), yaml), environment);
    }

    private List<String> mistakes(String yaml, Consumer<Settings> asking) {
        try {
            Settings settings = read(yaml, Map.of());
            asking.accept(settings);
            settings.finish();
            return List.of();
        } catch (BadSettingsException e) {
            return e.mistakes();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void assertMistakes(Settings settings, String... mistakes) {
        assertThatThrownBy(settings::finish)
                .isInstanceOfSatisfying(
                        BadSettingsException.class,
                        e -> assertThat(e.mistakes()).containsExactly(mistakes));
    }
}

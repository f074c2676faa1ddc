package dev.unhang.healer.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SafeTextTest {

    @Test
    void plainTextStaysAsItIs() {
        assertThat(SafeText.of("node-1 rank 3: 12.5 s, 80 °C, Müller, 節点", 100))
                .isEqualTo("node-1 rank 3: 12.5 s, 80 °C, Müller, 節点");
    }

    @Test
    void escapeSequencesBecomeVisible() {
        assertThat(SafeText.of("a\u001b[2Jb\u009b31mc\u0007\u007f", 100)).isEqualTo("a\\x1b[2Jb\\x9b31mc\\x07\\x7f");
    }

    @Test
    void oneNameCannotPoseAsTwoLines() {
        assertThat(SafeText.of("a\r\nb\u2028c\u0085d\te", 100)).isEqualTo("a\\x0d\\x0ab\\u2028c\\x85d\\x09e");
    }

    @Test
    void marksAndLettersThatTurnTheReadingDirectionBecomeVisible() {
        assertThat(SafeText.of("gpu\u202e1-edon\u2066\u200f\ufeff\u200b", 100))
                .isEqualTo("gpu\\u202e1-edon\\u2066\\u200f\\ufeff\\u200b");
        assertThat(SafeText.of("\u05d0", 100)).isEqualTo("\\u05d0");
        assertThat(SafeText.of("\udb40\udc41", 100))
                .as("an invisible tag letter")
                .isEqualTo("\\U000e0041");
    }

    @Test
    void brokenSurrogatesBecomeVisible() {
        assertThat(SafeText.of("a\ud800b", 100)).isEqualTo("a\\ud800b");
    }

    @Test
    void stacksOfMarksAreCutAtTwo() {
        assertThat(SafeText.of("e\u0301\u0302\u0303", 100)).isEqualTo("e\u0301\u0302\\u0303");
    }

    @Test
    void aLongNameIsShortenedToItsWidthAndSaysByHowMuch() {
        assertThat(SafeText.of("x".repeat(10), 10)).isEqualTo("x".repeat(10));
        assertThat(SafeText.of("x".repeat(11), 10)).isEqualTo("x".repeat(10) + "…(+1)");
        assertThat(SafeText.of("x".repeat(10_240), 80)).isEqualTo("x".repeat(80) + "…(+10160)");
        assertThat(SafeText.of("\u001b".repeat(10_240), 80)).hasSizeLessThan(100);
        assertThat(SafeText.of("節".repeat(11), 20)).as("two columns each").isEqualTo("節".repeat(10) + "…(+1)");
    }

    @Test
    void jsonBecomesHarmless() {
        String json = "{\"a\":\"x\u202ey\u009bz\udb40\udc41\"}";
        String safe = SafeText.json(json);
        assertThat(safe).isEqualTo("{\"a\":\"x\\u202ey\\u009bz\\udb40\\udc41\"}");
    }

    @Test
    void aNameThatIsLoggedStaysInItsLineAndIsBounded() {
        assertThat(SafeText.logged("eth0\n2026-01-01 ERROR all is lost\u001b[2J"))
                .isEqualTo("eth0\\x0a2026-01-01 ERROR all is lost\\x1b[2J");
        assertThat(SafeText.logged("a".repeat(1_000))).hasSize(1_000);
        assertThat(SafeText.logged("a".repeat(1_001))).endsWith("…(+1)");
    }
}

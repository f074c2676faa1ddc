package dev.unhang.healer.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenTest {

    private static final String GOOD = "0123456789abcdef";

    @TempDir
    Path dir;

    private Path file(String content, String permissions) throws IOException {
        Path file = Files.writeString(dir.resolve("token"), content);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-------", "r--------"})
    void aFileForItsOwnerAloneIsRead(String permissions) throws IOException {
        Token token = Token.read(file(GOOD + "\n", permissions));
        assertThat(token.isBorneBy("Bearer " + GOOD)).isTrue();
        assertThat(token.isBorneBy("bearer  " + GOOD + " ")).isTrue();
        assertThat(token.isBorneBy("Bearer " + GOOD + "0")).isFalse();
        assertThat(token.isBorneBy("Bearer " + GOOD.substring(1))).isFalse();
        assertThat(token.isBorneBy("Bearer ")).isFalse();
        assertThat(token.isBorneBy("")).isFalse();
        assertThat(token.isBorneBy(null)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-r--r--", "rw-r-----", "rw----r--", "rw--w----", "rw------x"})
    void aFileThatOthersCanUseIsRefused(String permissions) throws IOException {
        Path file = file(GOOD, permissions);
        assertThatThrownBy(() -> Token.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is open to others (" + permissions + ")")
                .hasMessageContaining("chmod 600 " + file)
                .hasMessageNotContaining(GOOD);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n", "0123456789abcde", "0123456789 abcdef", "0123456789abcdé0"})
    void aTokenThatIsNoneIsRefused(String content) throws IOException {
        Path file = file(content, "rw-------");
        assertThatThrownBy(() -> Token.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("must hold one word of 16 to 512");
    }

    @Test
    void tokensOf512CharactersFitAndOneMoreDoesNot() throws IOException {
        assertThat(Token.read(file("x".repeat(512), "rw-------")).isBorneBy("Bearer " + "x".repeat(512)))
                .isTrue();
        Path file = file("x".repeat(513), "rw-------");
        assertThatThrownBy(() -> Token.read(file)).isInstanceOf(IOException.class);
    }

    @Test
    void aMissingFileSaysHowToMakeOne() {
        assertThatThrownBy(() -> Token.read(dir.resolve("none")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is not there: create it with");
    }
}

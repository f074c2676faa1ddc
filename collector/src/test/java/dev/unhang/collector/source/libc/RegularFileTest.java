package dev.unhang.collector.source.libc;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class RegularFileTest {

    @TempDir
    Path dir;

    @Test
    void aFileIsReadAtAnyPlaceEvenOnceItWasRemoved() throws IOException {
        Path path = Files.writeString(dir.resolve("log"), "abcdef");
        try (RegularFile file = RegularFile.open(path, requireNonNull(RegularFile.identity(path)))) {
            Files.delete(path);
            byte[] buffer = new byte[8];

            assertThat(file.size()).isEqualTo(6);
            assertThat(file.read(buffer, 2, 3)).isEqualTo(2);
            assertThat(buffer).startsWith('d', 'e');
            assertThat(file.read(buffer, 8, 6)).isEqualTo(-1);
        }
    }

    @Test
    @Timeout(20)
    void aPipeThatLiesThereNowIsRefusedWithoutWaitingForAWriter() throws IOException, InterruptedException {
        Path path = Files.writeString(dir.resolve("log"), "");
        Object identity = requireNonNull(RegularFile.identity(path));
        Files.delete(path);
        assertThat(new ProcessBuilder("mkfifo", path.toString()).start().waitFor())
                .isZero();

        assertThat(RegularFile.identity(path)).isNull();
        assertThatThrownBy(() -> RegularFile.open(path, identity)).hasMessageContaining("was replaced");
    }

    @Test
    void whatIsNotThereHasNoIdentityAndCannotBeOpened() {
        assertThat(RegularFile.identity(dir.resolve("none"))).isNull();
        assertThat(RegularFile.identity(dir)).isNull();
        assertThatThrownBy(() -> RegularFile.open(dir.resolve("none"), "any")).isInstanceOf(NoSuchFileException.class);
    }
}

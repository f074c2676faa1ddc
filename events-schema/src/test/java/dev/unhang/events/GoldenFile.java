package dev.unhang.events;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A checked-in file that a test holds against what the code makes now. With {@code -Dunhang.golden=write} the file is
 * written instead; a person reads the difference.
 */
final class GoldenFile {

    static final boolean WRITE = "write".equals(System.getProperty("unhang.golden"));

    private GoldenFile() {}

    static void same(Path file, String made) throws IOException {
        if (WRITE) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, made);
        }
        assertThat(file).as(hint(file)).isRegularFile();
        assertThat(Files.readString(file)).as(hint(file)).isEqualTo(made);
    }

    static void same(Path file, byte[] made) throws IOException {
        if (WRITE) {
            Files.createDirectories(file.getParent());
            Files.write(file, made);
        }
        assertThat(file).as(hint(file)).isRegularFile();
        assertThat(Files.readAllBytes(file)).as(hint(file)).isEqualTo(made);
    }

    static String hint(Path file) {
        return file + " (to write it again: mvn -q -pl events-schema test -Dunhang.golden=write)";
    }
}

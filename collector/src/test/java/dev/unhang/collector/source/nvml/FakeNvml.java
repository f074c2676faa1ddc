package dev.unhang.collector.source.nvml;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The scripted C library of {@code src/test/c/fake_nvml.c}, built once by gcc and copied into a test's own folder, where
 * its script and its log lie too. Loaded by path through JNA, as the real one is by name.
 */
final class FakeNvml {

    private static final String NAME = "libnvidia-ml.so.1";

    private final Path folder;

    private FakeNvml(Path folder) {
        this.folder = folder;
    }

    static FakeNvml in(Path folder) {
        return copied(folder, "new");
    }

    /** A driver that lacks the newer symbols. */
    static FakeNvml oldDriverIn(Path folder) {
        return copied(folder, "old", "-DOLD_DRIVER");
    }

    private static synchronized FakeNvml copied(Path folder, String variant, String... flags) {
        try {
            Path library = Path.of("target", "fake-nvml", variant, NAME);
            Path source = Path.of("src", "test", "c", "fake_nvml.c");
            if (!Files.exists(library)
                    || Files.getLastModifiedTime(library).compareTo(Files.getLastModifiedTime(source)) < 0) {
                Files.createDirectories(library.toAbsolutePath().getParent());
                compile(source, library, flags);
            }
            Files.copy(library, folder.resolve(NAME), StandardCopyOption.REPLACE_EXISTING);
            return new FakeNvml(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void compile(Path source, Path library, String... flags) throws IOException {
        List<String> command = new ArrayList<>(
                List.of("gcc", "-O2", "-Wall", "-shared", "-fPIC", "-Wl,-soname," + NAME, "-o", library.toString()));
        command.addAll(List.of(flags));
        command.add(source.toString());
        Path said = Files.createTempFile("gcc", ".txt");
        try {
            if (start(command, said).waitFor() != 0) {
                throw new AssertionError("gcc could not build " + source + ": " + Files.readString(said));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while gcc ran", e);
        } finally {
            Files.deleteIfExists(said);
        }
    }

    private static Process start(List<String> command, Path said) {
        try {
            return new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(said.toFile())
                    .start();
        } catch (IOException e) {
            throw new AssertionError(
                    "these tests build a small C library and found no gcc; install it: apt-get install gcc libc6-dev",
                    e);
        }
    }

    String library() {
        return folder.resolve(NAME).toAbsolutePath().toString();
    }

    /** Replaces the script; the library reads it anew at its next call. */
    FakeNvml script(String... lines) {
        try {
            Path fresh = Files.write(folder.resolve("fake_nvml.script.new"), List.of(lines));
            Files.move(fresh, folder.resolve("fake_nvml.script"), StandardCopyOption.ATOMIC_MOVE);
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What the library says of its own life: init, shutdown, unload, and violations. */
    List<String> log() {
        try {
            Path log = folder.resolve("fake_nvml.log");
            return Files.exists(log) ? Files.readAllLines(log) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

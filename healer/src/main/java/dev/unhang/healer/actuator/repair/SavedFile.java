package dev.unhang.healer.actuator.repair;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * A file that is whole or not there, whatever crashes: written beside its place, synced, moved, and the folder synced. For
 * its owner alone, since it tells a node's addresses. Stateless.
 */
public final class SavedFile {

    private SavedFile() {}

    /** Returns once the disk has it. */
    public static void write(Path file, String text) throws IOException {
        Path folder = folderOf(file);
        Files.createDirectories(folder);
        Path draft = file.resolveSibling(file.getFileName() + ".new");
        try (FileChannel out = FileChannel.open(
                draft, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString("rw-------"));
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                out.write(bytes);
            }
            out.force(true);
        }
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        sync(folder);
    }

    /** Returns once the disk has forgotten it. */
    public static void delete(Path file) throws IOException {
        if (Files.deleteIfExists(file)) {
            sync(folderOf(file));
        }
    }

    private static Path folderOf(Path file) {
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null) {
            throw new IllegalArgumentException(file + " has no folder");
        }
        return folder;
    }

    private static void sync(Path folder) throws IOException {
        try (FileChannel directory = FileChannel.open(folder, StandardOpenOption.READ)) {
            directory.force(true);
        }
    }
}

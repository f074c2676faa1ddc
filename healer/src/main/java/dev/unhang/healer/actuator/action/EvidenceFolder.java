package dev.unhang.healer.actuator.action;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * One command's evidence below the state folder, for root alone, and no larger than it may be. What would make it larger is
 * cut off. Older folders go when there are too many. Confined to the worker's thread.
 */
final class EvidenceFolder {

    private final Path folder;
    private long left;
    private int files;
    private boolean cut;

    private EvidenceFolder(Path folder, long most) {
        this.folder = folder;
        this.left = most;
    }

    /**
     * Makes the folder of a command.
     *
     * @param most bytes in it
     * @param keep how many folders there may be, this one among them
     */
    static EvidenceFolder make(Path all, String command, long most, int keep) throws IOException {
        Files.createDirectories(
                all, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        List<Path> old = new ArrayList<>();
        try (DirectoryStream<Path> each = Files.newDirectoryStream(all)) {
            each.forEach(old::add);
        }
        old.sort(Comparator.comparing(EvidenceFolder::changed).reversed());
        for (Path path : old.subList(Math.min(old.size(), keep - 1), old.size())) {
            delete(path);
        }
        Path folder = all.resolve(command.replaceAll("[^A-Za-z0-9_-]", "_"));
        Files.createDirectories(
                folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        return new EvidenceFolder(folder, most);
    }

    Path path() {
        return folder;
    }

    long left() {
        return left;
    }

    void write(String name, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        try (OutputStream out = Files.newOutputStream(folder.resolve(name))) {
            out.write(bytes, 0, (int) room(bytes.length));
        }
        files++;
    }

    /** Copies a file that somebody else may own: a regular one, and no link. */
    void copy(String name, Path from) throws IOException {
        if (!Files.isRegularFile(from, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException("it is no regular file");
        }
        try (InputStream in = Files.newInputStream(from, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
                OutputStream out = Files.newOutputStream(folder.resolve(name))) {
            byte[] some = new byte[64 << 10];
            for (int n = in.read(some); n > 0; n = in.read(some)) {
                long room = room(n);
                out.write(some, 0, (int) room);
                if (room < n) {
                    break;
                }
            }
        }
        files++;
    }

    /** As {@code 7 files in /var/lib/unhang/evidence/job-hang-1a2b3c4d-1}. */
    String told() {
        return files
                + (files == 1 ? " file in " : " files in ")
                + folder
                + (cut ? ", cut off where they grew too large" : "");
    }

    private long room(long wanted) {
        long room = Math.min(wanted, left);
        cut |= room < wanted;
        left -= room;
        return room;
    }

    private static long changed(Path path) {
        try {
            return Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS).toMillis();
        } catch (IOException e) {
            return 0;
        }
    }

    private static void delete(Path folder) throws IOException {
        List<Path> all;
        try (Stream<Path> walk = Files.walk(folder)) {
            all = walk.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : all) {
            Files.deleteIfExists(path);
        }
    }
}

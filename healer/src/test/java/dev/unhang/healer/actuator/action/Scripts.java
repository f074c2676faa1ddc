package dev.unhang.healer.actuator.action;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Programs of the outside world, written by a test: they say and end as the real ones do. */
final class Scripts {

    private final Path folder;

    Scripts(Path folder) {
        this.folder = folder;
    }

    /** The path of a program with this body; {@code $calls} is a file that it may write to. */
    String write(String name, String body) throws IOException {
        Path file = folder.resolve(name);
        Files.writeString(
                file, "#!/bin/sh\ncalls=" + folder.resolve(name + ".calls") + "\necho \"$@\" >> $calls\n" + body);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        return file.toString();
    }

    String calls(String name) throws IOException {
        return Files.readString(folder.resolve(name + ".calls"));
    }
}

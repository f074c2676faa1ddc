package dev.unhang.healer.actuator.repair;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Who has what open: {@code /proc/PID/fd} and {@code /proc/PID/maps}. Needs root to see other users' processes, and the
 * machine's process namespace to see those at all. A process that ends meanwhile is passed over.
 */
public final class OpenFiles {

    private static final Pattern SOCKET = Pattern.compile("socket:\\[(\\d+)]");

    private final Path proc;

    public OpenFiles(Path proc) {
        this.proc = proc;
    }

    /**
     * A process that holds something.
     *
     * @param name as the kernel knows it, at most 15 characters
     * @param cgroup the lines of its {@code cgroup}
     */
    public record Holder(long pid, String name, String cgroup) {

        /** As {@code process 4711 (python3)}. */
        public String shown() {
            return "process " + pid + " (" + name + ")";
        }
    }

    /** Directories of all processes whose name fits. */
    public List<Path> processes(Predicate<String> name) {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(proc, "[1-9]*")) {
            for (Path process : all) {
                if (name.test(text(process.resolve("comm")))) {
                    found.add(process);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            throw new IllegalStateException(proc + " cannot be listed, so nobody knows who uses what", e);
        }
        return found;
    }

    /** Numbers of the sockets that a process has open. */
    public Set<Long> sockets(Path process) {
        Set<Long> sockets = new LinkedHashSet<>();
        for (String target : targets(process)) {
            Matcher socket = SOCKET.matcher(target);
            if (socket.matches()) {
                sockets.add(Long.parseLong(socket.group(1)));
            }
        }
        return sockets;
    }

    /** All processes that have a file open, or mapped, whose path fits. */
    public List<Holder> holders(Predicate<String> path) {
        List<Holder> holders = new ArrayList<>();
        for (Path process : processes(any -> true)) {
            if (targets(process).stream().anyMatch(path)
                    || mapped(process).stream().anyMatch(path)) {
                holders.add(new Holder(
                        Long.parseLong(String.valueOf(process.getFileName())),
                        text(process.resolve("comm")),
                        text(process.resolve("cgroup"))));
            }
        }
        return holders;
    }

    private static List<String> targets(Path process) {
        List<String> targets = new ArrayList<>();
        try (DirectoryStream<Path> open = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path fd : open) {
                try {
                    targets.add(Files.readSymbolicLink(fd).toString());
                } catch (IOException e) {
                    // Closed since.
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return targets; // the process ended
        }
        return targets;
    }

    private static Set<String> mapped(Path process) {
        Set<String> paths = new LinkedHashSet<>();
        for (String line : text(process.resolve("maps")).split("\n", -1)) {
            int slash = line.indexOf('/');
            if (slash >= 0) {
                paths.add(line.substring(slash));
            }
        }
        return paths;
    }

    private static String text(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return ""; // the process ended
        }
    }
}

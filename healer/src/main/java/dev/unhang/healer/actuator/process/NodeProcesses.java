package dev.unhang.healer.actuator.process;

import dev.unhang.healer.command.ProcessName;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads {@code /proc}, and sends signals. A process is known by boot id, pid and start time, and all three are compared
 * right before each signal. Needs root for other users' processes, and the machine's process namespace to see those at all.
 * Any thread.
 */
public final class NodeProcesses {

    private static final int LONGEST_ENVIRON = 4 << 20;
    private static final int MOST_THREADS = 2048;

    private final Path proc;

    public NodeProcesses(Path proc) {
        this.proc = proc;
    }

    /** In 32 hex digits. */
    public String bootId() throws IOException {
        return Files.readString(proc.resolve("sys/kernel/random/boot_id"))
                .strip()
                .replace("-", "");
    }

    /** Empty where there is no such process. */
    public Optional<ProcessStat> stat(int pid) {
        return text(pid, "stat", 4096).flatMap(ProcessStat::parse);
    }

    /** The process of this name if it is still there; one that has ended is not, though its parent may not know. */
    public Optional<ProcessStat> living(ProcessName name) {
        return stat(name.pid()).filter(stat -> stat.startTicks() == name.startTicks() && !stat.ended());
    }

    /** Why the process is not, or not any more, the one that is named. */
    public Optional<String> doubt(ProcessName name) {
        try {
            if (!bootId().equals(name.bootId())) {
                return Optional.of("process " + name.pid() + " is of an earlier boot of this node");
            }
        } catch (IOException e) {
            return Optional.of("the boot id cannot be read: " + e.getMessage());
        }
        if (name.pid() == 1 || name.pid() == ProcessHandle.current().pid()) {
            return Optional.of("process " + name.pid() + " is the node's first process, or the actuator itself");
        }
        Optional<ProcessStat> stat = stat(name.pid());
        if (stat.isEmpty() || stat.get().ended()) {
            return Optional.of("process " + name.pid() + " has ended");
        }
        return stat.get().startTicks() == name.startTicks()
                ? Optional.empty()
                : Optional.of("pid " + name.pid() + " is another process now ("
                        + stat.get().comm() + "), started later than the one that was meant");
    }

    /**
     * Sends SIGTERM, or SIGKILL, to the process of this name and to no other: the handle is taken first, then the name is
     * compared, and the JDK compares the handle's start time once more as it signals.
     */
    public boolean signal(ProcessName name, boolean kill) {
        Optional<ProcessHandle> handle = ProcessHandle.of(name.pid());
        if (handle.isEmpty() || doubt(name).isPresent()) {
            return false;
        }
        return kill ? handle.get().destroyForcibly() : handle.get().destroy();
    }

    /** The named variables only; nothing where the block may not be read. */
    public Optional<Map<String, String>> environ(int pid, Set<String> names) {
        try (InputStream in = Files.newInputStream(of(pid).resolve("environ"))) {
            return Optional.of(Environ.named(in.readNBytes(LONGEST_ENVIRON), names));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** A file below {@code /proc/PID}, its first bytes, stripped; empty where it cannot be read. */
    public Optional<String> text(int pid, String name, int most) {
        try (InputStream in = Files.newInputStream(of(pid).resolve(name))) {
            return Optional.of(new String(in.readNBytes(most), StandardCharsets.UTF_8).strip());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Ids of its threads, the first 2,048 at most. */
    public List<Integer> threads(int pid) {
        List<Integer> threads = new ArrayList<>();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(of(pid).resolve("task"))) {
            for (Path task : tasks) {
                if (threads.size() < MOST_THREADS) {
                    threads.add(Integer.parseInt(String.valueOf(task.getFileName())));
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return threads; // the process ended
        }
        return threads;
    }

    /** Paths below {@code /dev} that it has open or mapped. */
    public List<String> devices(int pid) {
        List<String> devices = new ArrayList<>();
        try (DirectoryStream<Path> open = Files.newDirectoryStream(of(pid).resolve("fd"))) {
            for (Path fd : open) {
                target(fd).ifPresent(path -> add(devices, path));
            }
        } catch (IOException | DirectoryIteratorException e) {
            devices.clear(); // the process ended, or is another user's
        }
        text(pid, "maps", LONGEST_ENVIRON)
                .ifPresent(maps -> maps.lines()
                        .filter(line -> line.indexOf('/') > 0)
                        .forEach(line -> add(devices, line.substring(line.indexOf('/')))));
        return devices;
    }

    /** Of what kind an open descriptor of the process is: a file, a socket, a pipe, a device; no name of it is told. */
    public Optional<String> descriptor(int pid, int descriptor) {
        return target(of(pid).resolve("fd").resolve(Integer.toString(descriptor)))
                .map(NodeProcesses::kind);
    }

    private static String kind(String target) {
        if (target.startsWith("socket:")) {
            return "a socket";
        }
        if (target.startsWith("pipe:")) {
            return "a pipe";
        }
        return target.startsWith("/dev/") ? "a device" : target.startsWith("/") ? "a file" : "something else";
    }

    /** Where a path of the process is, seen from here: it may live in a container. */
    public Path seenBy(int pid, String path) {
        return of(pid).resolve("root").resolve(path.replaceFirst("^/+", ""));
    }

    private static Optional<String> target(Path fd) {
        try {
            return Optional.of(Files.readSymbolicLink(fd).toString());
        } catch (IOException e) {
            return Optional.empty(); // closed since
        }
    }

    private static void add(List<String> devices, String path) {
        if (path.startsWith("/dev/") && !devices.contains(path)) {
            devices.add(path);
        }
    }

    private Path of(int pid) {
        return proc.resolve(Integer.toString(pid));
    }
}

package dev.unhang.healer.actuator.nic;

import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Ran;
import dev.unhang.healer.actuator.repair.SavedFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Starts the script that watches a bounce, out of our reach: with systemd as a unit of its own, since a service's processes
 * are killed with it; else in a session of its own. On the worker's thread.
 */
final class Watchdog {

    private static final String SCRIPT = "nic-bounce-watchdog.sh";
    private static final Duration START = Duration.ofSeconds(10);
    private static final Duration READY = Duration.ofSeconds(5);
    private static final Duration LOOK = Duration.ofMillis(50);

    private final Programs programs;
    private final Path folder;
    private final Path proc;
    private final boolean systemd;

    Watchdog(Programs programs, Path folder, Path proc, boolean systemd) {
        this.programs = programs;
        this.folder = folder;
        this.proc = proc;
        this.systemd = systemd;
    }

    /** Returns once it watches; throws when it does not. */
    void start(String command, List<PutBack.Step> steps) throws IOException {
        for (String mark : List.of(WatchdogScript.READY, WatchdogScript.UP, WatchdogScript.RESTORED)) {
            Files.deleteIfExists(folder.resolve(mark));
        }
        long pid = ProcessHandle.current().pid();
        Path script = folder.resolve(SCRIPT);
        SavedFile.write(script, WatchdogScript.of(folder.toAbsolutePath(), command, pid, startTicks(pid), steps));
        String shown = script.toAbsolutePath().toString();
        Ran ran = new Ran(-1, "", "", Ran.Ending.NOT_STARTED);
        if (systemd) {
            ran = programs.run(START, List.of("systemd-run", "--quiet", "--collect", "/bin/sh", shown));
            if (ran.ok() && watches()) {
                return;
            }
        }
        // The outer shell ends at once, so the script is nobody's child and holds none of our pipes.
        ran = programs.run(
                START, List.of("/bin/sh", "-c", "setsid /bin/sh \"$0\" </dev/null >/dev/null 2>&1 &", shown));
        if (!ran.ok() || !watches()) {
            throw new IOException("the watchdog did not start, " + ran.why());
        }
    }

    /** Whether it still runs. */
    boolean isAlive() {
        try {
            String pid = Files.readString(folder.resolve(WatchdogScript.READY)).strip();
            return Files.readString(proc.resolve(pid).resolve("cmdline")).contains(SCRIPT);
        } catch (IOException e) {
            return false;
        }
    }

    void portIsUp() throws IOException {
        SavedFile.write(folder.resolve(WatchdogScript.UP), "");
    }

    private boolean watches() {
        long end = programs.nanos() + READY.toNanos();
        while (!isAlive()) {
            if (programs.nanos() - end > 0) {
                return false;
            }
            programs.pause(LOOK);
        }
        return true;
    }

    /** Seconds since boot at which it had put all back, or -1. */
    static long restoredAt(Path folder) {
        try {
            return Long.parseLong(
                    Files.readString(folder.resolve(WatchdogScript.RESTORED)).strip());
        } catch (IOException | NumberFormatException e) {
            return -1;
        }
    }

    private String startTicks(long pid) throws IOException {
        String stat = Files.readString(proc.resolve(Long.toString(pid)).resolve("stat"));
        return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[19];
    }
}

package dev.unhang.collector.source.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A tree in the shape of {@code /proc}, with lines as a real kernel writes them. */
final class FakeProc {

    final Path root;

    FakeProc(Path root) {
        this.root = root;
        link(root.resolve("self/ns/pid"), "pid:[4026531836]");
    }

    /** A process of one thread, 100 ticks of CPU and a start time of ten times its pid. */
    FakeProc process(int pid, int parent, String comm, String... environ) {
        return started(pid, parent, comm, pid * 10L, environ);
    }

    FakeProc started(int pid, int parent, String comm, long startTicks, String... environ) {
        stat(pid, parent, comm, 'S', startTicks, 140_000_000_000L + pid);
        write(path(pid, "environ"), environ.length == 0 ? "" : String.join("\0", environ) + "\0");
        write(path(pid, "io"), "rchar: 4096\nwchar: 2048\nsyscr: 1\nsyscw: 1\nread_bytes: 0\nwrite_bytes: 0\n");
        write(path(pid, "status"), "Name:\t" + comm + "\nTracerPid:\t0\nNSpid:\t" + pid + "\n");
        write(path(pid, "cgroup"), "0::/user.slice\n");
        link(path(pid, "ns/net"), "net:[4026531840]");
        link(path(pid, "ns/pid"), "pid:[4026531836]");
        return this;
    }

    void stat(int pid, int parent, String comm, char state, long startTicks, long environAt) {
        String text =
                pid + " (" + comm + ") " + state + " " + parent + " " + pid + " 77 0 -1 4194304 100 0 0 0 60 40 7 8"
                        + " 20 0 1 0 " + startTicks
                        + " 2772992 378 18446744073709551615 94 94 140 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0"
                        + " 94 94 94 140 140 " + environAt + " 141 0";
        write(path(pid, "stat"), text);
        write(path(pid, "task/" + pid + "/stat"), text);
    }

    void thread(int pid, int thread, char state) {
        write(
                path(pid, "task/" + thread + "/stat"),
                thread + " (pt_data_pin) " + state
                        + " 1 1 77 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0"
                        + " 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
    }

    void end(int pid) {
        try (Stream<Path> all = Files.walk(root.resolve(Integer.toString(pid)))) {
            List<Path> deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
            for (Path each : deepestFirst) {
                Files.delete(each);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Path path(int pid, String file) {
        return root.resolve(Integer.toString(pid)).resolve(file);
    }

    static void write(Path file, String text) {
        try {
            Files.createDirectories(file.getParent());
            Files.write(file, text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void link(Path link, String target) {
        try {
            Files.createDirectories(link.getParent());
            Files.deleteIfExists(link);
            Files.createSymbolicLink(link, Path.of(target));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

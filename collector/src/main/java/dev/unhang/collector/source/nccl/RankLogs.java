package dev.unhang.collector.source.nccl;

import dev.unhang.collector.source.file.SmallFile;
import dev.unhang.collector.source.process.Environ;
import dev.unhang.collector.source.process.InnerPid;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where one rank's log can be without asking its user: what {@code NCCL_DEBUG_FILE} of its environment names, and its
 * standard error and output where they are files. The name of the file stays on the node, as all of the environment that
 * {@link Environ#NAMED} does not list.
 *
 * @param innerPid as the process knows itself, and NCCL writes it
 * @param hosts names by which NCCL may call this node in its lines, without a domain
 */
record RankLogs(RankProcess process, int innerPid, Set<String> hosts, List<Place> places) {

    private static final String DEBUG_FILE = "NCCL_DEBUG_FILE";
    private static final int LONGEST_PATH = 4096;

    /**
     * @param words for people, without the path
     * @param begunByNccl NCCL creates the file anew, so one that appears later is all news
     */
    record Place(Path path, String words, boolean begunByNccl) {}

    RankLogs {
        hosts = Set.copyOf(hosts);
        places = List.copyOf(places);
    }

    /** Reads once what does not change while the process lives. */
    static RankLogs of(Path proc, RankProcess process) {
        Path own = proc.resolve(Integer.toString(process.pid()));
        int inner = InnerPid.of(SmallFile.read(own.resolve("status")).or(""));
        Set<String> hosts = new LinkedHashSet<>();
        for (Path name : List.of(own.resolve("root/etc/hostname"), proc.resolve("sys/kernel/hostname"))) {
            String host = SmallFile.read(name).or("");
            int dot = host.indexOf('.');
            hosts.add(dot < 0 ? host : host.substring(0, dot));
        }
        hosts.remove("");
        int pid = inner == 0 ? process.pid() : inner;
        List<Place> places = new ArrayList<>();
        places.add(new Place(own.resolve("fd/2"), "standard error", false));
        places.add(new Place(own.resolve("fd/1"), "standard output", false));
        String pattern = debugFile(own.resolve("environ"));
        Set<String> names = new LinkedHashSet<>();
        if (!pattern.contains("%h")) {
            names.add(expand(pattern, "", pid));
        }
        hosts.stream().map(host -> expand(pattern, host, pid)).forEach(names::add);
        for (String name : names) {
            Path path = inside(own, name);
            if (path != null) {
                places.add(new Place(path, DEBUG_FILE, true));
            }
        }
        return new RankLogs(process, pid, hosts, places);
    }

    /** Whether a line of this speaker is of this rank. */
    boolean said(Speaker speaker) {
        return speaker.rank() >= 0
                ? speaker.rank() == process.rank()
                : speaker.pid() == innerPid && (hosts.isEmpty() || hosts.contains(speaker.host()));
    }

    /** As NCCL does it (debug.cc): %h the host name up to its first dot, %p the pid, %% a percent sign. */
    static String expand(String pattern, String host, int pid) {
        StringBuilder name = new StringBuilder();
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            char next = c == '%' && i + 1 < pattern.length() ? pattern.charAt(++i) : 0;
            switch (next) {
                case 0 -> name.append(c);
                case '%' -> name.append('%');
                case 'h' -> name.append(host);
                case 'p' -> name.append(pid);
                default -> name.append('%').append(next);
            }
        }
        return name.toString();
    }

    /** The path as the process sees it; null for devices and the like, and where there is none. */
    private static @Nullable Path inside(Path own, String name) {
        if (name.isEmpty() || name.equals("stdout") || name.equals("stderr")) {
            return null;
        }
        try {
            Path path = Path.of(name).normalize();
            if (!path.isAbsolute()) {
                return own.resolve("cwd").resolve(path);
            }
            boolean kernel = path.startsWith("/dev") || path.startsWith("/proc") || path.startsWith("/sys");
            return kernel && !path.startsWith("/dev/shm")
                    ? null
                    : own.resolve("root").resolve(Path.of("/").relativize(path));
        } catch (InvalidPathException e) {
            return null;
        }
    }

    private static String debugFile(Path environ) {
        try (InputStream in = new FileInputStream(environ.toFile())) {
            Map<String, String> found = Environ.read(in, Set.of(DEBUG_FILE), LONGEST_PATH);
            return found.getOrDefault(DEBUG_FILE, "");
        } catch (IOException e) {
            return ""; // gone, or forbidden: the source of processes tells that
        }
    }
}

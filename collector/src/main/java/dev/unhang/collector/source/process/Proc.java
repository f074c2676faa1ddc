package dev.unhang.collector.source.process;

import dev.unhang.collector.source.file.SmallFile;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads files below {@code /proc}. Only reads; the meaning is worked out elsewhere. */
final class Proc {

    private final Path root;

    Proc(Path root) {
        this.root = root;
    }

    /** The pids of all processes, in no order. */
    int[] pids() throws IOException {
        String[] names = root.toFile().list();
        if (names == null) {
            throw new IOException(root + " cannot be listed: is /proc mounted?");
        }
        int[] pids = new int[names.length];
        int count = 0;
        for (String name : names) {
            if (name.length() <= 9 && name.chars().allMatch(c -> c >= '0' && c <= '9')) {
                pids[count++] = Integer.parseInt(name);
            }
        }
        return Arrays.copyOf(pids, count);
    }

    /** Null where the process is gone. */
    @Nullable
    ProcStat stat(int pid) {
        String text = file(pid, "stat").text();
        return text == null ? null : ProcStat.parse(text);
    }

    SmallFile file(int pid, String name) {
        return SmallFile.read(path(pid, name));
    }

    /** The named variables only. Throws where the block may not be read. */
    Map<String, String> environ(int pid) throws IOException {
        try (InputStream in = new FileInputStream(path(pid, "environ").toFile())) {
            return Environ.read(in);
        }
    }

    /** The inode of a namespace, as {@code 4026531836}; empty where it cannot be read. */
    String namespace(int pid, String kind) {
        try {
            String link = Files.readSymbolicLink(path(pid, "ns/" + kind)).toString();
            int open = link.indexOf('[');
            return open < 0 || !link.endsWith("]") ? "" : link.substring(open + 1, link.length() - 1);
        } catch (IOException | UnsupportedOperationException e) {
            return "";
        }
    }

    String ownNamespace(String kind) {
        try {
            String link = Files.readSymbolicLink(root.resolve("self/ns").resolve(kind))
                    .toString();
            return link.substring(link.indexOf('[') + 1).replace("]", "");
        } catch (IOException | UnsupportedOperationException e) {
            return "";
        }
    }

    /** Names of the threads' directories; empty where the process is gone. */
    String[] threads(int pid) {
        String[] names = path(pid, "task").toFile().list();
        return names == null ? new String[0] : names;
    }

    private Path path(int pid, String name) {
        return root.resolve(Integer.toString(pid)).resolve(name);
    }
}

package dev.unhang.collector.sample;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.NodeInventory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.UUID;

/** What a node is, apart from its devices. {@code root} is {@code /} but for tests. Read once, by the starting thread. */
public final class HostFacts {

    private final Path root;

    public HostFacts(Path root) {
        this.root = root;
    }

    /** 16 bytes; the start fails without it, since no counter could be trusted across a boot. */
    public ByteString bootId() throws IOException {
        return parseBootId(Files.readString(root.resolve("proc/sys/kernel/random/boot_id")));
    }

    /** A hash, so that the machine's own id stays on the node; empty where the file is missing, as in containers. */
    public ByteString machineId() {
        String id = text("etc/machine-id");
        return id.isEmpty() ? ByteString.EMPTY : hash("unhang-machine-id\0" + id);
    }

    public String hostname() {
        return text("proc/sys/kernel/hostname");
    }

    /** Host name, kernel, operating system, processors and memory. */
    public NodeInventory inventory() {
        return NodeInventory.newBuilder()
                .setHostname(hostname())
                .setKernel(text("proc/sys/kernel/osrelease"))
                .setOs(parseOs(text("etc/os-release")))
                .setCpus(Runtime.getRuntime().availableProcessors())
                .setMemoryMib(parseMemoryMib(text("proc/meminfo")))
                .build();
    }

    static ByteString parseBootId(String text) throws IOException {
        try {
            UUID id = UUID.fromString(text.strip());
            ByteBuffer bytes = ByteBuffer.allocate(16);
            bytes.putLong(id.getMostSignificantBits())
                    .putLong(id.getLeastSignificantBits())
                    .flip();
            return ByteString.copyFrom(bytes);
        } catch (IllegalArgumentException e) {
            throw new IOException("the kernel's boot_id is not a UUID: '" + text.strip() + "'", e);
        }
    }

    static String parseOs(String osRelease) {
        return osRelease
                .lines()
                .filter(line -> line.startsWith("PRETTY_NAME="))
                .map(line -> line.substring("PRETTY_NAME=".length())
                        .replace("\"", "")
                        .strip())
                .findFirst()
                .orElse("");
    }

    static long parseMemoryMib(String meminfo) {
        return meminfo.lines()
                .filter(line -> line.matches("MemTotal:\\s+\\d+ kB"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
                .findFirst()
                .orElse(0);
    }

    /** The first 16 bytes of SHA-256. */
    static ByteString hash(String text) {
        return hash(text.getBytes(StandardCharsets.UTF_8));
    }

    static ByteString hash(byte[] bytes) {
        try {
            byte[] whole = MessageDigest.getInstance("SHA-256").digest(bytes);
            return ByteString.copyFrom(Arrays.copyOf(whole, 16));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private String text(String path) {
        try {
            return Files.readString(root.resolve(path)).strip();
        } catch (IOException e) {
            return "";
        }
    }
}

package dev.unhang.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A healer in a process of its own, that a test can kill. Confined to the test's thread. */
final class HealerProcess implements AutoCloseable {

    private final String id;
    private final Path folder;
    private final String brokers;
    private @Nullable Process process;

    HealerProcess(String id, Path folder, String brokers) {
        this.id = id;
        this.folder = folder;
        this.brokers = brokers;
    }

    String id() {
        return id;
    }

    void start() throws IOException {
        Path config = folder.resolve(id + ".yaml");
        Files.writeString(config, """
                healer:
                  id: %s
                kafka:
                  bootstrap-servers: %s
                http:
                  port: 0
                  token-file: %s
                """.formatted(id, brokers, token()));
        process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "dev.unhang.healer.Main",
                        "healer",
                        "--config",
                        config.toString()))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        Path.of("target", "takeover-" + id + ".log").toFile()))
                .start();
    }

    boolean runs() {
        return process != null && process.isAlive();
    }

    /** SIGKILL. */
    void kill() throws InterruptedException {
        if (process != null) {
            process.destroyForcibly().waitFor();
        }
    }

    @Override
    public void close() {
        if (process != null) {
            process.destroy();
            try {
                if (!process.waitFor(20, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
            } catch (InterruptedException e) {
                process.destroyForcibly();
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Nobody asks this healer over HTTP, but it has no HTTP without a token. */
    private Path token() throws IOException {
        Path token = folder.resolve(id + ".token");
        if (!Files.exists(token)) {
            Files.createFile(token, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(token, "0123456789abcdef0123456789abcdef");
        }
        return token;
    }
}

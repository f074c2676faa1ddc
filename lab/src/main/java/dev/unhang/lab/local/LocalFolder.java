package dev.unhang.lab.local;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;

/**
 * The files of the one-machine cluster: the log's data, the settings of both daemons, the healer's token, and the file
 * by which the command line finds this healer. All of them are the user's own (mode 0600, folders 0700). One process
 * holds the folder at a time.
 */
final class LocalFolder implements AutoCloseable {

    private static final int TOKEN_BYTES = 32;
    private static final FileAttribute<Set<PosixFilePermission>> OWN_FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final FileAttribute<Set<PosixFilePermission>> OWN_FOLDER =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private final Path folder;
    private final Path client;
    private final FileChannel lock;

    private LocalFolder(Path folder, Path client, FileChannel lock) {
        this.folder = folder;
        this.client = client;
        this.lock = lock;
    }

    /** {@code $XDG_STATE_HOME/unhang}, else {@code ~/.local/state/unhang}. */
    static Path state(Map<String, String> environment) {
        String state = environment.getOrDefault("XDG_STATE_HOME", "");
        Path base = state.isEmpty()
                ? Path.of(environment.getOrDefault("HOME", System.getProperty("user.home", ".")), ".local", "state")
                : Path.of(state);
        return base.resolve("unhang").toAbsolutePath();
    }

    /**
     * Opens the folder, creating what is missing.
     *
     * @param state where the command line looks for the healer
     * @throws IOException also when another `unhang local` holds the folder
     */
    static LocalFolder open(Path folder, Path state) throws IOException {
        Files.createDirectories(folder.getParent());
        for (Path needed : new Path[] {state, folder}) {
            if (!Files.isDirectory(needed)) {
                Files.createDirectories(needed, OWN_FOLDER);
            }
        }
        FileChannel channel = FileChannel.open(
                folder.resolve("lock"), Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), OWN_FILE);
        try {
            FileLock held = channel.tryLock();
            if (held == null) {
                throw new OverlappingFileLockException();
            }
        } catch (OverlappingFileLockException e) {
            channel.close();
            throw new IOException(
                    "another `unhang local` runs on " + folder + ": stop it, or give this one its own --data", e);
        }
        return new LocalFolder(folder, state.resolve("client.properties"), channel);
    }

    Path brokerData() {
        return folder.resolve("kafka");
    }

    Path collectorConfig() {
        return folder.resolve("collector.yaml");
    }

    Path healerConfig() {
        return folder.resolve("healer.yaml");
    }

    /** The healer's bearer token; made once, kept over restarts. */
    String token() throws IOException {
        Path file = tokenFile();
        if (Files.exists(file)) {
            String token = Files.readString(file, StandardCharsets.UTF_8).strip();
            if (!token.isEmpty()) {
                return token;
            }
        }
        byte[] random = new byte[TOKEN_BYTES];
        new SecureRandom().nextBytes(random);
        String token = HexFormat.of().formatHex(random);
        write(file, token + "\n");
        return token;
    }

    /** Writes both daemons' settings and the file by which the command line finds the healer. */
    void writeSettings(LocalPorts ports) throws IOException {
        write(collectorConfig(), """
                # Written by `unhang local` at each start.
                kafka:
                  bootstrap-servers: %1$s:%2$d
                heartbeat:
                  listen: %1$s:%3$d
                serve:
                  listen: %1$s:%4$d
                  socket: %5$s
                """.formatted(
                        LocalPorts.HOST,
                        ports.broker(),
                        ports.heartbeats(),
                        ports.metrics(),
                        quoted(folder.resolve("collector.sock"))));
        write(healerConfig(), """
                # Written by `unhang local` at each start.
                kafka:
                  bootstrap-servers: %1$s:%2$d
                http:
                  host: %1$s
                  port: %3$d
                  token-file: %4$s
                """.formatted(LocalPorts.HOST, ports.broker(), ports.healer(), quoted(tokenFile())));
        write(
                client,
                "# Written by `unhang local`; the command line finds its healer by it.\n"
                        + "url=http://" + LocalPorts.HOST + ":" + ports.healer() + "\n"
                        + "token-file=" + tokenFile().toString().replace("\\", "\\\\") + "\n");
    }

    @Override
    public void close() {
        try {
            lock.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path tokenFile() {
        return folder.resolve("token");
    }

    /** A YAML text, whatever is in the path. */
    private static String quoted(Path path) {
        return "'" + path.toString().replace("'", "''") + "'";
    }

    /** Whole or not at all, and never readable by others. */
    private static void write(Path file, String text) throws IOException {
        Path fresh = Files.createTempFile(file.toAbsolutePath().getParent(), ".new-", "", OWN_FILE);
        Files.writeString(fresh, text, StandardCharsets.UTF_8);
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}

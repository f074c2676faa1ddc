package dev.unhang.collector.source.libc;

import com.sun.jna.LastErrorException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A regular file of somebody else, open for reading. A pipe, a terminal or a device is never read, and never waited for:
 * Java's own open waits for a writer when a pipe lies where a file was a moment ago. Confined to one thread.
 */
public final class RegularFile implements AutoCloseable {

    private static final int ENOENT = 2;
    private static final int EACCES = 13;
    private static final int EPERM = 1;

    private final FileChannel channel;

    private RegularFile(FileChannel channel) {
        this.channel = channel;
    }

    /** Device and inode of what lies at the path, links followed; null where it is no regular file, or none at all. */
    public static @Nullable Object identity(Path path) {
        try {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
            return attributes.isRegularFile() ? attributes.fileKey() : null;
        } catch (IOException e) {
            return null;
        }
    }

    /** Throws where it may not be read, is gone, or is no longer what had that identity. */
    public static RegularFile open(Path path, Object identity) throws IOException {
        int fd;
        try {
            fd = LibC.get().open(path.toString(), LibC.O_NONBLOCK | LibC.O_NOCTTY | LibC.O_CLOEXEC);
        } catch (LastErrorException e) {
            throw switch (e.getErrorCode()) {
                case ENOENT -> new NoSuchFileException(path.toString());
                case EACCES, EPERM -> new AccessDeniedException(path.toString());
                default -> new IOException(path + ": errno " + e.getErrorCode(), e);
            };
        } catch (UnsatisfiedLinkError e) {
            throw new IOException("the C library could not be loaded: " + e.getMessage(), e);
        }
        try {
            Path own = Path.of("/proc/self/fd/" + fd);
            if (!Objects.equals(identity(own), identity)) {
                throw new IOException(path + " was replaced while it was opened");
            }
            return new RegularFile(FileChannel.open(own, StandardOpenOption.READ));
        } finally {
            close(fd);
        }
    }

    public long size() throws IOException {
        return channel.size();
    }

    /** As many bytes as there are from there on, at most what the buffer takes; -1 at the end. */
    public int read(byte[] buffer, int length, long position) throws IOException {
        return channel.read(ByteBuffer.wrap(buffer, 0, length), position);
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            return; // only read from: nothing is lost
        }
    }

    private static void close(int fd) {
        try {
            LibC.get().close(fd);
        } catch (LastErrorException e) {
            return; // it is closed all the same (close(2))
        }
    }
}

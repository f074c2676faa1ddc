package dev.unhang.collector.source.libc;

import com.sun.jna.LastErrorException;
import com.sun.jna.NativeLong;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * {@code /dev/kmsg}, opened at its end and without blocking (Documentation/ABI/testing/dev-kmsg). Java's own streams
 * cannot seek to its end and give no errno, and here errno is the message. Confined to one thread.
 */
public final class KernelLog implements AutoCloseable {

    /** No record is there now. */
    public static final int NOTHING = -1;

    /** Records were overwritten before we read them; the next read goes on with the oldest that is left. */
    public static final int OVERWRITTEN = -2;

    /** The next record is longer than the buffer. */
    public static final int TOO_LONG = -3;

    private static final int EPERM = 1;
    private static final int ENOENT = 2;
    private static final int EINTR = 4;
    private static final int EAGAIN = 11;
    private static final int EACCES = 13;
    private static final int EINVAL = 22;
    private static final int EPIPE = 32;

    private final int fd;

    private KernelLog(int fd) {
        this.fd = fd;
    }

    /** Only what is logged from now on is read. */
    public static KernelLog openAtEnd(Path device) throws IOException {
        try {
            LibC libc = LibC.get();
            int fd = libc.open(device.toString(), LibC.O_NONBLOCK | LibC.O_CLOEXEC);
            libc.lseek(fd, new NativeLong(0), LibC.SEEK_END);
            return new KernelLog(fd);
        } catch (LastErrorException e) {
            throw switch (e.getErrorCode()) {
                case ENOENT -> new NoSuchFileException(device.toString());
                case EACCES, EPERM ->
                    new AccessDeniedException(device.toString(), null, "the kernel log needs root, or CAP_SYSLOG");
                default -> new IOException(device + ": errno " + e.getErrorCode(), e);
            };
        } catch (UnsatisfiedLinkError e) {
            throw new IOException("the C library could not be loaded: " + e.getMessage(), e);
        }
    }

    /** The length of one record, or one of the constants above. */
    public int read(byte[] buffer) throws IOException {
        try {
            return LibC.get().read(fd, buffer, new NativeLong(buffer.length)).intValue();
        } catch (LastErrorException e) {
            return switch (e.getErrorCode()) {
                case EAGAIN, EINTR -> NOTHING;
                case EPIPE -> OVERWRITTEN;
                case EINVAL -> TOO_LONG;
                default -> throw new IOException("the kernel log: errno " + e.getErrorCode(), e);
            };
        }
    }

    @Override
    public void close() {
        try {
            LibC.get().close(fd);
        } catch (LastErrorException e) {
            return; // it is closed all the same (close(2))
        }
    }
}

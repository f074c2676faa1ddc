package dev.unhang.collector.source.libc;

import com.sun.jna.LastErrorException;
import com.sun.jna.NativeLong;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;

/**
 * A connected datagram socket of the Unix kind, which Java 17 does not have. It binds a path of its own, for a daemon
 * can answer only to a socket that has a name. Confined to one thread.
 */
public final class UnixDatagrams implements AutoCloseable {

    private static final int EACCES = 13;
    private static final int EAGAIN = 11;
    private static final int ENOENT = 2;
    private static final int ECONNREFUSED = 111;
    private static final int PATH_MAX = 107;

    private final Path own;
    private final int fd;

    private UnixDatagrams(Path own, int fd) {
        this.own = own;
        this.fd = fd;
    }

    /** Missing peers are NoSuchFileException, forbidden ones AccessDeniedException. */
    public static UnixDatagrams connect(Path peer, Path own, Duration timeout) throws IOException {
        if (!Files.exists(peer)) {
            throw new NoSuchFileException(peer.toString());
        }
        LibC libc = LibC.get();
        try {
            Files.deleteIfExists(own);
            UnixDatagrams socket = new UnixDatagrams(own, libc.socket(LibC.AF_UNIX, LibC.SOCK_DGRAM_CLOEXEC, 0));
            try {
                byte[] name = address(own);
                libc.bind(socket.fd, name, name.length);
                // chronyd runs as another user and must be able to write to us.
                libc.chmod(own.toString(), 0666);
                byte[] remote = address(peer);
                libc.connect(socket.fd, remote, remote.length);
                ByteBuffer timeval = ByteBuffer.allocate(16).order(ByteOrder.nativeOrder());
                timeval.putLong(timeout.toSeconds()).putLong(timeout.toNanosPart() / 1000);
                libc.setsockopt(socket.fd, LibC.SOL_SOCKET, LibC.SO_RCVTIMEO, timeval.array(), 16);
                return socket;
            } catch (LastErrorException e) {
                socket.close();
                throw e;
            }
        } catch (LastErrorException e) {
            throw told(peer, e);
        }
    }

    public void send(byte[] bytes) throws IOException {
        try {
            LibC.get().send(fd, bytes, new NativeLong(bytes.length), 0);
        } catch (LastErrorException e) {
            throw told(own, e);
        }
    }

    /** Throws SocketTimeoutException where nothing comes in time. */
    public byte[] receive() throws IOException {
        byte[] buffer = new byte[2048];
        try {
            int length = LibC.get()
                    .recv(fd, buffer, new NativeLong(buffer.length), 0)
                    .intValue();
            return Arrays.copyOf(buffer, length);
        } catch (LastErrorException e) {
            throw told(own, e);
        }
    }

    @Override
    public void close() {
        try {
            LibC.get().close(fd);
            Files.deleteIfExists(own);
        } catch (LastErrorException | IOException e) {
            // The socket is gone either way; a stale name is removed at the next connect.
            return;
        }
    }

    private static byte[] address(Path path) throws IOException {
        byte[] name = path.toString().getBytes(StandardCharsets.UTF_8);
        if (name.length > PATH_MAX) {
            throw new IOException("a socket's path may have " + PATH_MAX + " bytes: " + path);
        }
        ByteBuffer address = ByteBuffer.allocate(2 + name.length + 1).order(ByteOrder.nativeOrder());
        return address.putShort((short) LibC.AF_UNIX).put(name).array();
    }

    private static IOException told(Path path, LastErrorException e) {
        return switch (e.getErrorCode()) {
            case ENOENT, ECONNREFUSED -> new NoSuchFileException(path.toString(), null, "nobody listens there");
            case EACCES -> new AccessDeniedException(path.toString());
            case EAGAIN -> new SocketTimeoutException("no answer at " + path);
            default -> new IOException(path + ": errno " + e.getErrorCode(), e);
        };
    }
}

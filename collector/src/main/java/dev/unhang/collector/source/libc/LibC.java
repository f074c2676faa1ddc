package dev.unhang.collector.source.libc;

import com.sun.jna.LastErrorException;
import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLong;

/** The functions, spelled as in the manual (sections 2 and 3). Constants are those of Linux on x86-64 and aarch64. */
interface LibC extends Library {

    int O_NONBLOCK = 0x800;
    int O_NOCTTY = 0x100;
    int O_CLOEXEC = 0x80000;
    int SEEK_END = 2;
    int AF_UNIX = 1;
    int SOCK_DGRAM_CLOEXEC = 2 | 0x80000;
    int SOL_SOCKET = 1;
    int SO_RCVTIMEO = 20;

    int open(String path, int flags) throws LastErrorException;

    NativeLong lseek(int fd, NativeLong offset, int whence) throws LastErrorException;

    NativeLong read(int fd, byte[] buffer, NativeLong count) throws LastErrorException;

    int close(int fd) throws LastErrorException;

    int socket(int domain, int type, int protocol) throws LastErrorException;

    int bind(int fd, byte[] address, int length) throws LastErrorException;

    int connect(int fd, byte[] address, int length) throws LastErrorException;

    int setsockopt(int fd, int level, int option, byte[] value, int length) throws LastErrorException;

    NativeLong send(int fd, byte[] buffer, NativeLong length, int flags) throws LastErrorException;

    NativeLong recv(int fd, byte[] buffer, NativeLong length, int flags) throws LastErrorException;

    int chmod(String path, int mode) throws LastErrorException;

    int adjtimex(Memory timex) throws LastErrorException;

    /** Loads the library at its first use. */
    static LibC get() {
        return Loaded.LIBC;
    }

    /** Holds the one instance. */
    final class Loaded {
        private static final LibC LIBC = Native.load("c", LibC.class);

        private Loaded() {}
    }
}

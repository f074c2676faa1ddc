package dev.unhang.collector.source.kernel;

import dev.unhang.collector.source.libc.KernelLog;
import java.io.IOException;
import java.nio.file.Path;

/** The device from which records are read, one a call, without blocking. */
public interface LogDevice extends AutoCloseable {

    /** The length of the record now in the buffer, or a constant of {@link KernelLog}. */
    int read(byte[] buffer) throws IOException;

    @Override
    void close();

    /** Opens the device; again after a failure. */
    @FunctionalInterface
    interface Opener {
        LogDevice open() throws IOException;
    }

    /** The device of this machine, at its end. */
    static Opener at(Path device) {
        return () -> {
            KernelLog log = KernelLog.openAtEnd(device);
            return new LogDevice() {
                @Override
                public int read(byte[] buffer) throws IOException {
                    return log.read(buffer);
                }

                @Override
                public void close() {
                    log.close();
                }
            };
        };
    }
}

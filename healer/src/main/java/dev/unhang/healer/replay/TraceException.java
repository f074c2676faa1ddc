package dev.unhang.healer.replay;

import java.io.IOException;
import java.nio.file.Path;

/** A trace that cannot be read: which file, which line, and why. */
public final class TraceException extends IOException {

    private static final long serialVersionUID = 1;

    /** {@code line} 0: the file as a whole. */
    TraceException(Path file, int line, String reason) {
        super(file + (line > 0 ? ", line " + line : "") + ": " + reason);
    }
}

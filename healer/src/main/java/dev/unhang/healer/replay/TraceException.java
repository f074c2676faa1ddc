package dev.unhang.healer.replay;

import java.io.IOException;
import java.nio.file.Path;

/** A trace that cannot be read: which file, which line, and why. */
public final class TraceException extends IOException {

    private static final long serialVersionUID = 1;

    TraceException(Path file, int line, String reason) {
        super(file + ", line " + line + ": " + reason);
    }
}

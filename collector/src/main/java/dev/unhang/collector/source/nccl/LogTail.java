package dev.unhang.collector.source.nccl;

import dev.unhang.collector.source.libc.RegularFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * The end of one growing log. Gives whole lines of what was written since the last call; a carriage return and a zero byte
 * end a line too. Reads at most 256 KiB a call: where more was written, what lies before is left out, for the latest words
 * are those that tell. A file that became shorter is read from its start. Of a line longer than 4 KiB only its beginning
 * counts. Confined to its worker thread.
 */
final class LogTail implements AutoCloseable {

    static final int MOST_A_CALL = 256 * 1024;
    static final int LONGEST_LINE = 4096;
    private static final int CHUNK = 32 * 1024;

    private final RegularFile file;
    private final byte[] buffer;
    private final StringBuilder partial = new StringBuilder();
    private long position;
    private boolean skipping;
    private long skips;

    private LogTail(RegularFile file, long position, byte[] buffer) {
        this.file = file;
        this.position = position;
        this.buffer = buffer;
    }

    /** @param buffer may be shared by all tails of one thread */
    static LogTail fromStart(RegularFile file, byte[] buffer) {
        return new LogTail(file, 0, buffer);
    }

    /** Only what is written from now on; a line that is half written is left out. */
    static LogTail fromEnd(RegularFile file, byte[] buffer) throws IOException {
        LogTail tail = new LogTail(file, file.size(), buffer);
        tail.skipping = tail.position > 0 && !tail.endsLine(tail.position - 1);
        return tail;
    }

    static byte[] newBuffer() {
        return new byte[CHUNK];
    }

    /** How many bytes were read. */
    int drain(Consumer<String> lines) throws IOException {
        long size = file.size();
        if (size < position) {
            position = 0;
            partial.setLength(0);
            skipping = false;
        }
        if (size - position > MOST_A_CALL) {
            position = size - MOST_A_CALL;
            partial.setLength(0);
            skipping = true;
            skips++;
        }
        int total = 0;
        while (position < size) {
            int length = file.read(buffer, (int) Math.min(buffer.length, size - position), position);
            if (length <= 0) {
                break;
            }
            position += length;
            total += length;
            split(new String(buffer, 0, length, StandardCharsets.ISO_8859_1), lines);
        }
        return total;
    }

    /** How often something was left out. */
    long skips() {
        return skips;
    }

    @Override
    public void close() {
        file.close();
    }

    private boolean endsLine(long at) throws IOException {
        byte[] one = new byte[1];
        return file.read(one, 1, at) == 1 && ends((char) one[0]);
    }

    private void split(String text, Consumer<String> lines) {
        int from = 0;
        for (int i = 0; i < text.length(); i++) {
            if (ends(text.charAt(i))) {
                keep(text, from, i);
                if (!skipping && partial.length() > 0) {
                    lines.accept(partial.toString());
                }
                partial.setLength(0);
                skipping = false;
                from = i + 1;
            }
        }
        keep(text, from, text.length());
    }

    private void keep(String text, int from, int to) {
        if (!skipping) {
            partial.append(text, from, Math.min(to, from + LONGEST_LINE - partial.length()));
        }
    }

    private static boolean ends(char c) {
        return c == '\n' || c == '\r' || c == 0;
    }
}

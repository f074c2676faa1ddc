package dev.unhang.collector.source.kernel;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * One record of {@code /dev/kmsg}: {@code prio,seq,usec,flags[,...];text}, then lines of keys and values that begin
 * with a blank and are left out. Pure.
 *
 * @param fromKernel facility 0: what a program writes to the device gets another, and is never believed
 * @param text with {@code \xHH} put back to bytes; may have several lines
 */
record LogRecord(boolean fromKernel, long seq, long usec, String text) {

    private static final int FIRST_OTHER_FACILITY = 8;

    /** No line that we look for is as long; what is longer is cut, so that a monster costs nothing. */
    private static final int LONGEST_TEXT = 4096;

    /** Null where it has not that form. */
    static @Nullable LogRecord parse(byte[] bytes, int length) {
        int semicolon = indexOf(bytes, (byte) ';', length);
        if (semicolon < 0) {
            return null;
        }
        String[] header = new String(bytes, 0, semicolon, StandardCharsets.US_ASCII).split(",", -1);
        if (header.length < 3) {
            return null;
        }
        try {
            return new LogRecord(
                    Long.parseLong(header[0]) < FIRST_OTHER_FACILITY,
                    Long.parseLong(header[1]),
                    Long.parseLong(header[2]),
                    text(bytes, semicolon + 1, length));
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private static String text(byte[] bytes, int from, int length) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        for (int i = from; i < length && bytes[i] != '\n' && text.size() < LONGEST_TEXT; i++) {
            if (bytes[i] == '\\' && i + 3 < length && bytes[i + 1] == 'x') {
                int high = Character.digit(bytes[i + 2], 16);
                int low = Character.digit(bytes[i + 3], 16);
                if (high >= 0 && low >= 0) {
                    text.write(high << 4 | low);
                    i += 3;
                    continue;
                }
            }
            text.write(bytes[i]);
        }
        return text.toString(StandardCharsets.UTF_8);
    }

    private static int indexOf(byte[] bytes, byte wanted, int length) {
        for (int i = 0; i < length; i++) {
            if (bytes[i] == wanted) {
                return i;
            }
        }
        return -1;
    }
}

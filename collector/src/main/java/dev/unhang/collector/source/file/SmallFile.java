package dev.unhang.collector.source.file;

import dev.unhang.events.v1.ReadStatus;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Locale;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What one small kernel file held, or why it could not be read. An error is an answer here and never an exception:
 * {@code carrier} of a device that is down says "Invalid argument", and that is a fact about the device. Reads at most
 * 64 KiB. Immutable.
 *
 * @param text the content without blanks at its ends; null where the read failed
 * @param code errno as far as Java tells it; 0 where it does not
 */
public record SmallFile(@Nullable String text, ReadStatus status, int code) {

    public static final int ENOENT = 2;
    public static final int EACCES = 13;
    public static final int ENODEV = 19;
    public static final int EINVAL = 22;
    public static final int ENOTSUP = 95;

    private static final int MOST = 64 * 1024;
    private static final BigInteger UNSIGNED_64 = BigInteger.ONE.shiftLeft(64);

    /** Reads the file whole. */
    public static SmallFile read(Path file) {
        try (InputStream in = new FileInputStream(file.toFile())) {
            byte[] bytes = in.readNBytes(MOST);
            return new SmallFile(new String(bytes, StandardCharsets.UTF_8).strip(), ReadStatus.READ_STATUS_OK, 0);
        } catch (FileNotFoundException e) {
            // Java tells a missing file and a forbidden one by the same exception and a text of the C library.
            if (says(e, "Permission denied")) {
                return failed(ReadStatus.READ_STATUS_NO_PERMISSION, EACCES);
            }
            return Files.exists(file, LinkOption.NOFOLLOW_LINKS)
                    ? failed(ReadStatus.READ_STATUS_FAILED, 0)
                    : failed(ReadStatus.READ_STATUS_ABSENT, ENOENT);
        } catch (IOException e) {
            if (says(e, "Invalid argument")) {
                return failed(ReadStatus.READ_STATUS_FAILED, EINVAL);
            }
            if (says(e, "not supported")) {
                return failed(ReadStatus.READ_STATUS_NOT_SUPPORTED, ENOTSUP);
            }
            if (says(e, "No such device")) {
                return failed(ReadStatus.READ_STATUS_ABSENT, ENODEV);
            }
            if (says(e, "No such process")) {
                return failed(ReadStatus.READ_STATUS_ABSENT, 3);
            }
            if (says(e, "Permission denied") || says(e, "not permitted")) {
                return failed(ReadStatus.READ_STATUS_NO_PERMISSION, EACCES);
            }
            return failed(ReadStatus.READ_STATUS_FAILED, 0);
        }
    }

    public boolean ok() {
        return text != null;
    }

    /** The text, or what is given where there is none. */
    public String or(String fallback) {
        return text == null ? fallback : text;
    }

    /** An unsigned 64-bit decimal, as its bits; empty where the file holds no such number. */
    public OptionalLong unsigned() {
        return text == null ? OptionalLong.empty() : unsigned(text);
    }

    /** Reads an unsigned 64-bit decimal; empty for anything else. */
    public static OptionalLong unsigned(String text) {
        if (text.isEmpty() || text.length() > 20 || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return OptionalLong.empty();
        }
        if (text.length() < 19) {
            return OptionalLong.of(Long.parseLong(text));
        }
        BigInteger value = new BigInteger(text);
        return value.compareTo(UNSIGNED_64) < 0 ? OptionalLong.of(value.longValue()) : OptionalLong.empty();
    }

    private static SmallFile failed(ReadStatus status, int code) {
        return new SmallFile(null, status, code);
    }

    private static boolean says(IOException e, String words) {
        String message = e.getMessage();
        return message != null && message.toLowerCase(Locale.ROOT).contains(words.toLowerCase(Locale.ROOT));
    }
}

package dev.unhang.collector.source.clock;

import java.nio.ByteBuffer;
import java.time.DateTimeException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * chronyd's answer to "tracking" of its command protocol, version 6 (candm.h of chrony 4.x; all big-endian). Pure.
 *
 * @param correctionSeconds still to be slewed; above 0 the system clock is BEHIND (chronyc says "slow")
 * @param lastOffsetSeconds at the last update; above 0 the clock was AHEAD: the opposite of the field before
 * @param referenceTime of the last update; null where there was none
 */
record Tracking(
        int referenceId,
        int stratum,
        int leap,
        @Nullable Instant referenceTime,
        double correctionSeconds,
        double lastOffsetSeconds,
        double skewPpm,
        double rootDelaySeconds,
        double rootDispersionSeconds) {

    /** Synchronised to nothing but itself. */
    static final int LOCAL_REFERENCE = 0x7F7F0101;

    private static final int VERSION = 6;
    private static final int REQUEST = 1;
    private static final int ANSWER = 2;
    private static final int COMMAND_TRACKING = 33;
    private static final int REPLY_TRACKING = 5;
    private static final int HEADER = 28;
    private static final int LENGTH = 104;
    private static final int NO_TIME = 0x7FFF_FFFF;

    /** chronyd answers something else. {@code status} is its own: 2 unauthorised, 19 bad length, ... */
    static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1L;
        final int status;

        RefusedException(int status, String message) {
            super(message);
            this.status = status;
        }
    }

    /** The request, as long as its answer, for chronyd answers nothing longer than it was asked. */
    static byte[] request(int sequence) {
        ByteBuffer bytes = ByteBuffer.allocate(LENGTH);
        bytes.put((byte) VERSION).put((byte) REQUEST).putShort((short) 0);
        bytes.putShort((short) COMMAND_TRACKING).putShort((short) 0).putInt(sequence);
        return bytes.array();
    }

    /** True where the answer is to this request and not to an earlier one that came late. */
    static boolean answers(byte[] answer, int sequence) {
        return answer.length >= HEADER
                && answer[1] == ANSWER
                && ByteBuffer.wrap(answer).getInt(16) == sequence;
    }

    static Tracking parse(byte[] answer) throws RefusedException {
        ByteBuffer bytes = ByteBuffer.wrap(answer);
        if (answer.length < HEADER || answer[0] != VERSION || answer[1] != ANSWER) {
            throw new RefusedException(-1, "chronyd does not speak version " + VERSION + " of its command protocol");
        }
        int status = bytes.getShort(8);
        if (status != 0) {
            throw new RefusedException(status, "chronyd refused the question with status " + status);
        }
        if (bytes.getShort(6) != REPLY_TRACKING || answer.length < LENGTH) {
            throw new RefusedException(-1, "chronyd sent " + answer.length + " bytes that are no tracking answer");
        }
        bytes.position(HEADER);
        int referenceId = bytes.getInt();
        bytes.position(bytes.position() + 20);
        int stratum = bytes.getShort();
        int leap = bytes.getShort();
        int high = bytes.getInt();
        long low = Integer.toUnsignedLong(bytes.getInt());
        long nanos = Integer.toUnsignedLong(bytes.getInt());
        double correction = real(bytes.getInt());
        double lastOffset = real(bytes.getInt());
        bytes.position(bytes.position() + 12); // RMS offset, frequency, residual frequency
        double skew = real(bytes.getInt());
        double rootDelay = real(bytes.getInt());
        double rootDispersion = real(bytes.getInt());
        return new Tracking(
                referenceId,
                stratum,
                leap,
                time(high, low, nanos),
                correction,
                lastOffset,
                skew,
                rootDelay,
                rootDispersion);
    }

    /** A signed exponent of 7 bits, then a signed coefficient of 25. */
    static double real(int bits) {
        int exponent = bits >> 25;
        int coefficient = (bits << 7) >> 7;
        return Math.scalb((double) coefficient, exponent - 25);
    }

    private static @Nullable Instant time(int high, long low, long nanos) {
        if (high == NO_TIME || (high == 0 && low == 0)) {
            return null;
        }
        try {
            return Instant.ofEpochSecond(((long) high << 32) | low, nanos);
        } catch (DateTimeException e) {
            return null;
        }
    }
}

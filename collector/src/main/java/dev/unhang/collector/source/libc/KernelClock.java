package dev.unhang.collector.source.libc;

import com.sun.jna.LastErrorException;
import com.sun.jna.Memory;
import java.io.IOException;

/**
 * What the kernel itself holds of its clock ({@code adjtimex} with modes 0, which needs no privilege). Its
 * {@code offset} is only the remainder of a correction, so it is left out: it is not the distance to true time.
 *
 * @param synced STA_UNSYNC is not set: some daemon has set the clock within the last 16 s or says so
 * @param maxErrorUs grows by 500 us each second without an update (kernel/time/ntp.c)
 */
public record KernelClock(boolean synced, long maxErrorUs) {

    private static final int SIZE = 208;
    private static final int MAX_ERROR = 24;
    private static final int STATUS = 40;
    private static final int STA_UNSYNC = 0x40;

    public static KernelClock read() throws IOException {
        try (Memory timex = new Memory(SIZE)) {
            timex.clear();
            LibC.get().adjtimex(timex);
            return new KernelClock((timex.getInt(STATUS) & STA_UNSYNC) == 0, timex.getLong(MAX_ERROR));
        } catch (LastErrorException e) {
            throw new IOException("adjtimex: errno " + e.getErrorCode(), e);
        } catch (UnsatisfiedLinkError e) {
            throw new IOException("the C library could not be loaded: " + e.getMessage(), e);
        }
    }
}

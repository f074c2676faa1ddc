package dev.unhang.collector.source.clock;

import dev.unhang.collector.source.Source;
import dev.unhang.collector.source.libc.KernelClock;
import dev.unhang.events.v1.ClockReading;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.ReadStatus;
import java.io.IOException;
import java.net.PortUnreachableException;
import java.net.SocketTimeoutException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;

/**
 * The node's clock against true time. chronyd is asked over UDP or its socket, the addresses in turn until one answers;
 * the kernel is asked as well, so that a clock without chronyd still has a word. {@code offset_ns} above zero means
 * that this node is AHEAD. The true error is at most |offset| + dispersion + delay / 2. Confined to its worker thread.
 */
public final class ClockSource implements Source {

    /** chronyd's own defaults. */
    public static final List<ChronyAddress> ADDRESSES =
            List.of(ChronyAddress.parse("127.0.0.1:323"), ChronyAddress.parse("unix:/run/chrony/chronyd.sock"));

    private static final Duration DEADLINE = Duration.ofSeconds(2);
    private static final int NOT_AUTHORISED = 2;

    /** Reads the kernel's clock state; {@link KernelClock#read} outside of tests. */
    @FunctionalInterface
    public interface Kernel {
        KernelClock read() throws IOException;
    }

    private final List<ChronyClient> clients;
    private final Kernel kernel;
    private final Clock clock;

    public ClockSource(List<ChronyAddress> addresses, Kernel kernel, Clock clock) {
        // Where a request begins is no secret; it only keeps a late answer apart from one of an earlier process.
        int first = (int) clock.millis();
        this.clients =
                addresses.stream().map(each -> new ChronyClient(each, first)).toList();
        this.kernel = kernel;
        this.clock = clock;
    }

    @Override
    public String name() {
        return "clock";
    }

    @Override
    public Duration deadline() {
        return DEADLINE;
    }

    @Override
    public Reading read() {
        ClockReading.Builder reading = ClockReading.newBuilder();
        askChrony(reading);
        try {
            KernelClock kernelClock = kernel.read();
            reading.setKernelSynced(kernelClock.synced()).setKernelMaxerrorUs(kernelClock.maxErrorUs());
        } catch (IOException e) {
            // Both fields stay absent, which says "not read".
            reading.clearKernelSynced().clearKernelMaxerrorUs();
        }
        return Reading.of(NodeSample.newBuilder().setClock(reading).build());
    }

    @Override
    public void close() {}

    /** The first address that answers speaks; where none does, the last trouble that is more than absence. */
    private void askChrony(ClockReading.Builder reading) {
        ReadStatus worst = ReadStatus.READ_STATUS_ABSENT;
        for (ChronyClient client : clients) {
            ReadStatus status = ask(client, reading);
            if (status == ReadStatus.READ_STATUS_OK) {
                return;
            }
            if (status != ReadStatus.READ_STATUS_ABSENT) {
                worst = status;
            }
        }
        reading.setStatus(worst);
    }

    private ReadStatus ask(ChronyClient client, ClockReading.Builder reading) {
        try {
            fill(reading, client.tracking(), clock.millis());
            return ReadStatus.READ_STATUS_OK;
        } catch (PortUnreachableException | NoSuchFileException e) {
            return ReadStatus.READ_STATUS_ABSENT;
        } catch (SocketTimeoutException e) {
            return ReadStatus.READ_STATUS_STUCK;
        } catch (AccessDeniedException e) {
            return ReadStatus.READ_STATUS_NO_PERMISSION;
        } catch (Tracking.RefusedException e) {
            return e.status == NOT_AUTHORISED ? ReadStatus.READ_STATUS_NO_PERMISSION : ReadStatus.READ_STATUS_FAILED;
        } catch (IOException e) {
            return ReadStatus.READ_STATUS_FAILED;
        }
    }

    static void fill(ClockReading.Builder reading, Tracking tracking, long wallMs) {
        reading.setStatus(ReadStatus.READ_STATUS_OK)
                .setOffsetNs(nanos(-tracking.correctionSeconds()))
                .setLastOffsetNs(nanos(tracking.lastOffsetSeconds()))
                .setRootDelayNs(Math.max(0, nanos(tracking.rootDelaySeconds())))
                .setRootDispersionNs(Math.max(0, nanos(tracking.rootDispersionSeconds())))
                .setStratum(tracking.stratum())
                .setLeap(tracking.leap())
                .setSkewPpb(Math.round(tracking.skewPpm() * 1000))
                .setLocalReference(tracking.referenceId() == Tracking.LOCAL_REFERENCE);
        if (tracking.referenceTime() != null) {
            long ageMs = wallMs - tracking.referenceTime().toEpochMilli();
            reading.setReferenceAgeS(Math.max(0, ageMs / 1000));
        }
    }

    private static long nanos(double seconds) {
        return Math.round(seconds * 1e9);
    }
}

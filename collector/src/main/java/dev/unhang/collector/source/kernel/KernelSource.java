package dev.unhang.collector.source.kernel;

import dev.unhang.collector.source.Source;
import dev.unhang.collector.source.libc.KernelLog;
import dev.unhang.events.v1.KernelEvent;
import dev.unhang.events.v1.KernelKind;
import dev.unhang.events.v1.Loss;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeSample;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The kernel's log as events. It begins at the log's end: what was logged before the collector started is never told,
 * so nothing acts on an old fault. Records that the kernel overwrote before we read them are told as a LOG_GAP with
 * their number. Reads without blocking, at most 4,000 records a call. Confined to its worker thread.
 */
public final class KernelSource implements Source {

    private static final Duration DEADLINE = Duration.ofSeconds(2);
    private static final int MOST_RECORDS = 4000;
    private static final int RECORD = 8 * 1024; // CONSOLE_EXT_LOG_MAX of the kernel
    private static final int LONG_RECORD = 256 * 1024;

    private final LogDevice.Opener opener;
    private final LongSupplier monoNs;
    private final EventFold fold = new EventFold();
    private @Nullable LogDevice device;
    private byte[] buffer = new byte[RECORD];
    private long lastSeq = -1;
    private boolean overwritten;
    private long lost;

    public KernelSource(LogDevice.Opener opener, LongSupplier monoNs) {
        this.opener = opener;
        this.monoNs = monoNs;
    }

    @Override
    public String name() {
        return "kernel";
    }

    @Override
    public Duration deadline() {
        return DEADLINE;
    }

    @Override
    public Reading read() throws IOException {
        LogDevice open = device;
        if (open == null) {
            open = opener.open();
            device = open;
        }
        try {
            drain(open);
        } catch (IOException e) {
            open.close();
            device = null;
            lastSeq = -1;
            throw e;
        }
        List<NodeEvent> events = fold.flush(monoNs.getAsLong()).stream()
                .map(event -> NodeEvent.newBuilder().setKernel(event).build())
                .toList();
        NodeSample.Builder part = NodeSample.newBuilder();
        if (lost > 0) {
            part.addLost(Loss.newBuilder().setKind("kernel-gap").setCount(lost));
        }
        return new Reading(part.build(), null, events);
    }

    @Override
    public void close() {
        if (device != null) {
            device.close();
            device = null;
        }
    }

    private void drain(LogDevice open) throws IOException {
        for (int i = 0; i < MOST_RECORDS; i++) {
            int length = open.read(buffer);
            if (length == KernelLog.OVERWRITTEN) {
                overwritten = true;
            } else if (length == KernelLog.TOO_LONG) {
                if (buffer.length >= LONG_RECORD) {
                    throw new IOException("a record of the kernel log is longer than " + LONG_RECORD
                            + " bytes; the log is opened again at its end");
                }
                buffer = new byte[buffer.length * 2];
            } else if (length <= 0) {
                return;
            } else {
                accept(LogRecord.parse(buffer, length));
            }
        }
    }

    private void accept(@Nullable LogRecord line) {
        if (line == null) {
            return;
        }
        long missing = lastSeq < 0 ? 0 : line.seq() - lastSeq - 1;
        if (overwritten || missing > 0) {
            // Before the first record nobody knows how many there were; at least one.
            long count = Math.max(1, missing);
            lost += count;
            fold.add(KernelEvent.newBuilder()
                    .setKind(KernelKind.KERNEL_KIND_LOG_GAP)
                    .setLogSeq(line.seq())
                    .setLogUsec(line.usec())
                    .setCount((int) Math.min(Integer.MAX_VALUE, count))
                    .setText("the kernel log overwrote " + count + " records before they were read")
                    .build());
            overwritten = false;
        }
        lastSeq = line.seq();
        if (!line.fromKernel()) {
            return;
        }
        KernelEvent.Builder event = KernelLines.classify(line.text());
        if (event != null) {
            fold.add(event.setLogSeq(line.seq()).setLogUsec(line.usec()).build());
        }
    }
}

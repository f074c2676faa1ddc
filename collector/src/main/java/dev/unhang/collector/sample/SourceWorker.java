package dev.unhang.collector.sample;

import dev.unhang.collector.source.Source;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.ReadStatus;
import dev.unhang.events.v1.SourceFault;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Owns the one thread that calls a source. A call that outlasts its deadline is out until it comes back: the source is
 * never called a second time meanwhile, and the sampler tells "stuck since" without waiting for it. A source is read
 * when the sampler asks, so that all counters of a sample are of one moment; one whose pace is faster than the samples
 * (the kernel log) is also read in between.
 */
public final class SourceWorker implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(SourceWorker.class);

    /**
     * What a source adds to a sample.
     *
     * @param part null when it has nothing fresh
     * @param fault null when it is well
     */
    record Contribution(@Nullable NodeSample part, @Nullable SourceFault fault) {}

    /** How a source is, for people and metrics. {@code readMs} is how long its last finished read took, ms. */
    public record Health(String source, ReadStatus status, String detail, long readMs, long failures) {}

    private final Source source;
    private final Duration pace;
    private final Duration interval;
    private final LongSupplier nanos;
    private final Consumer<NodeEvent> events;
    private final BlockingQueue<Round> asked = new ArrayBlockingQueue<>(1);
    private final Thread thread;

    // All below are guarded by this.
    private boolean calling;
    private boolean toldStuck;
    private long callBeganNs;
    private long lastTurnNs = Long.MIN_VALUE;
    private NodeSample part = NodeSample.getDefaultInstance();
    private boolean fresh;
    private boolean everRead;
    private long readNs;
    private long readTookNs;
    private @Nullable NodeInventory inventory;
    private @Nullable SourceFault fault;
    private long failures;

    /**
     * Nothing runs until the sampler starts it.
     *
     * @param pace how often the source is read
     * @param interval between samples
     * @param events takes each event as it is read, on this worker's thread
     */
    public SourceWorker(
            Source source, Duration pace, Duration interval, LongSupplier nanos, Consumer<NodeEvent> events) {
        this.source = source;
        this.pace = pace;
        this.interval = interval;
        this.nanos = nanos;
        this.events = events;
        thread = new Thread(this::run, "source-" + source.name());
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Whether the sampler shall ask it now: it is not in a call, and its pace says so. */
    synchronized boolean due(long nowNs) {
        boolean slow = pace.compareTo(interval) > 0;
        // Half an interval of grace: a pace of 4 s is each fourth sample, even when one comes a little early.
        boolean soon = lastTurnNs != Long.MIN_VALUE && nowNs - lastTurnNs < pace.toNanos() - interval.toNanos() / 2;
        return !calling && asked.isEmpty() && !(slow && soon);
    }

    /** Asks for a reading; the round is told when the call has come back. */
    void ask(Round round) {
        if (!asked.offer(round)) {
            round.answered();
        }
    }

    /** One reading, on this worker's thread. */
    void turn() {
        synchronized (this) {
            callBeganNs = nanos.getAsLong();
            lastTurnNs = callBeganNs;
            calling = true;
        }
        Source.@Nullable Reading reading = null;
        SourceFault ended = null;
        try {
            reading = source.read();
        } catch (IOException | RuntimeException | LinkageError e) {
            ended = fault(e);
        }
        finished(reading, ended);
        if (reading != null) {
            reading.events().forEach(events);
        }
    }

    /**
     * What it adds to the sample of now. A reading is used once, since counters that are served twice look like silence;
     * only a source that is slower than the samples is repeated, until it is two and a half paces old. Without a reading
     * there is always a fault, if only PENDING: else what is not listed would look gone.
     */
    synchronized Contribution take(long nowNs) {
        boolean slow = pace.compareTo(interval) > 0;
        long limit = 5 * Math.max(pace.toNanos(), interval.toNanos()) / 2;
        boolean usable = everRead && (fresh || slow) && nowNs - readNs <= limit;
        fresh = false;
        SourceFault why = faultNow(nowNs);
        return new Contribution(usable ? part : null, usable || why != null ? why : pending());
    }

    /** The last inventory that the source told; null where it has none. */
    synchronized @Nullable NodeInventory inventory() {
        return inventory;
    }

    public synchronized Health health() {
        SourceFault now = faultNow(nanos.getAsLong());
        if (now == null) {
            // A source that could be read may still say that what it reads is not there.
            now = part.getSourcesList().stream()
                    .filter(own -> own.getSource().equals(source.name()))
                    .findFirst()
                    .orElse(null);
        }
        return new Health(
                source.name(),
                now == null ? ReadStatus.READ_STATUS_OK : now.getStatus(),
                now == null ? "" : now.getDetail(),
                TimeUnit.NANOSECONDS.toMillis(readTookNs),
                failures);
    }

    /** Ends the thread, which closes the source; one that is stuck in a call is left behind, as it cannot be ended. */
    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join(500);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        boolean between = pace.compareTo(interval) < 0;
        try {
            while (!Thread.currentThread().isInterrupted()) {
                Round round = between ? asked.poll(pace.toNanos(), TimeUnit.NANOSECONDS) : asked.take();
                try {
                    turn();
                } finally {
                    if (round != null) {
                        round.answered();
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            source.close();
        }
    }

    private synchronized void finished(Source.@Nullable Reading reading, @Nullable SourceFault ended) {
        long now = nanos.getAsLong();
        calling = false;
        toldStuck = false;
        readTookNs = now - callBeganNs;
        if (reading != null) {
            if (fault != null) {
                log.info("{} can be read again after {} failures", source.name(), failures);
            }
            fault = null;
            failures = 0;
            readNs = now;
            everRead = true;
            part = reading.part();
            fresh = true;
            if (reading.inventory() != null) {
                inventory = reading.inventory();
            }
        } else if (ended != null) {
            failures++;
            if (fault == null) {
                log.warn("{} cannot be read: {}", source.name(), ended.getDetail());
            } else {
                log.debug("{} cannot be read, {} times now: {}", source.name(), failures, ended.getDetail());
            }
            fault = ended;
        }
    }

    private @Nullable SourceFault faultNow(long nowNs) {
        long outNs = calling ? nowNs - callBeganNs : 0;
        if (outNs <= source.deadline().toNanos()) {
            return fault;
        }
        long sinceMs = TimeUnit.NANOSECONDS.toMillis(outNs);
        if (!toldStuck) {
            toldStuck = true;
            log.warn("{} is stuck: a call has not come back for {} ms", source.name(), sinceMs);
        }
        return SourceFault.newBuilder()
                .setSource(source.name())
                .setStatus(ReadStatus.READ_STATUS_STUCK)
                .setSinceMs(sinceMs)
                .build();
    }

    private SourceFault pending() {
        return SourceFault.newBuilder()
                .setSource(source.name())
                .setStatus(ReadStatus.READ_STATUS_PENDING)
                .build();
    }

    private SourceFault fault(Throwable e) {
        ReadStatus status = ReadStatus.READ_STATUS_FAILED;
        if (e instanceof NoSuchFileException || e instanceof FileNotFoundException || e instanceof LinkageError) {
            status = ReadStatus.READ_STATUS_ABSENT;
        } else if (e instanceof AccessDeniedException) {
            status = ReadStatus.READ_STATUS_NO_PERMISSION;
        }
        String said = e.getMessage() == null ? "" : ": " + e.getMessage();
        String detail = e.getClass().getSimpleName() + said;
        return SourceFault.newBuilder()
                .setSource(source.name())
                .setStatus(status)
                .setDetail(detail.length() <= 200 ? detail : detail.substring(0, 199) + "…")
                .build();
    }
}

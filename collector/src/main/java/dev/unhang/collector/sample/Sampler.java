package dev.unhang.collector.sample;

import dev.unhang.events.v1.Loss;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Once an interval asks all sources at one moment, and makes one sample of what they answer. The times of a sample are
 * those of the asking. A source that is not back after 40 % of the interval is left out of this sample. The schedule is
 * kept on the monotonic clock; a beat that is missed whole is left out, and {@code late_ms} tells how late one began.
 *
 * <p>One thread, {@code sampler}; it never waits for a source that is stuck, nor for Kafka.
 */
public final class Sampler implements AutoCloseable {

    /** Takes what was made; on the sampler's thread, or a source's for events. Must not wait. */
    public interface Sink {
        void sample(NodeSample whole, Instant wall, long monoNs);

        void event(NodeEvent event, Instant wall, long monoNs);

        void inventory(NodeInventory inventory, Instant wall, long monoNs);
    }

    private final NodeIdentity identity;
    private final Duration interval;
    private final List<SourceWorker> workers = new ArrayList<>();
    private final InventoryBook inventory;
    private final Supplier<List<Loss>> losses;
    private final Sink sink;
    private final Clock wall;
    private final LongSupplier nanos;
    private final CountDownLatch stop = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "sampler");
    private final Object eventLock = new Object();
    private long eventSeq;
    private long seq;

    public Sampler(
            NodeIdentity identity,
            Duration interval,
            InventoryBook inventory,
            Supplier<List<Loss>> losses,
            Sink sink,
            Clock wall,
            LongSupplier nanos) {
        this.identity = identity;
        this.interval = interval;
        this.inventory = inventory;
        this.losses = losses;
        this.sink = sink;
        this.wall = wall;
        this.nanos = nanos;
        thread.setDaemon(true);
    }

    /** Before {@link #start} only. */
    public void add(SourceWorker worker) {
        workers.add(worker);
    }

    public void start() {
        workers.forEach(SourceWorker::start);
        thread.start();
    }

    /** Stamps an event and passes it on at once. Any thread; events leave in the order of their numbers. */
    public void event(NodeEvent event) {
        synchronized (eventLock) {
            Instant now = wall.instant();
            long monoNs = nanos.getAsLong();
            NodeEvent stamped = event.toBuilder()
                    .setBootId(identity.bootId())
                    .setCollectorStart(identity.collectorStart())
                    .setSeq(++eventSeq)
                    .setMonoNs(monoNs)
                    .setWallNs(epochNs(now))
                    .build();
            sink.event(stamped, now, monoNs);
        }
    }

    /** Asks all sources, waits for those that answer in time, and hands on one sample. */
    void beat(long plannedNs) throws InterruptedException {
        Instant now = wall.instant();
        long monoNs = nanos.getAsLong();
        List<SourceWorker> due =
                workers.stream().filter(worker -> worker.due(monoNs)).toList();
        Round round = new Round(due.size());
        due.forEach(worker -> worker.ask(round));
        // When one does not answer, its fault tells why; the sample is made of the others.
        var unused = round.await(interval.toNanos() * 2 / 5);
        NodeSample whole = sample(now, monoNs, Math.max(0, monoNs - plannedNs));
        tellInventory(now, monoNs);
        sink.sample(whole, now, monoNs);
    }

    private NodeSample sample(Instant now, long monoNs, long lateNs) {
        List<NodeSample> parts = new ArrayList<>();
        parts.add(NodeSample.newBuilder().addAllLost(losses.get()).build());
        long mergedNs = nanos.getAsLong();
        for (SourceWorker worker : workers) {
            SourceWorker.Contribution contribution = worker.take(mergedNs);
            NodeSample part = contribution.part();
            if (part != null) {
                parts.add(part);
            }
            if (contribution.fault() != null) {
                parts.add(
                        NodeSample.newBuilder().addSources(contribution.fault()).build());
            }
        }
        NodeSample.Builder whole = SampleMerge.merge(parts)
                .setBootId(identity.bootId())
                .setCollectorStart(identity.collectorStart())
                .setSeq(++seq)
                .setMonoNs(monoNs)
                .setWallNs(epochNs(now))
                .setLateMs((int) Math.min(Integer.MAX_VALUE, TimeUnit.NANOSECONDS.toMillis(lateNs)));
        if (interval.toMillis() != 1000) {
            whole.setIntervalMs((int) interval.toMillis());
        }
        return whole.build();
    }

    private void tellInventory(Instant now, long monoNs) {
        List<NodeInventory> told = new ArrayList<>();
        for (SourceWorker worker : workers) {
            @Nullable NodeInventory own = worker.inventory();
            if (own != null) {
                told.add(own);
            }
        }
        @Nullable NodeInventory due = inventory.due(told, monoNs);
        if (due != null) {
            NodeInventory stamped =
                    due.toBuilder().setMonoNs(monoNs).setWallNs(epochNs(now)).build();
            sink.inventory(stamped, now, monoNs);
        }
    }

    /** The next beat after one that was planned for {@code plannedNs} has ended at {@code nowNs}. */
    static long next(long plannedNs, long nowNs, long intervalNs) {
        long missed = Math.max(0, (nowNs - plannedNs) / intervalNs);
        return plannedNs + (missed + 1) * intervalNs;
    }

    /** How each source is; any thread. */
    public List<SourceWorker.Health> health() {
        return workers.stream().map(SourceWorker::health).toList();
    }

    private void run() {
        long planned = nanos.getAsLong();
        try {
            while (!stop.await(Math.max(0, planned - nanos.getAsLong()), TimeUnit.NANOSECONDS)) {
                beat(planned);
                planned = next(planned, nanos.getAsLong(), interval.toNanos());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends the beat, then the workers, which close their sources. */
    @Override
    public void close() {
        stop.countDown();
        try {
            thread.join(interval.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        workers.forEach(SourceWorker::close);
    }

    private static long epochNs(Instant instant) {
        return TimeUnit.SECONDS.toNanos(instant.getEpochSecond()) + instant.getNano();
    }
}

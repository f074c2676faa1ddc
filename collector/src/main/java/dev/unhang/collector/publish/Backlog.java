package dev.unhang.collector.publish;

import com.google.protobuf.Message;
import dev.unhang.collector.publish.Outgoing.Kind;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What waits for the broker, bounded in records and in bytes. Records leave in the order in which they came. When it is
 * full the oldest samples are dropped first, then inventories, and events last, each counted in {@link Losses}. Any
 * thread adds, and none waits for longer than a short lock; the publisher alone takes.
 */
public final class Backlog {

    /** Beyond its bytes, what a record takes on the heap (object, tree entry, id), measured roughly; counted in. */
    static final int OVERHEAD_BYTES = 256;

    private final int maxRecords;
    private final long maxBytes;
    private final Losses losses;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();
    private final Map<Kind, NavigableMap<Long, Outgoing>> waiting = new EnumMap<>(Kind.class);
    private long nextOrder;
    private int records;
    private long bytes;

    public Backlog(int maxRecords, long maxBytes, Losses losses) {
        this.maxRecords = maxRecords;
        this.maxBytes = maxBytes;
        this.losses = losses;
        for (Kind kind : Kind.values()) {
            waiting.put(kind, new TreeMap<>());
        }
    }

    /**
     * How full it is.
     *
     * @param bytes with the overhead of each record
     * @param oldestMs age of the oldest record, ms; 0 when it is empty
     */
    public record Level(int records, long bytes, long oldestMs) {}

    void add(Kind kind, String id, Message message, Instant wall, long takenNs) {
        lock.lock();
        try {
            insert(new Outgoing(kind, nextOrder++, id, message.toByteString(), wall, takenNs));
        } finally {
            lock.unlock();
        }
    }

    /** A record that could not be sent goes back to its place. */
    void giveBack(Outgoing record) {
        lock.lock();
        try {
            insert(record);
        } finally {
            lock.unlock();
        }
    }

    /** The next record, or null when none came in time. */
    @Nullable
    Outgoing take(long waitNs) throws InterruptedException {
        long left = waitNs;
        lock.lock();
        try {
            while (records == 0) {
                if (left <= 0) {
                    return null;
                }
                left = arrived.awaitNanos(left);
            }
            return removeFirst();
        } finally {
            lock.unlock();
        }
    }

    public Level level(long nowNs) {
        lock.lock();
        try {
            Outgoing first = first();
            long age = first == null ? 0 : TimeUnit.NANOSECONDS.toMillis(nowNs - first.takenNs());
            return new Level(records, bytes, Math.max(0, age));
        } finally {
            lock.unlock();
        }
    }

    private void insert(Outgoing record) {
        queue(record.kind()).put(record.order(), record);
        records++;
        bytes += cost(record);
        while (records > maxRecords || bytes > maxBytes) {
            dropOne();
        }
        arrived.signal();
    }

    private void dropOne() {
        for (Kind kind : Kind.values()) {
            Map.Entry<Long, Outgoing> oldest = queue(kind).pollFirstEntry();
            if (oldest != null) {
                removed(oldest.getValue());
                losses.count(kind.loss());
                return;
            }
        }
        throw new IllegalStateException("the backlog counts " + records + " records and holds none");
    }

    private Outgoing removeFirst() {
        Outgoing first = first();
        if (first == null) {
            throw new IllegalStateException("the backlog counts " + records + " records and holds none");
        }
        queue(first.kind()).remove(first.order());
        removed(first);
        return first;
    }

    private void removed(Outgoing record) {
        records--;
        bytes -= cost(record);
    }

    private @Nullable Outgoing first() {
        Outgoing first = null;
        for (NavigableMap<Long, Outgoing> queue : waiting.values()) {
            Map.Entry<Long, Outgoing> head = queue.firstEntry();
            if (head != null && (first == null || head.getKey() < first.order())) {
                first = head.getValue();
            }
        }
        return first;
    }

    private NavigableMap<Long, Outgoing> queue(Kind kind) {
        NavigableMap<Long, Outgoing> queue = waiting.get(kind);
        if (queue == null) {
            throw new IllegalStateException("no queue for " + kind);
        }
        return queue;
    }

    private static long cost(Outgoing record) {
        return record.bytes() + (long) OVERHEAD_BYTES;
    }
}

package dev.unhang.collector.publish;

import com.google.protobuf.ByteString;
import dev.unhang.events.Codec;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends what the backlog holds, on a thread of its own, the only one that touches the producer. Few records are in
 * flight at a time, so what waits waits in our backlog, where its age is known and its bound is ours. A delivery that
 * fails comes back to its place; while deliveries fail, one record at a time tries. A record that was written and whose
 * answer was lost is written twice, with one {@code ce_id}: readers drop the double.
 */
public final class Publisher implements AutoCloseable {

    /** Records handed to the producer and not yet answered. */
    static final int IN_FLIGHT = 16;

    private static final Duration RETRY = Duration.ofSeconds(1);
    private static final Duration IDLE = Duration.ofMillis(500);
    private static final Logger log = LoggerFactory.getLogger(Publisher.class);

    /**
     * Where the records go.
     *
     * @param node key of every record
     * @param brokers as a person wrote them, for the log
     */
    public record Target(String topic, String node, String brokers) {}

    private final Target target;
    private final Backlog backlog;
    private final Losses losses;
    private final TelemetryTopic topic;
    private final Supplier<Producer<String, byte[]>> producers;
    private final LongSupplier nanos;
    private final long retryNs;
    private final long idleNs;
    private final Trouble trouble;
    private final Thread thread = new Thread(this::run, "publisher");

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private int inFlight;
    private boolean failing;
    private boolean broken;
    private long sent;
    private boolean stopping;
    private long stopAtNs;

    private boolean topicFound;
    private @Nullable Producer<String, byte[]> producer;

    public Publisher(
            Target target,
            Backlog backlog,
            Losses losses,
            TelemetryTopic topic,
            Supplier<Producer<String, byte[]>> producers,
            LongSupplier nanos) {
        this(target, backlog, losses, topic, producers, nanos, RETRY, IDLE);
    }

    /** {@code retry}: after a failure; {@code idle}: how long one pass waits for something to do. */
    Publisher(
            Target target,
            Backlog backlog,
            Losses losses,
            TelemetryTopic topic,
            Supplier<Producer<String, byte[]>> producers,
            LongSupplier nanos,
            Duration retry,
            Duration idle) {
        retryNs = retry.toNanos();
        idleNs = idle.toNanos();
        this.target = target;
        this.backlog = backlog;
        this.losses = losses;
        this.topic = topic;
        this.producers = producers;
        this.nanos = nanos;
        this.trouble = new Trouble(log, target.brokers(), () -> backlog.level(nanos.getAsLong()));
        thread.setDaemon(true);
    }

    public void start() {
        thread.start();
    }

    /** Hands in a sample; never waits. {@code takenNs} is the monotonic clock that the sample bears. */
    public void publish(NodeSample sample, Instant wall, long takenNs) {
        backlog.add(
                Outgoing.Kind.SAMPLE,
                id(sample.getBootId(), sample.getCollectorStart(), "", sample.getSeq()),
                sample,
                wall,
                takenNs);
    }

    /** Hands in an event; never waits. Events count apart from samples, so their ids say {@code e}. */
    public void publish(NodeEvent event, Instant wall, long takenNs) {
        backlog.add(
                Outgoing.Kind.EVENT,
                id(event.getBootId(), event.getCollectorStart(), "e", event.getSeq()),
                event,
                wall,
                takenNs);
    }

    /** Hands in an inventory; never waits. */
    public void publish(NodeInventory inventory, Instant wall, long takenNs) {
        backlog.add(
                Outgoing.Kind.INVENTORY,
                id(inventory.getBootId(), inventory.getCollectorStart(), "i", inventory.getMonoNs()),
                inventory,
                wall,
                takenNs);
    }

    /** Records that the broker has acknowledged. */
    public long sent() {
        lock.lock();
        try {
            return sent;
        } finally {
            lock.unlock();
        }
    }

    /** Sends what is left for at most {@code deadline}, then ends; tells how many records were left behind. */
    public void close(Duration deadline) {
        lock.lock();
        try {
            stopAtNs = nanos.getAsLong() + deadline.toNanos();
            stopping = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        try {
            thread.join(deadline.toMillis() + 1000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        int left = backlog.level(nanos.getAsLong()).records();
        if (left > 0) {
            log.warn("{} records were not sent before the end", left);
        }
    }

    @Override
    public void close() {
        close(Duration.ZERO);
    }

    private void run() {
        try {
            while (!ended()) {
                turn();
            }
        } catch (InterruptedException | InterruptException e) {
            Thread.currentThread().interrupt();
        } finally {
            dispose(Duration.ofMillis(Math.max(0, TimeUnit.NANOSECONDS.toMillis(stopAtNs - nanos.getAsLong()))));
        }
    }

    /** One pass: at most one record is sent. */
    void turn() throws InterruptedException {
        if (!topicFound) {
            ask();
            return;
        }
        if (!mayDeliver()) {
            return;
        }
        Outgoing record = backlog.take(idleNs);
        if (record != null) {
            send(record);
        }
    }

    private void ask() throws InterruptedException {
        try {
            topicFound = topic.exists();
            if (!topicFound) {
                trouble.tell(
                        "topic " + target.topic() + " does not exist yet; the healer creates it", nanos.getAsLong());
            }
        } catch (TelemetryTopic.UnreachableException e) {
            trouble.tell(String.valueOf(e.getMessage()), nanos.getAsLong());
        }
        if (!topicFound) {
            pause(retryNs);
        }
    }

    /** Waits for room in flight; while deliveries fail, for the end of all of them and a second more. */
    private boolean mayDeliver() throws InterruptedException {
        long left = idleNs;
        boolean wait;
        lock.lock();
        try {
            while (inFlight >= (failing ? 1 : IN_FLIGHT)) {
                if (left <= 0) {
                    return false;
                }
                left = changed.awaitNanos(left);
            }
            wait = failing && !stopping;
        } finally {
            lock.unlock();
        }
        if (wait) {
            pause(retryNs);
        }
        return true;
    }

    private void send(Outgoing record) {
        lock.lock();
        try {
            inFlight++;
        } finally {
            lock.unlock();
        }
        ProducerRecord<String, byte[]> out = new ProducerRecord<>(
                target.topic(),
                null,
                null,
                target.node(),
                record.bytesAt(nanos.getAsLong()),
                Codec.headers(
                        record.kind().type(),
                        target.node() + "/" + record.id(),
                        "/nodes/" + target.node(),
                        record.wall()));
        try {
            var unused = producer().send(out, (metadata, error) -> answered(record, error));
        } catch (InterruptException e) {
            answered(record, e);
            throw e;
        } catch (KafkaException | IllegalStateException e) {
            answered(record, e);
            lock.lock();
            try {
                broken = true;
            } finally {
                lock.unlock();
            }
        }
    }

    /** On the producer's own thread, or on ours when the send failed at once. */
    private void answered(Outgoing record, @Nullable Exception error) {
        if (error == null) {
            trouble.over(nanos.getAsLong());
        } else if (error instanceof RecordTooLargeException || error instanceof RecordBatchTooLargeException) {
            losses.count(Losses.OVERSIZE);
            log.warn(
                    "a record of {} bytes was dropped, it is larger than the broker takes: {}",
                    record.bytes(),
                    record.id());
        } else if (error instanceof InvalidRecordException || error instanceof SerializationException) {
            losses.count(Losses.REFUSED);
            log.warn("a record was dropped, the broker refuses it: {}: {}", record.id(), error.getMessage());
        } else {
            backlog.giveBack(record);
            trouble.tell(String.valueOf(error.getMessage()), nanos.getAsLong());
        }
        lock.lock();
        try {
            inFlight--;
            failing = trouble.now();
            if (error == null) {
                sent++;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private Producer<String, byte[]> producer() {
        boolean renew;
        lock.lock();
        try {
            renew = broken;
            broken = false;
        } finally {
            lock.unlock();
        }
        if (renew) {
            dispose(Duration.ZERO);
        }
        Producer<String, byte[]> current = producer;
        if (current == null) {
            current = producers.get();
            producer = current;
        }
        return current;
    }

    private void dispose(Duration deadline) {
        Producer<String, byte[]> old = producer;
        producer = null;
        if (old != null) {
            old.close(deadline);
        }
    }

    private void pause(long ns) throws InterruptedException {
        long left = ns;
        lock.lock();
        try {
            while (left > 0 && !stopping) {
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean ended() {
        lock.lock();
        try {
            if (!stopping) {
                return false;
            }
            boolean empty = inFlight == 0 && backlog.level(nanos.getAsLong()).records() == 0;
            return empty || nanos.getAsLong() - stopAtNs >= 0;
        } finally {
            lock.unlock();
        }
    }

    private static String id(ByteString boot, long start, String mark, long seq) {
        return hex(boot) + "/" + start + "/" + mark + seq;
    }

    private static String hex(ByteString bytes) {
        return HexFormat.of().formatHex(bytes.toByteArray());
    }
}

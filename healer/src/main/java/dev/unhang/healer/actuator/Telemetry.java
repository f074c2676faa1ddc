package dev.unhang.healer.actuator;

import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.v1.ActionResult;
import dev.unhang.events.v1.ActuatorHello;
import dev.unhang.events.v1.Claim;
import dev.unhang.events.v1.ProbeResult;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this actuator says, until the log has it. Of a command the last result is kept, however long the broker is away; a
 * claim that is older than a grant for it could be is dropped. At most 1,024 wait: then a look's reading goes first, and a
 * result last. Its own thread sends, since a send may block for as long as the broker is away; any thread may say.
 */
final class Telemetry implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Telemetry.class);

    private static final int MOST = 1024;
    private static final long CLAIM_LIFE_NS = 5_000_000_000L;
    private static final long AGAIN_NS = 1_000_000_000L;
    private static final long LOOK_EACH_NS = 200_000_000L;
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(5);

    /** One thing that was said; a later one with the same key takes its place. */
    private static final class Said {
        private final Message message;
        private final long sinceNs;
        private boolean flying;
        private long notBeforeNs;

        Said(Message message, long sinceNs) {
            this.message = message;
            this.sinceNs = sinceNs;
            this.notBeforeNs = sinceNs;
        }
    }

    private final Producer<String, byte[]> producer;
    private final String topic;
    private final String node;
    private final String idPrefix;
    private final Clock clock;
    private final LongSupplier nanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Map<String, Said> waiting = new LinkedHashMap<>();
    private final Thread thread;
    private long sent;
    private long lost;
    private boolean failing;
    private boolean stopping;

    /** @param idPrefix makes the ids of records unique: node, boot and start */
    Telemetry(
            Producer<String, byte[]> producer,
            String topic,
            String node,
            String idPrefix,
            Clock clock,
            LongSupplier nanos) {
        this.producer = producer;
        this.topic = topic;
        this.node = node;
        this.idPrefix = idPrefix;
        this.clock = clock;
        this.nanos = nanos;
        this.thread = new Thread(this::run, "actuator-telemetry");
        this.thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Never blocks, and never fails. */
    void say(Message message) {
        lock.lock();
        try {
            String key = key(message);
            waiting.remove(key);
            if (waiting.size() >= MOST) {
                String dropped = eldest();
                waiting.remove(dropped);
                // The first of a series is told, not each.
                if (lost++ == 0) {
                    log.warn("{} things wait for the broker, and {} was dropped", MOST, dropped);
                }
            }
            waiting.put(key, new Said(message, nanos.getAsLong()));
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** How much the log does not have yet. */
    int waiting() {
        lock.lock();
        try {
            return waiting.size();
        } finally {
            lock.unlock();
        }
    }

    /** Waits a while for what is still to be said, then ends. */
    @Override
    public void close() {
        lock.lock();
        try {
            long left = CLOSE_WITHIN.toNanos();
            while (left > 0 && !waiting.isEmpty()) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            stopping = true;
            changed.signalAll();
            lock.unlock();
        }
        producer.close(CLOSE_WITHIN);
        try {
            thread.join(CLOSE_WITHIN.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (waiting() > 0) {
            log.warn("{} things were not told, since the broker did not answer", waiting());
        }
    }

    private static String key(Message message) {
        if (message instanceof ActionResult result) {
            return "the result of " + result.getCommandId();
        }
        if (message instanceof Claim claim) {
            return "the claim of " + claim.getCommandId();
        }
        if (message instanceof ActuatorHello) {
            return "the hello";
        }
        if (message instanceof ProbeResult probe) {
            return "the look " + probe.getProbeId() + " at " + probe.getPid();
        }
        throw new IllegalArgumentException(
                "an actuator does not say " + message.getDescriptorForType().getName());
    }

    private String eldest() {
        String first = waiting.keySet().iterator().next();
        return waiting.entrySet().stream()
                .filter(each -> !(each.getValue().message instanceof ActionResult))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(first);
    }

    private void run() {
        while (true) {
            List<Map.Entry<String, Said>> due;
            lock.lock();
            try {
                due = due();
                while (due.isEmpty() && !stopping) {
                    long unused = changed.awaitNanos(LOOK_EACH_NS);
                    due = due();
                }
                if (stopping) {
                    return;
                }
            } catch (InterruptedException e) {
                return;
            } finally {
                lock.unlock();
            }
            due.forEach(each -> send(each.getKey(), each.getValue()));
        }
    }

    /** What is to be sent now, marked as being sent; old claims are forgotten. */
    private List<Map.Entry<String, Said>> due() {
        long now = nanos.getAsLong();
        List<Map.Entry<String, Said>> due = new ArrayList<>();
        for (Iterator<Map.Entry<String, Said>> each = waiting.entrySet().iterator(); each.hasNext(); ) {
            Map.Entry<String, Said> entry = each.next();
            Said said = entry.getValue();
            if (said.flying || now < said.notBeforeNs) {
                continue;
            }
            if (said.message instanceof Claim && now - said.sinceNs > CLAIM_LIFE_NS) {
                each.remove();
            } else {
                said.flying = true;
                due.add(Map.entry(entry.getKey(), said));
            }
        }
        return due;
    }

    private void send(String key, Said said) {
        Message message = said.message;
        ProducerRecord<String, byte[]> record = new ProducerRecord<>(
                topic,
                null,
                null,
                node,
                message.toByteArray(),
                Codec.headers(message, idPrefix + "/" + sent++, "/nodes/" + node, clock.instant()));
        try {
            var unused = producer.send(record, (metadata, error) -> answered(key, said, error));
        } catch (KafkaException | IllegalStateException e) {
            answered(key, said, e);
        }
    }

    /** On the producer's thread, or on ours when the send failed at once. A later word with the key has its own life. */
    private void answered(String key, Said said, @Nullable Exception error) {
        lock.lock();
        try {
            if (error == null || error instanceof RecordTooLargeException) {
                if (error != null) {
                    log.warn("{} is too large for the broker and was dropped", key);
                }
                failing = false;
                if (lost > 0 && error == null) {
                    log.warn("the broker answers again; {} things were dropped meanwhile", lost);
                    lost = 0;
                }
                waiting.remove(key, said);
            } else {
                if (!failing) {
                    log.warn("{} could not be told and waits: {}", key, error.getMessage());
                }
                failing = true;
                said.flying = false;
                said.notBeforeNs = nanos.getAsLong() + AGAIN_NS;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}

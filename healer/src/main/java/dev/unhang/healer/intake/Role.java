package dev.unhang.healer.intake;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * A thread that repeats the passes of a poll loop. What Kafka throws (a broker that is gone, a producer that another
 * healer has fenced) closes the loop, and after a second a new one joins its group and goes on from the log. Anything
 * else is a broken promise of ours: it is told to {@code broken}, which ends the process, and the log is the recovery.
 */
final class Role implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Role.class);
    private static final long AGAIN_MS = 1_000;
    private static final long CLOSE_WITHIN_MS = 20_000;

    private final String name;
    private final Supplier<? extends Turns> opens;
    private final Consumer<RuntimeException> broken;
    private final LongSupplier nanos;
    private final Thread thread;
    private final CountDownLatch stopping = new CountDownLatch(1);
    private volatile @Nullable Turns current;
    private final Troubles troubles = new Troubles();

    Role(String name, Supplier<? extends Turns> opens, Consumer<RuntimeException> broken, LongSupplier nanos) {
        this.name = name;
        this.opens = opens;
        this.broken = broken;
        this.nanos = nanos;
        this.thread = new Thread(this::run, name);
    }

    void start() {
        thread.start();
    }

    @Override
    public void close() {
        stopping.countDown();
        Turns turns = current;
        if (turns != null) {
            turns.wakeUp();
        }
        try {
            thread.join(CLOSE_WITHIN_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            log.warn("{} has not ended within {} s and is left behind", name, CLOSE_WITHIN_MS / 1000);
        }
    }

    private void run() {
        try {
            while (stopping.getCount() > 0) {
                reign();
                if (stopping.await(AGAIN_MS, TimeUnit.MILLISECONDS)) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            log.info("{} was interrupted and ends", name);
        } catch (RuntimeException e) {
            broken.accept(e);
        }
    }

    private void reign() {
        try (Turns turns = opens.get()) {
            current = turns;
            while (stopping.getCount() > 0) {
                turns.turn();
            }
        } catch (WakeupException e) {
            if (stopping.getCount() > 0) {
                throw e;
            }
        } catch (KafkaException e) {
            if (stopping.getCount() > 0) {
                report(e);
            }
        } finally {
            current = null;
        }
    }

    private void report(KafkaException e) {
        Throwable cause = e instanceof ApiException || e.getCause() == null ? e : e.getCause();
        log.atLevel(troubles.aloud(cause, nanos.getAsLong()) ? Level.WARN : Level.DEBUG)
                .log("{} lost its place and begins anew from the log: {}", name, cause.toString());
    }
}

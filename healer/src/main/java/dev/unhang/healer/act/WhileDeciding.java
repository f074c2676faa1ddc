package dev.unhang.healer.act;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does something again and again on a thread of its own, for as long as this healer decides: standbys neither ask a
 * scheduler nor act there. What fails is told, closed and opened anew.
 */
final class WhileDeciding implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(WhileDeciding.class);
    private static final Duration LOOK_EVERY = Duration.ofMillis(200);
    private static final Duration AFTER_TROUBLE = Duration.ofSeconds(2);
    private static final long STOP_WITHIN_MS = 20_000;

    /** What is opened when this healer begins to decide, and closed when it ends. Used on one thread. */
    interface Work extends AutoCloseable {

        /** Does it once. */
        void turn();

        @Override
        void close();
    }

    private final BooleanSupplier deciding;
    private final Supplier<Work> opens;
    private final Duration pause;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;

    /** Starts at once; {@code pause} is between two turns. */
    WhileDeciding(String name, BooleanSupplier deciding, Supplier<Work> opens, Duration pause) {
        this.deciding = deciding;
        this.opens = opens;
        this.pause = pause;
        this.thread = new Thread(this::run, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Ends after the turn that is under way. */
    @Override
    public void close() {
        closing.countDown();
        try {
            thread.join(STOP_WITHIN_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            while (!closesWithin(LOOK_EVERY)) {
                if (deciding.getAsBoolean() && !workIsDone()) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            log.warn("the thread {} was interrupted and ends", thread.getName());
        }
    }

    /** False when it is to close. */
    private boolean workIsDone() throws InterruptedException {
        try (Work work = opens.get()) {
            while (deciding.getAsBoolean()) {
                work.turn();
                if (closesWithin(pause)) {
                    return false;
                }
            }
            return true;
        } catch (RuntimeException e) {
            log.warn("{} fails and starts anew: {}", thread.getName(), e.toString());
            return !closesWithin(AFTER_TROUBLE);
        }
    }

    private boolean closesWithin(Duration time) throws InterruptedException {
        return closing.await(time.toMillis(), TimeUnit.MILLISECONDS);
    }
}

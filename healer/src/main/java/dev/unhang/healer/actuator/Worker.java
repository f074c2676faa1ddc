package dev.unhang.healer.actuator;

import dev.unhang.events.v1.Offer;
import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.Repair;
import dev.unhang.healer.command.Action;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that looks whether a repair may be done, and does it. A repair that throws has failed; one that never
 * returns keeps the thread, and so the node does nothing more. Other threads hand it work and stop it.
 */
final class Worker implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Worker.class);

    private static final long STOP_WITHIN_S = 20;

    private final Map<Action, Repair> repairs = new EnumMap<>(Action.class);
    private final LongSupplier nanos;
    private final BiConsumer<String, Optional<String>> answered;
    private final BiConsumer<String, End> ended;
    private final LinkedBlockingQueue<Runnable> work = new LinkedBlockingQueue<>();
    private final CountDownLatch restored = new CountDownLatch(1);
    private final Thread thread;
    private volatile boolean stopping;

    /**
     * Takes work once started.
     *
     * @param answered command, and why not; called by this thread
     * @param ended command, and how it ended; called by this thread
     */
    Worker(
            List<Repair> repairs,
            LongSupplier nanos,
            BiConsumer<String, Optional<String>> answered,
            BiConsumer<String, End> ended) {
        repairs.forEach(repair -> this.repairs.put(repair.action(), repair));
        this.nanos = nanos;
        this.answered = answered;
        this.ended = ended;
        this.thread = new Thread(this::run, "actuator-worker");
    }

    void start() {
        thread.start();
    }

    /** Whether all that an earlier start left half way was put back, or could not be. */
    boolean isReady() {
        return restored.getCount() == 0;
    }

    void ask(Offer offer) {
        work.add(() -> answered.accept(offer.getCommandId(), refusal(offer)));
    }

    /** Begins it unless {@code latestNs} is over by then, and gives it {@code timeoutMs}. */
    void begin(Offer offer, long latestNs, long timeoutMs) {
        work.add(() -> ended.accept(offer.getCommandId(), perform(offer, latestNs, timeoutMs)));
    }

    /** Lets what runs come to an end that leaves nothing half way; true when it did in time. */
    boolean stop() {
        stopping = true;
        work.add(() -> {});
        try {
            thread.join(TimeUnit.SECONDS.toMillis(STOP_WITHIN_S));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }

    @Override
    public void close() {
        boolean unused = stop();
    }

    private void run() {
        for (Repair repair : repairs.values()) {
            try {
                repair.restoreAtStart().ifPresent(found -> log.warn("{}", found));
            } catch (RuntimeException e) {
                log.error(
                        "what an earlier {} left could not be put back",
                        repair.action().label(),
                        e);
            }
        }
        restored.countDown();
        while (!stopping) {
            try {
                work.take().run();
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private Optional<String> refusal(Offer offer) {
        Repair repair = repairOf(offer);
        if (repair == null) {
            return Optional.of("this version cannot do it on a node");
        }
        try {
            return repair.refusal(offer);
        } catch (RuntimeException e) {
            log.error("whether {} can be done could not be found out", offer.getAction(), e);
            return Optional.of("whether it can be done could not be found out: " + e);
        }
    }

    private End perform(Offer offer, long latestNs, long timeoutMs) {
        Repair repair = repairOf(offer);
        long now = nanos.getAsLong();
        if (repair == null || stopping) {
            return End.refused("the actuator is told to stop");
        }
        if (now - latestNs > 0) {
            return End.refused("late-grant: the node stood still, and more than 5 s are over since the claim");
        }
        try {
            return repair.run(offer, now + timeoutMs * 1_000_000, () -> stopping);
        } catch (RuntimeException e) {
            log.error("{} broke off", offer.getAction(), e);
            return End.failed("it broke off: " + e);
        }
    }

    private @Nullable Repair repairOf(Offer offer) {
        return Action.named(offer.getAction()).map(repairs::get).orElse(null);
    }
}

package dev.unhang.healer.intake;

import dev.unhang.events.Topics;
import dev.unhang.events.Topics.WrongTopicsException;
import dev.unhang.healer.detect.node.PartitionDetector;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Both poll loops of one healer. Makes sure first that the topics are there and right: a broker that does not answer is
 * waited for and told of once a minute, topics that are wrong end it. {@link #start} returns at once; the work is done on
 * the threads {@code topics}, {@code telemetry-poll} and {@code inbox-poll}.
 */
public final class Intake implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Intake.class);
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(1);
    private static final long ASK_AGAIN_MS = 2_000;
    private static final long REPORT_EVERY_NS = 60_000_000_000L;

    private final Brokers brokers;
    private final String healer;
    private final boolean judges;
    private final boolean decides;
    private final Orders orders;
    private final IntakeMetrics metrics;
    private final Clock clock;
    private final LongSupplier nanos;
    private final Thread topics = new Thread(this::begin, "topics");
    private final CountDownLatch closing = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private final List<Role> roles = new ArrayList<>();
    private volatile @Nullable String trouble = "waits for the brokers";
    private volatile boolean failed;

    private Intake(
            Brokers brokers,
            String healer,
            boolean judges,
            boolean decides,
            Orders orders,
            IntakeMetrics metrics,
            Clock clock,
            LongSupplier nanos) {
        this.brokers = brokers;
        this.healer = healer;
        this.judges = judges;
        this.decides = decides;
        this.orders = orders;
        this.metrics = metrics;
        this.clock = clock;
        this.nanos = nanos;
    }

    /**
     * Starts both loops, or those that this healer has the role for.
     *
     * @param healer id of this healer
     * @param nanos monotonic
     */
    public static Intake start(
            Brokers brokers,
            String healer,
            boolean judges,
            boolean decides,
            Orders orders,
            IntakeMetrics metrics,
            Clock clock,
            LongSupplier nanos) {
        Intake intake = new Intake(brokers, healer, judges, decides, orders, metrics, clock, nanos);
        intake.topics.start();
        return intake;
    }

    /** Why this healer does not work, or empty. */
    public Optional<String> trouble() {
        return Optional.ofNullable(trouble);
    }

    /** Waits until a broken promise ends it or it is closed; true when it was closed. */
    public boolean awaitEnd() throws InterruptedException {
        ended.await();
        return !failed;
    }

    @Override
    public void close() {
        closing.countDown();
        topics.interrupt();
        try {
            topics.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        synchronized (roles) {
            roles.forEach(Role::close);
        }
        ended.countDown();
    }

    private void begin() {
        try {
            if (awaitTopics()) {
                startRoles();
            }
        } catch (RuntimeException e) {
            end("the healer cannot start", e);
        }
    }

    private boolean awaitTopics() {
        long reportedNs = nanos.getAsLong() - REPORT_EVERY_NS;
        while (closing.getCount() > 0) {
            Exception failure;
            try {
                ensureTopics();
                return true;
            } catch (WrongTopicsException e) {
                end(e.getMessage() == null ? "wrong topics" : e.getMessage(), null);
                return false;
            } catch (ExecutionException | TimeoutException | KafkaException e) {
                failure = e;
            } catch (InterruptedException e) {
                return false;
            }
            Throwable cause = failure.getCause() == null ? failure : failure.getCause();
            trouble = "the brokers " + brokers.kafka().bootstrapServers() + " do not answer"
                    + (cause.getMessage() == null ? "" : ": " + cause.getMessage());
            if (nanos.getAsLong() - reportedNs >= REPORT_EVERY_NS) {
                reportedNs = nanos.getAsLong();
                log.warn("{}; waiting for them", trouble);
            }
            try {
                if (closing.await(ASK_AGAIN_MS, TimeUnit.MILLISECONDS)) {
                    return false;
                }
            } catch (InterruptedException e) {
                return false;
            }
        }
        return false;
    }

    /** A name that does not resolve fails the constructor, so there is a client for each try. */
    private void ensureTopics()
            throws WrongTopicsException, ExecutionException, TimeoutException, InterruptedException {
        Admin admin = Admin.create(brokers.client());
        try {
            new Topics(admin, brokers.prefix()).ensure();
        } finally {
            // Without a limit it waits a minute for the answers of a broker that is not there.
            admin.close(CLOSE_WITHIN);
        }
    }

    private void startRoles() {
        synchronized (roles) {
            if (judges) {
                roles.add(new Role("telemetry-poll", this::openTelemetry, this::broken, nanos));
            }
            if (decides) {
                roles.add(new Role("inbox-poll", this::openInbox, this::broken, nanos));
            }
            trouble = null;
            roles.forEach(Role::start);
        }
    }

    private Turns openTelemetry() {
        String client = healer + "-telemetry";
        return new TelemetryIntake(
                brokers.member(brokers.telemetryGroup(), client, "earliest", 5_000),
                new Outbox(brokers.plainProducer(client), brokers.prefix(), healer),
                brokers.prefix(),
                healer,
                metrics,
                PartitionDetector::new,
                clock,
                nanos);
    }

    private Turns openInbox() {
        String client = healer + "-decider";
        return new InboxIntake(
                brokers.member(brokers.deciderGroup(), client, "none", 1_000),
                new Outbox(brokers.plainProducer(client), brokers.prefix(), healer),
                () -> brokers.transactionalProducer(client + "-journal"),
                () -> brokers.reader(client + "-state"),
                brokers.prefix(),
                healer,
                orders,
                metrics,
                clock,
                nanos);
    }

    private void broken(RuntimeException e) {
        end("a promise of ours is broken, so this healer ends; the log is the recovery", e);
    }

    private void end(String why, @Nullable RuntimeException e) {
        trouble = why;
        failed = true;
        if (e == null) {
            log.error("{}", why);
        } else {
            log.error("{}", why, e);
        }
        ended.countDown();
    }
}

package dev.unhang.healer.actuator;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.unhang.events.Topic;
import dev.unhang.events.v1.ActionResult;
import dev.unhang.events.v1.Claim;
import dev.unhang.healer.actuator.process.NodeProcesses;
import dev.unhang.healer.actuator.protocol.Effect;
import dev.unhang.healer.actuator.protocol.Protocol;
import dev.unhang.healer.actuator.protocol.Self;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.RealPrograms;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The actuator of one node: reads commands, lets the {@link Protocol} decide, has the {@link Worker} act, and tells the
 * log. One thread of its own reads and decides; it listens on nothing. Any thread may close it. While the broker is away
 * nothing is begun, and what runs ends by itself.
 */
public final class Actuator implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Actuator.class);

    private static final Duration POLL = Duration.ofMillis(100);
    private static final long HELLO_EACH_NS = Duration.ofMinutes(5).toNanos();
    private static final long AGAIN_MS = 500;

    private final ActuatorConfig config;
    private final LongSupplier nanos;
    private final Protocol protocol;
    private final Telemetry telemetry;
    private final Worker worker;
    private final CommandReader reader;
    private final ConcurrentLinkedQueue<LongFunction<List<Effect>>> fromWorker = new ConcurrentLinkedQueue<>();
    private final CountDownLatch stop = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread thread;
    private boolean stopped;
    private long helloNs;
    private boolean greeted;
    private volatile boolean well = true;

    private Actuator(ActuatorConfig config, String bootId, String version, Path proc, Clock clock, LongSupplier nanos) {
        this.config = config;
        this.nanos = nanos;
        SecureRandom random = new SecureRandom();
        String startId = HexFormat.of().formatHex(bytes(random, 8));
        Self self = new Self(config.node(), ByteString.copyFrom(HexFormat.of().parseHex(bootId)), startId, version);
        this.protocol =
                new Protocol(self, config.actions(), config.keys(), () -> ByteString.copyFrom(bytes(random, 16)));
        this.telemetry = new Telemetry(
                Producers.telemetry(config.kafka().client(), config.node()),
                Topic.TELEMETRY.name(config.kafka().topicPrefix()),
                config.node(),
                config.node() + "/" + bootId + "/actuator-" + startId,
                clock,
                nanos);
        Programs programs = new RealPrograms(nanos);
        this.worker = new Worker(
                Repairs.of(config, new NodeProcesses(proc), proc, programs, clock, telemetry::say),
                nanos,
                (command, refusal) -> fromWorker.add(now -> protocol.onAnswer(command, refusal, now)),
                (command, end) -> fromWorker.add(now -> protocol.onEnded(command, end.how(), end.detail(), now)));
        this.reader = new CommandReader(
                CommandReader.consumer(config.kafka().client(), config.node()),
                Topic.COMMANDS.name(config.kafka().topicPrefix()),
                config.node());
        this.thread = new Thread(this::run, "actuator");
    }

    /**
     * Starts, also while no broker answers.
     *
     * @throws IOException when the boot id cannot be read
     */
    public static Actuator start(ActuatorConfig config, String version, Path proc, Clock clock, LongSupplier nanos)
            throws IOException {
        Actuator actuator = new Actuator(config, new NodeProcesses(proc).bootId(), version, proc, clock, nanos);
        actuator.worker.start();
        actuator.thread.start();
        return actuator;
    }

    /** Waits until it is closed (true), or a broken promise of ours has ended it (false). */
    public boolean awaitEnd() throws InterruptedException {
        ended.await();
        return well;
    }

    /** Lets what runs come to an end, tells it, and ends. */
    @Override
    public void close() {
        stop.countDown();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try (reader;
                telemetry) {
            if (ready()) {
                telemetry.start();
                while (stop.getCount() > 0) {
                    turn();
                }
            }
            if (!worker.stop()) {
                log.error(
                        "an action did not end within 20 s of the stop; the next start tells that it was interrupted");
            }
            carryOut(drained());
        } catch (RuntimeException e) {
            well = false;
            log.error("the actuator ends: a promise of ours is broken", e);
            worker.close();
        } finally {
            ended.countDown();
        }
    }

    private boolean ready() {
        boolean told = false;
        while (!worker.isReady()
                || !reader.begin(Topic.TELEMETRY.name(config.kafka().topicPrefix()))) {
            if (!told) {
                log.info("waiting for the broker and its topics");
            }
            told = true;
            if (pause()) {
                return false;
            }
        }
        return stop.getCount() > 0;
    }

    private void turn() {
        long start = nanos.getAsLong();
        if (!greeted || start - helloNs >= HELLO_EACH_NS) {
            greeted = true;
            helloNs = start;
            telemetry.say(protocol.hello());
        }
        List<Message> messages = reader.read(POLL);
        if (reader.isFailing()) {
            boolean unused = pause();
        }
        localStop();
        carryOut(drained());
        for (Message message : messages) {
            carryOut(protocol.onRecord(message, nanos.getAsLong()));
        }
        carryOut(protocol.onTick(nanos.getAsLong()));
    }

    /** True when it is told to stop. */
    private boolean pause() {
        try {
            return stop.await(AGAIN_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /** What cannot be looked at counts as there. */
    private void localStop() {
        boolean now = !Files.notExists(config.stop());
        if (now != stopped) {
            log.warn(
                    now ? "{} is there: everything is refused" : "{} is gone: commands are taken again", config.stop());
        }
        stopped = now;
        carryOut(protocol.onLocalStop(now));
    }

    private List<Effect> drained() {
        List<Effect> effects = new ArrayList<>();
        for (LongFunction<List<Effect>> each = fromWorker.poll(); each != null; each = fromWorker.poll()) {
            effects.addAll(each.apply(nanos.getAsLong()));
        }
        return effects;
    }

    private void carryOut(List<Effect> effects) {
        for (Effect effect : effects) {
            if (effect instanceof Effect.Tell tell) {
                story(tell.message());
                telemetry.say(tell.message());
            } else if (effect instanceof Effect.Ask ask) {
                log.info(
                        "{} is offered: {} ({})",
                        ask.offer().getCommandId(),
                        ask.offer().getAction(),
                        ask.offer().getReason());
                worker.ask(ask.offer());
            } else if (effect instanceof Effect.Begin begin) {
                log.info("{} is granted and begins", begin.offer().getCommandId());
                worker.begin(begin.offer(), begin.latestNs(), begin.timeoutMs());
            } else if (effect instanceof Effect.Note note) {
                log.warn("{} is not done: {}", note.command(), note.sentence());
            }
        }
    }

    private static void story(Message message) {
        if (message instanceof Claim claim) {
            log.info("{} is claimed", claim.getCommandId());
        } else if (message instanceof ActionResult result) {
            log.info("{} ended as {}: {}", result.getCommandId(), result.getEnd(), result.getDetail());
        }
    }

    private static byte[] bytes(SecureRandom random, int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }
}

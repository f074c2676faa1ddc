package dev.unhang.healer.act;

import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.Withdraw;
import dev.unhang.healer.act.SchedulerException.Kind;
import dev.unhang.healer.actuator.protocol.Effect;
import dev.unhang.healer.actuator.protocol.Protocol;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.text.SafeText;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The executor of {@code @scheduler}: reads its commands, follows the same protocol as an actuator on a node, and has a
 * scheduler do what was granted. One command at a time; others wait, some of them for some seconds. The scheduler is
 * called on one worker thread, so that grants are read meanwhile. All else is confined to the thread that calls
 * {@link #turn}.
 */
final class SchedulerExecutor implements WhileDeciding.Work {

    private static final Logger log = LoggerFactory.getLogger(SchedulerExecutor.class);
    private static final Duration WAIT = Duration.ofMillis(100);
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(5);
    private static final long HELLO_EVERY_NS = TimeUnit.MINUTES.toNanos(5);

    /** A call that is under way when this healer stops may still end and be told. */
    private static final long END_WITHIN_S = 10;

    private final Consumer<String, byte[]> consumer;
    private final Protocol protocol;
    private final Scheduler scheduler;
    private final Inbox inbox;
    private final Lock changes;
    private final BooleanSupplier stopped;
    private final LongSupplier nanos;
    private final Waiting waiting = new Waiting();
    private final Queue<Runnable> done = new ConcurrentLinkedQueue<>();
    private final ExecutorService worker = Executors.newSingleThreadExecutor(work -> {
        Thread thread = new Thread(work, "scheduler-worker");
        thread.setDaemon(true);
        return thread;
    });
    private long nextHelloNs;

    /**
     * Goes to the end of its partition, and says hello only then: what is offered to who said hello is read.
     *
     * @param consumer without a group; closed with this
     * @param changes held while the scheduler is made to change something
     * @param stopped whether whoever is at this machine wants nothing done, whatever the log says
     */
    SchedulerExecutor(
            Consumer<String, byte[]> consumer,
            TopicPartition commands,
            Protocol protocol,
            Scheduler scheduler,
            Inbox inbox,
            Lock changes,
            BooleanSupplier stopped,
            LongSupplier nanos) {
        this.consumer = consumer;
        this.protocol = protocol;
        this.scheduler = scheduler;
        this.inbox = inbox;
        this.changes = changes;
        this.stopped = stopped;
        this.nanos = nanos;
        consumer.assign(List.of(commands));
        consumer.seekToEnd(List.of(commands));
        consumer.position(commands);
        inbox.say(protocol.hello());
        nextHelloNs = nanos.getAsLong() + HELLO_EVERY_NS;
    }

    @Override
    public void turn() {
        carryOut(protocol.onLocalStop(stopped.getAsBoolean()));
        for (ConsumerRecord<String, byte[]> record : consumer.poll(WAIT)) {
            if (Action.AT_SCHEDULER.equals(record.key())
                    && Codec.decode(record.headers(), record.value()) instanceof Codec.Decoded.Known known) {
                onCommand(known.message());
            }
        }
        for (Runnable end = done.poll(); end != null; end = done.poll()) {
            end.run();
        }
        long nowNs = nanos.getAsLong();
        carryOut(protocol.onTick(nowNs));
        if (protocol.busyWith().isEmpty()) {
            waiting.next(nowNs).ifPresent(offer -> carryOut(protocol.onRecord(offer, nowNs)));
        }
        if (nowNs - nextHelloNs >= 0) {
            nextHelloNs = nowNs + HELLO_EVERY_NS;
            inbox.say(protocol.hello());
        }
    }

    @Override
    public void close() {
        try {
            worker.shutdown();
            if (!worker.awaitTermination(END_WITHIN_S, TimeUnit.SECONDS)) {
                worker.shutdownNow();
            }
            for (Runnable end = done.poll(); end != null; end = done.poll()) {
                end.run();
            }
        } catch (InterruptedException e) {
            worker.shutdownNow();
            Thread.currentThread().interrupt();
        } finally {
            consumer.close(CloseOptions.timeout(CLOSE_WITHIN));
        }
    }

    private void onCommand(Message message) {
        long nowNs = nanos.getAsLong();
        if (message instanceof Withdraw withdraw) {
            waiting.remove(withdraw.getCommandId());
        }
        boolean waits = message instanceof Offer offer
                && protocol.busyWith()
                        .filter(at -> !at.equals(offer.getCommandId()))
                        .isPresent()
                && waiting.add(offer, nowNs);
        if (!waits) {
            carryOut(protocol.onRecord(message, nowNs));
        }
    }

    private void carryOut(List<Effect> effects) {
        for (Effect effect : effects) {
            if (effect instanceof Effect.Tell tell) {
                inbox.say(tell.message());
            } else if (effect instanceof Effect.Ask ask) {
                onWorker(() -> ask(ask.offer()));
            } else if (effect instanceof Effect.Begin begin) {
                onWorker(() -> begin(begin.offer(), begin.latestNs()));
            } else if (effect instanceof Effect.Note note) {
                log.atWarn()
                        .addKeyValue("command", SafeText.logged(note.command()))
                        .log("{}", SafeText.logged(note.sentence()));
            }
        }
    }

    /** What is begun while this closes comes too late, and its grant is used up: the next hello tells that. */
    private void onWorker(Runnable work) {
        if (!worker.isShutdown()) {
            worker.execute(work);
        }
    }

    private void ask(Offer offer) {
        Optional<String> refusal;
        try {
            Optional<Action> action = Action.named(offer.getAction());
            if (action.isEmpty()) {
                throw SchedulerException.refused("there is no action '" + offer.getAction() + "'");
            }
            scheduler.check(action.get(), offer.getParametersMap());
            refusal = Optional.empty();
        } catch (SchedulerException e) {
            refusal = Optional.of(e.words());
        } catch (RuntimeException e) {
            log.error("{} could not be looked at", SafeText.logged(offer.getCommandId()), e);
            refusal = Optional.of("the executor has a fault: " + e);
        }
        Optional<String> answer = refusal;
        done.add(() -> carryOut(protocol.onAnswer(offer.getCommandId(), answer, nanos.getAsLong())));
    }

    private void begin(Offer offer, long latestNs) {
        ActionEnd end;
        String detail;
        changes.lock();
        try {
            Action action = Action.named(offer.getAction()).orElseThrow();
            if (nanos.getAsLong() - latestNs > 0) {
                throw SchedulerException.refused("its turn came more than 5 s after the claim");
            }
            detail = scheduler.run(action, offer.getParametersMap());
            end = ActionEnd.ACTION_DONE;
        } catch (SchedulerException e) {
            detail = e.words();
            end = end(e.kind());
        } catch (RuntimeException e) {
            log.error("{} was not run to its end", SafeText.logged(offer.getCommandId()), e);
            detail = "the executor has a fault: " + e;
            end = ActionEnd.ACTION_TIMED_OUT;
        } finally {
            changes.unlock();
        }
        ActionEnd how = end;
        String told = detail;
        log.atInfo()
                .addKeyValue("command", SafeText.logged(offer.getCommandId()))
                .log("{} ended as {}: {}", SafeText.logged(offer.getAction()), how, SafeText.logged(told));
        done.add(() -> carryOut(protocol.onEnded(offer.getCommandId(), how, told, nanos.getAsLong())));
    }

    private static ActionEnd end(Kind kind) {
        return switch (kind) {
            case REFUSED -> ActionEnd.ACTION_REFUSED;
            case FAILED, UNREACHABLE -> ActionEnd.ACTION_FAILED;
            case UNKNOWN -> ActionEnd.ACTION_TIMED_OUT;
        };
    }
}

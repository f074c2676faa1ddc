package dev.unhang.healer.intake;

import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.Position;
import dev.unhang.events.v1.Pulse;
import dev.unhang.events.v1.StateValue;
import dev.unhang.healer.decide.InboxCore;
import dev.unhang.healer.journal.JournalWriter;
import dev.unhang.healer.journal.StateReader;
import dev.unhang.healer.text.SafeText;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The decider's role: a member of the group of the one inbox partition. Who is given the partition takes over, in this
 * order: fence the decider before; read the state to its end; raise the epoch in a first transaction; read the inbox
 * again from about two minutes before the position, with the output dropped; go on. Who is not given it stands by and
 * fences nobody. Each pass decides on all records that were polled and writes that in one transaction. A producer that
 * has been fenced throws, which ends the role; it then joins the group anew. Confined to the poll thread.
 */
public final class InboxIntake implements Turns {

    private static final Logger log = LoggerFactory.getLogger(InboxIntake.class);
    private static final Duration WAIT = Duration.ofMillis(100);
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(5);
    private static final long SECOND_NS = 1_000_000_000L;

    /** How far the position in the state may be behind while nothing is decided, ms of log time. */
    private static final long BOOKMARK_EVERY_MS = 5_000;

    private final Consumer<String, byte[]> consumer;
    private final Outbox outbox;
    private final Supplier<Producer<String, byte[]>> transactional;
    private final Supplier<Consumer<String, byte[]>> readers;
    private final String prefix;
    private final TopicPartition inbox;
    private final String healer;
    private final Orders orders;
    private final IntakeMetrics metrics;
    private final Clock clock;
    private final LongSupplier nanos;
    private boolean assigned;
    private @Nullable Reign reign;
    private long nextSecondNs;
    private volatile boolean pulseInFlight;

    /** What exists only while this healer decides. */
    private static final class Reign {
        final JournalWriter writer;
        final InboxCore core;
        final long liveFrom;
        long writtenLogMs;
        long pulses;
        long lastStampMs;

        Reign(JournalWriter writer, InboxCore core) {
            this.writer = writer;
            this.core = core;
            this.liveFrom = core.position().getInboxOffset();
            this.writtenLogMs = core.position().getLogTimeMs();
        }
    }

    InboxIntake(
            Consumer<String, byte[]> consumer,
            Outbox outbox,
            Supplier<Producer<String, byte[]>> transactional,
            Supplier<Consumer<String, byte[]>> readers,
            String prefix,
            String healer,
            Orders orders,
            IntakeMetrics metrics,
            Clock clock,
            LongSupplier nanos) {
        this.consumer = consumer;
        this.outbox = outbox;
        this.transactional = transactional;
        this.readers = readers;
        this.prefix = prefix;
        this.inbox = new TopicPartition(Topic.INBOX.name(prefix), 0);
        this.healer = healer;
        this.orders = orders;
        this.metrics = metrics;
        this.clock = clock;
        this.nanos = nanos;
        this.nextSecondNs = nanos.getAsLong();
        consumer.subscribe(List.of(inbox.topic()), new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                if (partitions.contains(inbox)) {
                    // Any valid position: where to read from is known only after the state was read.
                    consumer.seek(inbox, 0);
                    consumer.pause(List.of(inbox));
                    assigned = true;
                }
            }

            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                if (partitions.contains(inbox)) {
                    abdicate("the group gave the inbox to another healer");
                }
            }

            @Override
            public void onPartitionsLost(Collection<TopicPartition> partitions) {
                onPartitionsRevoked(partitions);
            }
        });
    }

    @Override
    public void turn() {
        ConsumerRecords<String, byte[]> records = consumer.poll(WAIT);
        if (assigned && reign == null) {
            reign = takeOver();
            return;
        }
        Reign current = reign;
        if (current == null) {
            return;
        }
        List<JournalEntry> entries = new ArrayList<>();
        for (ConsumerRecord<String, byte[]> record : records) {
            entries.addAll(decide(current, record));
        }
        write(current, entries);
        pulse(current);
    }

    @Override
    public void wakeUp() {
        consumer.wakeup();
    }

    @Override
    public void close() {
        try {
            abdicate("it stops");
        } finally {
            try {
                consumer.close(CloseOptions.timeout(CLOSE_WITHIN));
            } finally {
                outbox.close();
            }
        }
    }

    /** Whether this healer decides now. */
    boolean deciding() {
        return reign != null;
    }

    private Reign takeOver() {
        JournalWriter writer = new JournalWriter(transactional.get(), prefix, healer, orders.seal());
        try {
            writer.fenceOthers();
            Map<String, StateValue> state;
            try (Consumer<String, byte[]> reader = readers.get()) {
                state = StateReader.read(reader, prefix);
            }
            InboxCore core = InboxCore.resume(state, healer, orders.policy());
            Position start = core.position();
            long from = readFrom(core, start);
            writer.write(List.of(), start);
            consumer.seek(inbox, from);
            consumer.resume(List.of(inbox));
            metrics.deciding(true);
            log.atInfo()
                    .addKeyValue("epoch", core.epoch())
                    .log(
                            "this healer decides from inbox offset {} on, with {} open incidents; it reads again from {}",
                            start.getInboxOffset(),
                            core.ledger().openIncidents().size(),
                            from);
            return new Reign(writer, core);
        } catch (RuntimeException e) {
            writer.close();
            throw e;
        }
    }

    private long readFrom(InboxCore core, Position start) {
        long beginning = consumer.beginningOffsets(List.of(inbox)).getOrDefault(inbox, 0L);
        long end = consumer.endOffsets(List.of(inbox)).getOrDefault(inbox, 0L);
        if (start.getInboxOffset() > end) {
            throw new IllegalStateException("the state says that the inbox was read up to offset "
                    + start.getInboxOffset() + ", and " + inbox.topic() + " ends at " + end
                    + ": the topic was deleted or its broker lost data. Delete " + Topic.STATE.name(prefix) + " and "
                    + Topic.JOURNAL.name(prefix) + " too, or choose another kafka.topic-prefix");
        }
        if (start.getInboxOffset() < beginning) {
            log.warn(
                    "inbox records {} to {} were deleted before anybody decided on them: no healer ran for so long",
                    start.getInboxOffset(),
                    beginning - 1);
        }
        return Math.max(beginning, core.readFrom());
    }

    private List<JournalEntry> decide(Reign current, ConsumerRecord<String, byte[]> record) {
        Codec.Decoded decoded = Codec.decode(record.headers(), record.value());
        boolean live = record.offset() >= current.liveFrom;
        Message message = null;
        if (decoded instanceof Codec.Decoded.Known known) {
            message = known.message();
            metrics.recordRead(message.getDescriptorForType().getName());
        } else if (live && decoded instanceof Codec.Decoded.Skipped skipped) {
            metrics.skipped(skipped.type());
        } else if (live && decoded instanceof Codec.Decoded.Unreadable bad) {
            metrics.unreadable(Topic.INBOX);
            outbox.deadLetter(record, bad.reason(), metrics::deadLetterWritten);
        }
        current.lastStampMs = record.timestamp();
        return current.core.onRecord(record.offset(), record.timestamp(), message);
    }

    private void write(Reign current, List<JournalEntry> entries) {
        Position position = current.core.position();
        boolean due = position.getLogTimeMs() - current.writtenLogMs >= BOOKMARK_EVERY_MS;
        if (entries.isEmpty() && !due) {
            return;
        }
        outbox.settle();
        current.writer.write(entries, position);
        current.writtenLogMs = position.getLogTimeMs();
        if (due) {
            // For lag tools only: where to go on stands in the state.
            consumer.commitAsync(Map.of(inbox, new OffsetAndMetadata(position.getInboxOffset())), null);
        }
        for (JournalEntry entry : entries) {
            tell(entry);
        }
    }

    private static void tell(JournalEntry entry) {
        if (!entry.getIncident().isEmpty() && entry.getFrom() != entry.getTo()) {
            log.atInfo()
                    .addKeyValue("incident", entry.getIncident())
                    .addKeyValue("state", entry.getTo())
                    .log("{}", SafeText.logged(entry.getSentence()));
        }
    }

    private void pulse(Reign current) {
        long nowNs = nanos.getAsLong();
        if (nowNs - nextSecondNs < 0 || pulseInFlight) {
            return;
        }
        nextSecondNs = Math.max(nextSecondNs + SECOND_NS, nowNs);
        pulseInFlight = true;
        Pulse pulse = Pulse.newBuilder()
                .setOwner(healer)
                .setGeneration(current.core.epoch())
                .setSeq(++current.pulses)
                .build();
        long stampMs = current.lastStampMs > 0 ? current.lastStampMs : clock.millis();
        outbox.tell(Topic.INBOX, 0, pulse, stampMs, (metadata, error) -> pulseInFlight = false);
    }

    private void abdicate(String why) {
        assigned = false;
        Reign ended = reign;
        reign = null;
        if (ended != null) {
            metrics.deciding(false);
            log.info("this healer does not decide any more: {}", why);
            ended.writer.close();
        }
    }
}

package dev.unhang.healer.web;

import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.StateValue;
import dev.unhang.healer.intake.Troubles;
import dev.unhang.healer.text.SafeText;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Feeds the {@link Views} from the log: one consumer without a group, on one thread of its own. The state is read from
 * its beginning, the journal from some ten thousand records before its end, the inbox from a minute ago, since every
 * node reports each ten seconds. While Kafka is down the views stay as they were and say so; after anything worse, as a
 * log that was wiped, they begin anew.
 */
public final class ViewsFollower implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(ViewsFollower.class);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration ASK = Duration.ofSeconds(2);
    private static final Duration INBOX_AGE = Duration.ofSeconds(60);
    private static final long ASK_EVERY_NS = 1_000_000_000L;
    private static final long STARTING_NS = 30_000_000_000L;
    private static final long BEHIND_NS = 5_000_000_000L;

    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final Views views;
    private final TopicPartition state;
    private final TopicPartition journal;
    private final TopicPartition inbox;
    private final long journalRecords;
    private final Clock clock;
    private final LongSupplier nanos;
    private final long startedNs;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread thread;
    private volatile @Nullable Consumer<byte[], byte[]> consumer;
    private final Troubles troubles = new Troubles();
    private final AtomicLong unreadable = new AtomicLong();

    ViewsFollower(
            Supplier<Consumer<byte[], byte[]>> consumers,
            String prefix,
            Views views,
            int journalEntries,
            Clock clock,
            LongSupplier nanos) {
        this.consumers = consumers;
        this.views = views;
        this.state = new TopicPartition(Topic.STATE.name(prefix), 0);
        this.journal = new TopicPartition(Topic.JOURNAL.name(prefix), 0);
        this.inbox = new TopicPartition(Topic.INBOX.name(prefix), 0);
        this.journalRecords = 2L * journalEntries; // a transaction's marker takes an offset too
        this.clock = clock;
        this.nanos = nanos;
        this.startedNs = nanos.getAsLong();
        this.thread = new Thread(this::run, "views");
        this.thread.setDaemon(true);
    }

    /**
     * Starts to follow.
     *
     * @param client where Kafka is and how to speak to it: {@code bootstrap.servers} and security
     */
    public static ViewsFollower start(
            Map<String, Object> client, String prefix, Views views, Clock clock, LongSupplier nanos) {
        Map<String, Object> settings = new HashMap<>(client);
        settings.put(ConsumerConfig.CLIENT_ID_CONFIG, "views");
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 2_000);
        settings.put(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, 8 << 20);
        ViewsFollower follower = new ViewsFollower(
                () -> new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer()),
                prefix,
                views,
                Views.Limits.USUAL.journalEntries(),
                clock,
                nanos);
        follower.thread.start();
        return follower;
    }

    /** Whether the thread still runs; it ends only by {@link #close} or by a fault of ours. */
    public boolean alive() {
        return thread.isAlive();
    }

    /** Records of the three topics that could not be read. */
    public long unreadable() {
        return unreadable.get();
    }

    @Override
    public void close() {
        stopped.countDown();
        Consumer<byte[], byte[]> current = consumer;
        if (current != null) {
            current.wakeup();
        }
        try {
            thread.join(5_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        while (stopped.getCount() > 0) {
            try (Consumer<byte[], byte[]> opened = consumers.get()) {
                consumer = opened;
                follow(opened);
            } catch (WakeupException | InterruptException e) {
                return;
            } catch (TimeoutException e) {
                views.behind("Kafka does not answer: " + e.getMessage());
                tell(e);
            } catch (KafkaException e) {
                views.clear();
                views.behind("the log cannot be read: " + e.getMessage());
                tell(e);
            } finally {
                consumer = null;
            }
            try {
                if (stopped.await(1, TimeUnit.SECONDS)) {
                    return;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private void tell(KafkaException e) {
        // A first healer makes the topics only now, and whether brokers answer is told by those who ask them.
        boolean starting = !views.everReady() && nanos.getAsLong() - startedNs < STARTING_NS;
        log.atLevel(!starting && troubles.aloud(e, nanos.getAsLong()) ? Level.WARN : Level.DEBUG)
                .log("the views cannot follow the log, they try again each second: {}", e.getMessage());
    }

    private void follow(Consumer<byte[], byte[]> opened) {
        List<TopicPartition> all = List.of(state, journal, inbox);
        opened.assign(all);
        Map<TopicPartition, Long> ends = opened.endOffsets(all, ASK);
        seek(opened, ends);
        views.clear();
        long askedNs = nanos.getAsLong();
        while (stopped.getCount() > 0) {
            for (ConsumerRecord<byte[], byte[]> record : opened.poll(POLL)) {
                show(record);
            }
            long missing = missing(opened, ends);
            long nowNs = nanos.getAsLong();
            if (missing == 0) {
                if (!views.everReady()) {
                    views.caughtUp(nowNs);
                    log.info("the views show the whole log");
                }
                if (nowNs - askedNs >= ASK_EVERY_NS) {
                    ends = ask(opened, all, ends);
                    askedNs = nanos.getAsLong();
                }
            } else if (!views.everReady() || nowNs - askedNs >= BEHIND_NS) {
                views.behind("the views are " + missing + " records behind the log");
            }
        }
    }

    /** Where the log ends now. Also how we know that Kafka lives: a consumer alone says nothing when it does not. */
    private Map<TopicPartition, Long> ask(
            Consumer<byte[], byte[]> opened, List<TopicPartition> all, Map<TopicPartition, Long> before) {
        try {
            Map<TopicPartition, Long> ends = opened.endOffsets(all, ASK);
            views.caughtUp(nanos.getAsLong());
            return ends;
        } catch (TimeoutException e) {
            if (views.unready().isEmpty()) {
                views.behind("Kafka does not answer since " + clock.instant());
                log.warn("Kafka does not answer: the views stay as they are");
            }
            return before;
        }
    }

    private void seek(Consumer<byte[], byte[]> opened, Map<TopicPartition, Long> ends) {
        Map<TopicPartition, Long> begins = opened.beginningOffsets(List.of(state, journal, inbox), ASK);
        opened.seek(state, at(begins, state));
        opened.seek(journal, Math.max(at(begins, journal), at(ends, journal) - journalRecords));
        long since = clock.millis() - INBOX_AGE.toMillis();
        @Nullable
        OffsetAndTimestamp found =
                opened.offsetsForTimes(Map.of(inbox, since), ASK).get(inbox);
        opened.seek(inbox, found == null ? at(ends, inbox) : found.offset());
    }

    private static long at(Map<TopicPartition, Long> offsets, TopicPartition partition) {
        Long offset = offsets.get(partition);
        if (offset == null) {
            throw new TimeoutException("no answer for " + partition);
        }
        return offset;
    }

    private long missing(Consumer<byte[], byte[]> opened, Map<TopicPartition, Long> ends) {
        long missing = 0;
        for (TopicPartition partition : List.of(state, journal, inbox)) {
            missing += Math.max(0, at(ends, partition) - opened.position(partition, ASK));
        }
        return missing;
    }

    private void show(ConsumerRecord<byte[], byte[]> record) {
        boolean ofState = record.topic().equals(state.topic());
        if (ofState && record.key() != null && record.value() == null) {
            views.onState(new String(record.key(), StandardCharsets.UTF_8), null);
            return;
        }
        Codec.Decoded decoded = Codec.decode(record.headers(), record.value());
        if (!(decoded instanceof Codec.Decoded.Known known)) {
            note(record, decoded.toString());
        } else if (record.topic().equals(inbox.topic())) {
            views.onInbox(known.message(), record.timestamp(), nanos.getAsLong());
        } else if (ofState && record.key() != null && known.message() instanceof StateValue value) {
            views.onState(new String(record.key(), StandardCharsets.UTF_8), value);
        } else if (known.message() instanceof JournalEntry entry) {
            views.onJournal(entry);
        } else {
            note(record, "it does not belong there");
        }
    }

    private void note(ConsumerRecord<byte[], byte[]> record, String why) {
        unreadable.incrementAndGet();
        log.debug("{} at offset {} is not shown: {}", record.topic(), record.offset(), SafeText.logged(why));
    }
}

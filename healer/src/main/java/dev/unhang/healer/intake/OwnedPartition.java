package dev.unhang.healer.intake;

import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.Learned;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.Pulse;
import dev.unhang.healer.detect.node.PartitionDetector;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One telemetry partition while this healer owns it. It begins by warming its detector up on the records that the owner
 * before has judged or may have judged, and says nothing of its own. Then it says all that stands, then {@code Covered}
 * with {@code first}, and from there on what the detector finds; each second a pulse to the partition and a {@code Covered} to the inbox, each
 * minute what was learned. It tells that it covers only while its own pulses come back acknowledged, so an owner that
 * is cut off from its partition falls silent. Confined to the poll thread, but for acknowledgements.
 */
final class OwnedPartition {

    /** How far back the next owner warms up, ms of the partition's log time. */
    static final long REWIND_MS = 120_000;

    private static final long MARK_EVERY_MS = 10_000;
    private static final long PULSE_LOST_NS = 3_000_000_000L;
    private static final Logger log = LoggerFactory.getLogger(OwnedPartition.class);

    private record Mark(long offset, long logMs) {}

    private record Acknowledged(long offset, long stampMs) {}

    private final int partition;
    private final Origin origin;
    private final PartitionDetector detector;
    private final Outbox outbox;
    private final IntakeMetrics metrics;
    private final LongSupplier wallMs;
    private final long passedOnUntil;
    private final long warmUntil;
    private final Deque<Mark> marks = new ArrayDeque<>();
    private long position;
    private long committed = -1;
    private long lastStampMs;
    private boolean live;
    private int unreadable;
    private long pulses;
    private volatile boolean pulseInFlight;
    private volatile boolean coverInFlight;
    private volatile @Nullable Acknowledged acknowledged;
    private long pulseSentNs;

    /**
     * @param warmFrom offset of the first record that is read
     * @param passedOnUntil the owner before has committed up to here: what nodes say to the decider from here on, and
     *     what is unreadable, may not have been passed on
     * @param warmUntil the partition's end when it was assigned. The owner before may have spoken of records up to here
     *     and died before it committed: who says what stands at an earlier record unsays that for a moment
     * @param wallMs wall clock, for stamps and for people
     */
    OwnedPartition(
            Origin origin,
            PartitionDetector detector,
            long warmFrom,
            long passedOnUntil,
            long warmUntil,
            Outbox outbox,
            IntakeMetrics metrics,
            LongSupplier wallMs) {
        this.partition = origin.getPartition();
        this.origin = origin;
        this.detector = detector;
        this.passedOnUntil = passedOnUntil;
        this.warmUntil = Math.max(passedOnUntil, warmUntil);
        this.position = warmFrom;
        this.outbox = outbox;
        this.metrics = metrics;
        this.wallMs = wallMs;
    }

    /** Takes the next record of the partition. */
    void take(ConsumerRecord<String, byte[]> record) {
        position = record.offset();
        goLiveIfWarm();
        mark(record.offset());
        Codec.Decoded decoded = NodeKey.checked(record.key(), Codec.decode(record.headers(), record.value()));
        lastStampMs = record.timestamp();
        Message message = null;
        if (decoded instanceof Codec.Decoded.Known known) {
            message = known.message();
            metrics.recordRead(message.getDescriptorForType().getName());
        } else if (record.offset() >= passedOnUntil) {
            leave(record, decoded);
        }
        // Also what nobody can read makes time pass.
        String node = record.key() == null ? "" : record.key();
        publish(detector.onRecord(node, message, record.timestamp()), record);
        if (live && message != null) {
            metrics.judged(node, message, Duration.ofMillis(wallMs.getAsLong() - record.timestamp()));
        }
        position = record.offset() + 1;
    }

    /** All that was polled has been taken; the consumer stands at {@code next}, past markers and gaps. */
    void reached(long next) {
        position = Math.max(position, next);
        goLiveIfWarm();
    }

    /** A second has passed. {@code lagRecords} are those that the partition holds beyond what was taken. */
    void second(long nowNs, long lagRecords) {
        if (!pulseInFlight) {
            pulseInFlight = true;
            pulseSentNs = nowNs;
            outbox.tell(Topic.TELEMETRY, partition, pulse(), stamp(), (metadata, error) -> {
                if (error == null) {
                    acknowledged = new Acknowledged(metadata.offset(), metadata.timestamp());
                }
                pulseInFlight = false;
            });
        }
        boolean lost = pulseInFlight && nowNs - pulseSentNs >= PULSE_LOST_NS;
        if (live && !lost && !coverInFlight) {
            coverInFlight = true;
            outbox.tell(
                    Topic.INBOX, 0, covered(false, lagRecords), stamp(), (metadata, error) -> coverInFlight = false);
        }
        if (live) {
            detector.learnedIfDue().ifPresent(this::learned);
        }
    }

    /** What to commit, or null when nothing was judged since the last time. Call it after the outbox has settled. */
    @Nullable
    OffsetAndMetadata toCommit() {
        if (!live || position == committed) {
            return null;
        }
        committed = position;
        return new OffsetAndMetadata(position, bookmark().text());
    }

    boolean live() {
        return live;
    }

    Origin origin() {
        return origin;
    }

    private Bookmark bookmark() {
        Mark first = marks.peekFirst();
        return new Bookmark(first == null ? position : first.offset(), origin.getGeneration());
    }

    private void goLiveIfWarm() {
        if (live || position < warmUntil) {
            return;
        }
        live = true;
        detector.standing().forEach(message -> say(message, stamp()));
        outbox.toInbox(covered(true, 0), stamp());
        log.atDebug()
                .addKeyValue("partition", partition)
                .addKeyValue("generation", origin.getGeneration())
                .log("this healer judges telemetry partition {} from offset {} on", partition, position);
    }

    private void publish(List<Message> said, ConsumerRecord<String, byte[]> record) {
        for (Message message : said) {
            boolean ofDetector = message instanceof Finding || message instanceof NodeReport;
            if (ofDetector ? live : record.offset() >= passedOnUntil) {
                say(message, record.timestamp());
            }
        }
    }

    private void say(Message message, long stampMs) {
        if (message instanceof Finding finding) {
            metrics.found(finding);
        }
        outbox.toInbox(message, stampMs);
    }

    private void leave(ConsumerRecord<String, byte[]> record, Codec.Decoded decoded) {
        if (decoded instanceof Codec.Decoded.Skipped skipped) {
            metrics.skipped(skipped.type());
        } else if (decoded instanceof Codec.Decoded.Unreadable bad) {
            unreadable++;
            metrics.unreadable(Topic.TELEMETRY);
            outbox.deadLetter(record, bad.reason(), metrics::deadLetterWritten);
        }
    }

    private void mark(long offset) {
        long logMs = detector.logTimeMs();
        Mark last = marks.peekLast();
        if (last != null && logMs - last.logMs() < MARK_EVERY_MS) {
            return;
        }
        marks.addLast(new Mark(offset, logMs));
        while (marks.size() > 1 && logMs - second().logMs() >= REWIND_MS) {
            marks.removeFirst();
        }
    }

    private Mark second() {
        return marks.stream().skip(1).findFirst().orElseThrow();
    }

    private Pulse pulse() {
        return Pulse.newBuilder()
                .setOwner(origin.getOwner())
                .setGeneration(origin.getGeneration())
                .setSeq(++pulses)
                .build();
    }

    private Covered covered(boolean first, long lagRecords) {
        Acknowledged end = acknowledged;
        long lagMs = end == null || position > end.offset() || lastStampMs == 0
                ? 0
                : Math.max(0, end.stampMs() - lastStampMs);
        return Covered.newBuilder()
                .setOrigin(origin)
                .setJudgedOffset(position)
                .setLagMs(lagMs)
                .setLagRecords(Math.max(0, lagRecords))
                .setFirst(first)
                .setNodes(detector.nodes())
                .setLogTimeMs(detector.logTimeMs())
                .setUnreadable(unreadable)
                .build();
    }

    private void learned(Learned part) {
        outbox.tell(Topic.TELEMETRY, partition, part, stamp(), (metadata, error) -> {
            if (error != null) {
                log.warn("what was learned of partition {} could not be written: {}", partition, error.toString());
            }
        });
    }

    /** The broker puts its own stamp; where the lab lets ours stand, what we write must not make time pass. */
    private long stamp() {
        return lastStampMs > 0 ? lastStampMs : wallMs.getAsLong();
    }
}

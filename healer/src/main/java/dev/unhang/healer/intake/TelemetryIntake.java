package dev.unhang.healer.intake;

import dev.unhang.events.Topic;
import dev.unhang.events.v1.Origin;
import dev.unhang.healer.detect.node.PartitionDetector;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Owns some partitions of {@code unhang.telemetry} as a member of a group, and judges the nodes in them. What is found
 * is in the inbox before the offset is committed: at least once, and doubles are harmless because findings stand. A
 * partition that is taken over is read again from about two minutes before the committed offset up to its end, with
 * nothing published.
 * Confined to the poll thread.
 */
public final class TelemetryIntake implements Turns {

    private static final Logger log = LoggerFactory.getLogger(TelemetryIntake.class);

    private static final Duration WAIT = Duration.ofMillis(100);
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(5);
    private static final long SECOND_NS = 1_000_000_000L;

    private final Consumer<String, byte[]> consumer;
    private final Outbox outbox;
    private final String topic;
    private final String healer;
    private final IntakeMetrics metrics;
    private final Function<Origin, PartitionDetector> detectors;
    private final Clock clock;
    private final LongSupplier nanos;
    private final Map<TopicPartition, OwnedPartition> owned = new HashMap<>();
    private long nextSecondNs;

    TelemetryIntake(
            Consumer<String, byte[]> consumer,
            Outbox outbox,
            String prefix,
            String healer,
            IntakeMetrics metrics,
            Function<Origin, PartitionDetector> detectors,
            Clock clock,
            LongSupplier nanos) {
        this.consumer = consumer;
        this.outbox = outbox;
        this.topic = Topic.TELEMETRY.name(prefix);
        this.healer = healer;
        this.metrics = metrics;
        this.detectors = detectors;
        this.clock = clock;
        this.nanos = nanos;
        this.nextSecondNs = nanos.getAsLong();
        consumer.subscribe(List.of(topic), new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> assigned) {
                taken(assigned);
            }

            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
                if (!revoked.isEmpty()) {
                    outbox.settle();
                    commit(revoked);
                    revoked.forEach(owned::remove);
                }
            }

            @Override
            public void onPartitionsLost(Collection<TopicPartition> lost) {
                lost.forEach(owned::remove);
            }
        });
    }

    @Override
    public void turn() {
        ConsumerRecords<String, byte[]> records = consumer.poll(WAIT);
        for (ConsumerRecord<String, byte[]> record : records) {
            OwnedPartition partition = owned.get(new TopicPartition(record.topic(), record.partition()));
            if (partition != null) {
                partition.take(record);
            }
        }
        owned.forEach((at, partition) -> partition.reached(consumer.position(at)));
        long nowNs = nanos.getAsLong();
        if (nowNs - nextSecondNs >= 0) {
            nextSecondNs = Math.max(nextSecondNs + SECOND_NS, nowNs);
            owned.forEach((at, partition) -> partition.second(nowNs, lagRecords(at)));
            commitAll();
        }
    }

    @Override
    public void wakeUp() {
        consumer.wakeup();
    }

    @Override
    public void close() {
        try {
            consumer.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(CLOSE_WITHIN));
        } finally {
            outbox.close();
        }
    }

    /** The partitions that are judged live now. */
    Set<Integer> judged() {
        Set<Integer> judged = new HashSet<>();
        owned.forEach((at, partition) -> {
            if (partition.live()) {
                judged.add(at.partition());
            }
        });
        return judged;
    }

    private void commitAll() {
        if (owned.isEmpty()) {
            return;
        }
        try {
            outbox.settle();
            commit(owned.keySet());
        } catch (RebalanceInProgressException e) {
            // The poll that comes next ends the rebalance, and the second after it commits.
        }
    }

    private void commit(Collection<TopicPartition> partitions) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (TopicPartition at : partitions) {
            OwnedPartition partition = owned.get(at);
            OffsetAndMetadata offset = partition == null ? null : partition.toCommit();
            if (offset != null) {
                offsets.put(at, offset);
            }
        }
        if (!offsets.isEmpty()) {
            consumer.commitSync(offsets);
        }
    }

    private void taken(Collection<TopicPartition> assigned) {
        if (assigned.isEmpty()) {
            return;
        }
        Set<TopicPartition> fresh = new HashSet<>(assigned);
        Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(fresh);
        Map<TopicPartition, Long> ends = consumer.endOffsets(fresh);
        Map<TopicPartition, Long> beginnings = consumer.beginningOffsets(fresh);
        Map<TopicPartition, Long> recent = recent(fresh, committed);
        Map<TopicPartition, OffsetAndMetadata> claims =
                new TreeMap<>((a, b) -> Integer.compare(a.partition(), b.partition()));
        for (TopicPartition at : fresh) {
            OffsetAndMetadata last = committed.get(at);
            long end = ends.getOrDefault(at, 0L);
            long beginning = beginnings.getOrDefault(at, 0L);
            long until = last == null ? end : Math.min(Math.max(last.offset(), beginning), end);
            Bookmark before = last != null && Bookmark.readable(last.metadata())
                    ? Bookmark.parse(last.metadata())
                    : new Bookmark(recent.getOrDefault(at, until), 0);
            long from = Math.max(beginning, Math.min(before.rewind(), until));
            Origin origin = Origin.newBuilder()
                    .setPartition(at.partition())
                    .setGeneration(before.nextGeneration(clock.millis()))
                    .setOwner(healer)
                    .build();
            owned.put(
                    at,
                    new OwnedPartition(
                            origin, detectors.apply(origin), from, until, end, outbox, metrics, clock::millis));
            claims.put(at, new OffsetAndMetadata(until, new Bookmark(from, origin.getGeneration()).text()));
            consumer.seek(at, from);
        }
        consumer.commitSync(claims);
        log.info(
                "this healer judges telemetry partitions {}",
                owned.keySet().stream().map(TopicPartition::partition).sorted().toList());
    }

    /** Where no bookmark tells from where to warm up: two minutes ago by the brokers' stamps. A place to read from only. */
    private Map<TopicPartition, Long> recent(
            Set<TopicPartition> partitions, Map<TopicPartition, OffsetAndMetadata> committed) {
        Map<TopicPartition, Long> asked = new HashMap<>();
        for (TopicPartition at : partitions) {
            OffsetAndMetadata last = committed.get(at);
            if (last == null || !Bookmark.readable(last.metadata())) {
                asked.put(at, Math.max(0, clock.millis() - OwnedPartition.REWIND_MS));
            }
        }
        Map<TopicPartition, Long> recent = new HashMap<>();
        if (!asked.isEmpty()) {
            Map<TopicPartition, OffsetAndTimestamp> found = consumer.offsetsForTimes(asked);
            found.forEach((at, offset) -> {
                if (offset != null) {
                    recent.put(at, offset.offset());
                }
            });
        }
        return recent;
    }

    private long lagRecords(TopicPartition at) {
        OptionalLong lag = consumer.currentLag(at);
        return lag.orElse(0);
    }
}

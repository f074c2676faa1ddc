package dev.unhang.healer.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.v1.Claim;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.Pulse;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.StateValue;
import dev.unhang.healer.detect.node.PartitionDetector;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class IntakeTest {

    private static final String PREFIX = "unhang.";
    private static final TopicPartition TELEMETRY = new TopicPartition("unhang.telemetry", 4);
    private static final TopicPartition INBOX = new TopicPartition("unhang.inbox", 0);
    private static final TopicPartition STATE = new TopicPartition("unhang.state", 0);
    private static final long T0 = 1_800_000_000_000L;

    private final Consumed consumer = new Consumed();
    private final MockProducer<String, byte[]> plain = producer();
    private final MockProducer<String, byte[]> transactional = producer();
    private final Clock clock = Clock.fixed(Instant.ofEpochMilli(T0), ZoneOffset.UTC);
    private long nanos;
    private int deadLetters;
    private int skipped;

    private final IntakeMetrics metrics = new IntakeMetrics() {
        @Override
        public void deadLetterWritten() {
            deadLetters++;
        }

        @Override
        public void skipped(String type) {
            skipped++;
        }
    };

    /** MockConsumer does not know offsetsForTimes. */
    private static final class Consumed extends MockConsumer<String, byte[]> {
        Consumed() {
            super("earliest");
        }

        @Override
        public synchronized Map<TopicPartition, OffsetAndTimestamp> offsetsForTimes(Map<TopicPartition, Long> times) {
            return new HashMap<>();
        }
    }

    @Test
    void aNewOwnerWarmsUpInSilenceThenSaysWhatStandsThenCovers() {
        TelemetryIntake intake = owner(new Bookmark(0, T0 + 7), 2, 2);
        consumer.addRecord(telemetry(0, sample(1)));
        intake.turn();
        assertThat(inbox()).isEmpty();
        assertThat(intake.judged()).isEmpty();

        consumer.addRecord(telemetry(1, sample(2)));
        intake.turn();
        List<Message> said = inbox();
        assertThat(said.get(0)).isInstanceOf(NodeReport.class);
        assertThat(said.get(said.size() - 1)).isInstanceOfSatisfying(Covered.class, covered -> {
            assertThat(covered.getFirst()).isTrue();
            assertThat(covered.getJudgedOffset()).isEqualTo(2);
            assertThat(covered.getOrigin())
                    .isEqualTo(Origin.newBuilder()
                            .setPartition(4)
                            .setGeneration(T0 + 8)
                            .setOwner("h1")
                            .build());
        });
        assertThat(intake.judged()).containsExactly(4);
    }

    @Test
    void whatStandsIsSaidOnlyOnceAllIsJudgedThatTheOwnerBeforeMayHaveSpokenOf() {
        TelemetryIntake intake = owner(new Bookmark(0, 0), 2, 4);
        for (int offset = 0; offset < 4; offset++) {
            assertThat(inbox()).as("said before offset %s", offset).isEmpty();
            consumer.addRecord(telemetry(offset, sample(offset + 1)));
            intake.turn();
        }
        assertThat(inbox()).last().isInstanceOfSatisfying(Covered.class, covered -> {
            assertThat(covered.getFirst()).isTrue();
            assertThat(covered.getJudgedOffset()).isEqualTo(4);
        });
    }

    @Test
    void whatANodeSaysToTheDeciderIsPassedOnFromTheCommittedOffsetOn() {
        TelemetryIntake intake = owner(new Bookmark(0, 0), 1, 3);
        for (int offset = 0; offset < 2; offset++) {
            consumer.addRecord(telemetry(
                    offset, Claim.newBuilder().setCommandId("c" + offset).build()));
        }
        intake.turn();
        assertThat(inbox())
                .containsExactly(Claim.newBuilder().setCommandId("c1").build());
    }

    @Test
    void whatIsUnreadableMakesTimePassAndANodesWordNeedsItsName() {
        TelemetryIntake intake = owner(new Bookmark(0, 0), 0, 3);
        byte[] garbage = "garbage".getBytes(StandardCharsets.UTF_8);
        NodeSample sample = sample(1);
        consumer.addRecord(record(TELEMETRY, 0, "n1", garbage, new RecordHeaders()));
        consumer.addRecord(record(TELEMETRY, 1, "n1", garbage, headers(sample)));
        consumer.addRecord(record(TELEMETRY, 2, null, sample.toByteArray(), headers(sample)));
        intake.turn();
        assertThat(reasons())
                .satisfiesExactly(
                        first -> assertThat(first).isEqualTo("no ce_type header"),
                        second -> assertThat(second).startsWith("dev.unhang.events.v1.NodeSample of 7 bytes: "),
                        third -> assertThat(third).isEqualTo("no key: a record of telemetry is keyed by its node"));
        assertThat(inbox()).singleElement().isInstanceOfSatisfying(Covered.class, covered -> {
            assertThat(covered.getLogTimeMs()).isEqualTo(2_000);
            assertThat(covered.getUnreadable()).isEqualTo(3);
            assertThat(covered.getNodes()).isZero();
        });
    }

    @Test
    void ofARecordThatNoTopicHoldsADeadLetterKeepsTheBeginningAndItsLength() {
        TelemetryIntake intake = owner(new Bookmark(0, 0), 0, 2);
        byte[] most = new byte[Outbox.MOST_WHOLE_BYTES];
        byte[] more = new byte[Outbox.MOST_WHOLE_BYTES + 1];
        more[0] = 7;
        consumer.addRecord(record(TELEMETRY, 0, "n1", most, new RecordHeaders()));
        consumer.addRecord(record(TELEMETRY, 1, "n1", more, new RecordHeaders()));
        intake.turn();
        assertThat(letters())
                .satisfiesExactly(
                        whole -> {
                            assertThat(whole.value()).hasSize(Outbox.MOST_WHOLE_BYTES);
                            assertThat(whole.headers().lastHeader("unhang-bytes"))
                                    .isNull();
                        },
                        cut -> {
                            assertThat(cut.value()).hasSize(Outbox.KEPT_BYTES).startsWith(7);
                            assertThat(text(cut, "unhang-bytes")).isEqualTo(Integer.toString(more.length));
                        });
    }

    @Test
    void theClaimOfAGenerationIsCommittedBeforeAnythingIsSaid() {
        owner(new Bookmark(0, 3), 2, 2);
        assertThat(plain.history()).isEmpty();
        OffsetAndMetadata claim = committed();
        assertThat(claim.offset()).isEqualTo(2);
        assertThat(Bookmark.parse(claim.metadata())).isEqualTo(new Bookmark(0, T0));
    }

    @Test
    void eachSecondThereIsAPulseAndACoverAlsoWhenNothingComes() {
        TelemetryIntake intake = owner(new Bookmark(0, 0), 0, 0);
        intake.turn();
        plain.clear();
        intake.turn();
        assertThat(plain.history()).isEmpty();
        nanos += Duration.ofSeconds(1).toNanos();
        intake.turn();
        assertThat(all()).extracting(Object::getClass).containsExactly(Pulse.class, Covered.class);
    }

    @Test
    void whatCannotBeReadIsKeptWholeAndStopsNothing() {
        TelemetryIntake intake = owner(new Bookmark(0, 0), 0, 3);
        byte[] garbage = "garbage".getBytes(StandardCharsets.UTF_8);
        intake.turn();
        RecordHeaders newer = new RecordHeaders();
        newer.add("ce_type", "dev.unhang.events.v2.Thing".getBytes(StandardCharsets.UTF_8));
        consumer.addRecord(record(TELEMETRY, 0, "n1", garbage, new RecordHeaders()));
        consumer.addRecord(record(TELEMETRY, 1, "n1", garbage, newer));
        consumer.addRecord(telemetry(2, sample(1)));
        nanos += Duration.ofSeconds(1).toNanos();
        intake.turn();
        assertThat(deadLetters).isEqualTo(1);
        assertThat(skipped).isEqualTo(1);
        assertThat(letters())
                .singleElement()
                .satisfies(letter -> assertThat(letter.value()).isEqualTo(garbage));
        assertThat(reasons()).containsExactly("no ce_type header");
        assertThat(committed().offset()).isEqualTo(3);
    }

    @Test
    void aStandbyFencesNobody() {
        InboxIntake intake = decider(0);
        intake.turn();
        intake.turn();
        assertThat(transactional.transactionInitialized()).isFalse();
        assertThat(intake.deciding()).isFalse();
    }

    @Test
    void whoIsGivenTheInboxFencesThenRaisesTheEpochThenDecides() {
        InboxIntake intake = decider(2);
        consumer.rebalance(List.of(INBOX));
        intake.turn();
        assertThat(transactional.transactionInitialized()).isTrue();
        assertThat(positions()).containsExactly("0@1");

        Origin origin = Origin.newBuilder().setPartition(4).setGeneration(1).build();
        consumer.addRecord(
                inbox(0, Covered.newBuilder().setOrigin(origin).setFirst(true).build()));
        consumer.addRecord(inbox(1, silent(origin)));
        intake.turn();
        assertThat(journal()).extracting(JournalEntry::getIndex).containsExactly(0, 1, 2);
        assertThat(positions()).containsExactly("0@1", "2@1");
        assertThat(transactional.commitCount()).isEqualTo(2);
    }

    @Test
    void aFencedDeciderEndsItsRole() {
        InboxIntake intake = decider(2);
        consumer.rebalance(List.of(INBOX));
        intake.turn();
        transactional.fenceProducer();
        Origin origin = Origin.newBuilder().setPartition(4).setGeneration(1).build();
        consumer.addRecord(
                inbox(0, Covered.newBuilder().setOrigin(origin).setFirst(true).build()));
        consumer.addRecord(inbox(1, silent(origin)));
        assertThatThrownBy(intake::turn).isInstanceOf(ProducerFencedException.class);
        assertThat(journal()).isEmpty();
    }

    @Test
    void aGenerationRisesWhateverTheClocksSay() {
        assertThat(new Bookmark(0, 500).nextGeneration(400)).isEqualTo(501);
        assertThat(new Bookmark(0, 500).nextGeneration(600)).isEqualTo(600);
        assertThat(Bookmark.parse(new Bookmark(12, 34).text())).isEqualTo(new Bookmark(12, 34));
        assertThat(Bookmark.readable("")).isFalse();
    }

    private TelemetryIntake owner(Bookmark before, long committed, long end) {
        consumer.updateBeginningOffsets(Map.of(TELEMETRY, 0L));
        consumer.updateEndOffsets(Map.of(TELEMETRY, end));
        TelemetryIntake intake = new TelemetryIntake(
                consumer,
                new Outbox(plain, PREFIX, "h1"),
                PREFIX,
                "h1",
                metrics,
                PartitionDetector::new,
                clock,
                () -> nanos);
        consumer.commitSync(Map.of(TELEMETRY, new OffsetAndMetadata(committed, before.text())));
        consumer.rebalance(List.of(TELEMETRY));
        nanos -= 1;
        return intake;
    }

    private InboxIntake decider(long end) {
        consumer.updateBeginningOffsets(Map.of(INBOX, 0L));
        consumer.updateEndOffsets(Map.of(INBOX, end));
        return new InboxIntake(
                consumer,
                new Outbox(plain, PREFIX, "h1"),
                () -> transactional,
                () -> {
                    MockConsumer<String, byte[]> empty = new MockConsumer<>("earliest");
                    empty.updateBeginningOffsets(Map.of(STATE, 0L));
                    empty.updateEndOffsets(Map.of(STATE, 0L));
                    return empty;
                },
                PREFIX,
                "h1",
                Orders.NONE,
                metrics,
                clock,
                () -> nanos);
    }

    private static Finding silent(Origin origin) {
        return Finding.newBuilder()
                .setOrigin(origin)
                .setKind(IncidentKind.NODE_SILENT)
                .setSubject("node:n1")
                .setStanding(Standing.CONFIRMED)
                .addNodes("n1")
                .build();
    }

    private static NodeSample sample(long seq) {
        return NodeSample.newBuilder()
                .setBootId(ByteString.copyFrom(new byte[16]))
                .setCollectorStart(1)
                .setSeq(seq)
                .setMonoNs(seq * 1_000_000_000L)
                .build();
    }

    private List<Message> inbox() {
        return messages("unhang.inbox", plain);
    }

    private List<ProducerRecord<String, byte[]>> letters() {
        return plain.history().stream()
                .filter(record -> record.topic().equals("unhang.dead-letters"))
                .toList();
    }

    private List<String> reasons() {
        return letters().stream().map(letter -> text(letter, "unhang-reason")).toList();
    }

    private static String text(ProducerRecord<String, byte[]> record, String header) {
        return new String(record.headers().lastHeader(header).value(), StandardCharsets.UTF_8);
    }

    private List<Message> all() {
        return plain.history().stream().map(IntakeTest::message).toList();
    }

    private List<JournalEntry> journal() {
        return messages("unhang.journal", transactional).stream()
                .map(JournalEntry.class::cast)
                .toList();
    }

    private List<String> positions() {
        return messages("unhang.state", transactional).stream()
                .map(StateValue.class::cast)
                .filter(StateValue::hasPosition)
                .map(value -> value.getPosition().getInboxOffset() + "@"
                        + value.getPosition().getEpoch())
                .toList();
    }

    private OffsetAndMetadata committed() {
        @Nullable
        OffsetAndMetadata found =
                consumer.committed(java.util.Set.of(TELEMETRY)).get(TELEMETRY);
        assertThat(found).isNotNull();
        return java.util.Objects.requireNonNull(found);
    }

    private static List<Message> messages(String topic, MockProducer<String, byte[]> producer) {
        List<Message> messages = new ArrayList<>();
        for (ProducerRecord<String, byte[]> record : producer.history()) {
            if (record.topic().equals(topic)) {
                messages.add(message(record));
            }
        }
        return messages;
    }

    private static Message message(ProducerRecord<String, byte[]> record) {
        return ((Codec.Decoded.Known) Codec.decode(record.headers(), record.value())).message();
    }

    private static ConsumerRecord<String, byte[]> telemetry(long offset, Message message) {
        return record(TELEMETRY, offset, "n1", message.toByteArray(), headers(message));
    }

    private static ConsumerRecord<String, byte[]> inbox(long offset, Message message) {
        return record(INBOX, offset, null, message.toByteArray(), headers(message));
    }

    private static Headers headers(Message message) {
        return Codec.headers(message, "id", "/nodes/n1", Instant.EPOCH);
    }

    private static ConsumerRecord<String, byte[]> record(
            TopicPartition at, long offset, @Nullable String key, byte[] value, Headers headers) {
        return new ConsumerRecord<>(
                at.topic(),
                at.partition(),
                offset,
                T0 + offset * 1_000,
                TimestampType.LOG_APPEND_TIME,
                0,
                value.length,
                key,
                value,
                headers,
                Optional.empty());
    }

    private static MockProducer<String, byte[]> producer() {
        return new MockProducer<>(true, null, new StringSerializer(), new ByteArraySerializer());
    }
}

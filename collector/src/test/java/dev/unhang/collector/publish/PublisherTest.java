package dev.unhang.collector.publish;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.unhang.events.Codec;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeSample;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PublisherTest {

    private static final ByteString BOOT = ByteString.copyFrom(new byte[] {1, 2, 3});

    private final AtomicLong now = new AtomicLong(10_000_000_000L);
    private final Losses losses = new Losses();
    private final Backlog backlog = new Backlog(100, 1 << 20, losses);
    private final Deque<MockProducer<String, byte[]>> made = new ArrayDeque<>();
    private final Deque<Boolean> topicAnswers = new ArrayDeque<>();
    private final AtomicInteger topicAsked = new AtomicInteger();
    private final Publisher publisher = new Publisher(
            new Publisher.Target("unhang.telemetry", "node-1", "broker:9092"),
            backlog,
            losses,
            () -> {
                topicAsked.incrementAndGet();
                return topicAnswers.isEmpty() || topicAnswers.removeFirst();
            },
            this::producer,
            now::get,
            Duration.ofMillis(1),
            Duration.ofMillis(1));

    @AfterEach
    void end() {
        publisher.close(Duration.ZERO);
    }

    @Test
    void aRecordBearsItsEnvelopeAndHowLongItWaited() throws Exception {
        publisher.publish(sample(7), Instant.parse("2026-01-01T00:00:00Z"), now.get());
        now.addAndGet(1_500_000_000L);
        turnUntilSent(1);

        ProducerRecord<String, byte[]> record = made.getLast().history().get(0);
        assertThat(record.topic()).isEqualTo("unhang.telemetry");
        assertThat(record.key()).isEqualTo("node-1");
        assertThat(header(record, "ce_id")).isEqualTo("node-1/010203/99/7");
        assertThat(header(record, "ce_source")).isEqualTo("/nodes/node-1");
        assertThat(header(record, "ce_time")).isEqualTo("2026-01-01T00:00:00Z");
        Codec.Decoded.Known known = (Codec.Decoded.Known) Codec.decode(record.headers(), record.value());
        assertThat(((NodeSample) known.message()).getQueuedMs()).isEqualTo(1500);
    }

    @Test
    void anEventAndASampleOfOneNumberHaveTwoIds() throws Exception {
        publisher.publish(sample(1), Instant.EPOCH, now.get());
        publisher.publish(event(1), Instant.EPOCH, now.get());
        turnUntilSent(2);

        assertThat(made.getLast().history().stream().map(record -> header(record, "ce_id")))
                .containsExactly("node-1/010203/99/1", "node-1/010203/99/e1");
    }

    @Test
    void nothingIsSentBeforeTheTopicIsThere() throws Exception {
        topicAnswers.add(false);
        publisher.publish(sample(1), Instant.EPOCH, now.get());
        Thread asking = new Thread(this::turn);
        asking.start();
        asking.join();
        assertThat(made).isEmpty();
        assertThat(backlog.level(now.get()).records()).isEqualTo(1);

        turnUntilSent(1);

        assertThat(topicAsked).hasValue(2);
    }

    @Test
    void fewRecordsAreInFlight() throws Exception {
        for (int i = 1; i <= 40; i++) {
            publisher.publish(sample(i), Instant.EPOCH, now.get());
        }
        for (int i = 0; i <= Publisher.IN_FLIGHT; i++) {
            publisher.turn();
        }
        MockProducer<String, byte[]> producer = made.getLast();
        assertThat(producer.history()).hasSize(Publisher.IN_FLIGHT);

        publisher.turn();
        assertThat(producer.history()).hasSize(Publisher.IN_FLIGHT);

        producer.completeNext();
        publisher.turn();
        assertThat(producer.history()).hasSize(Publisher.IN_FLIGHT + 1);
    }

    @Test
    void whatFailedIsSentAgainInOrderAndSaysHowOldItIsNow() throws Exception {
        publisher.publish(sample(1), Instant.EPOCH, now.get());
        publisher.publish(sample(2), Instant.EPOCH, now.get());
        turnUntilSent(2);
        MockProducer<String, byte[]> producer = made.getLast();
        now.addAndGet(3_000_000_000L);
        producer.errorNext(new TimeoutException("no answer"));
        producer.errorNext(new TimeoutException("no answer"));
        assertThat(backlog.level(now.get()).records()).isEqualTo(2);

        turnUntilSent(3);
        // One at a time while it fails: the second waits for the first.
        assertThat(backlog.level(now.get()).records()).isEqualTo(1);
        producer.completeNext();
        turnUntilSent(4);
        producer.completeNext();

        List<NodeSample> sent = samples(producer);
        assertThat(sent.stream().map(NodeSample::getSeq)).containsExactly(1L, 2L, 1L, 2L);
        assertThat(sent.stream().map(NodeSample::getQueuedMs)).containsExactly(0, 0, 3000, 3000);
        assertThat(publisher.sent()).isEqualTo(2);
        assertThat(losses.all()).isEmpty();
    }

    @Test
    void aRecordLargerThanTheBrokerTakesIsDroppedCountedAndBlocksNothing() throws Exception {
        publisher.publish(sample(1), Instant.EPOCH, now.get());
        publisher.publish(sample(2), Instant.EPOCH, now.get());
        turnUntilSent(2);
        made.getLast().errorNext(new RecordTooLargeException("too large"));
        made.getLast().completeNext();

        assertThat(losses.of(Losses.OVERSIZE)).isEqualTo(1);
        assertThat(backlog.level(now.get()).records()).isZero();
        assertThat(publisher.sent()).isEqualTo(1);
    }

    @Test
    void aProducerThatIsBrokenIsReplacedAndNothingIsLost() throws Exception {
        publisher.publish(sample(1), Instant.EPOCH, now.get());
        publisher.publish(sample(2), Instant.EPOCH, now.get());
        turnUntilSent(1);
        MockProducer<String, byte[]> first = made.getLast();
        first.completeNext();
        first.sendException = new KafkaException("fenced");
        publisher.turn();
        assertThat(backlog.level(now.get()).records()).isEqualTo(1);

        publisher.turn();

        assertThat(made).hasSize(2);
        assertThat(first.closed()).isTrue();
        assertThat(samples(made.getLast()).get(0).getSeq()).isEqualTo(2);
    }

    @Test
    void theEndWaitsUntilTheGoodbyeIsOut() {
        publisher.start();
        publisher.publish(event(1), Instant.EPOCH, now.get());
        Thread broker = new Thread(() -> {
            boolean answered = false;
            while (!answered) {
                Thread.onSpinWait();
                MockProducer<String, byte[]> producer;
                synchronized (made) {
                    producer = made.peekLast();
                }
                answered = producer != null && producer.completeNext();
            }
        });
        broker.start();

        publisher.close(Duration.ofSeconds(5));

        assertThat(publisher.sent()).isEqualTo(1);
        assertThat(made.getLast().closed()).isTrue();
    }

    private Producer<String, byte[]> producer() {
        MockProducer<String, byte[]> producer =
                new MockProducer<>(false, null, new StringSerializer(), new ByteArraySerializer());
        synchronized (made) {
            made.add(producer);
        }
        return producer;
    }

    private void turn() {
        try {
            publisher.turn();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void turnUntilSent(int records) throws InterruptedException {
        for (int turns = 0; turns < 50; turns++) {
            if (made.stream().mapToInt(producer -> producer.history().size()).sum() >= records) {
                return;
            }
            publisher.turn();
        }
        throw new AssertionError("not sent: " + records);
    }

    private static List<NodeSample> samples(MockProducer<String, byte[]> producer)
            throws InvalidProtocolBufferException {
        List<NodeSample> samples = new ArrayList<>();
        for (ProducerRecord<String, byte[]> record : producer.history()) {
            samples.add(NodeSample.parseFrom(record.value()));
        }
        return samples;
    }

    private static String header(ProducerRecord<String, byte[]> record, String name) {
        return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
    }

    private static NodeSample sample(long seq) {
        return NodeSample.newBuilder()
                .setBootId(BOOT)
                .setCollectorStart(99)
                .setSeq(seq)
                .build();
    }

    private static NodeEvent event(long seq) {
        return NodeEvent.newBuilder()
                .setBootId(BOOT)
                .setCollectorStart(99)
                .setSeq(seq)
                .build();
    }
}

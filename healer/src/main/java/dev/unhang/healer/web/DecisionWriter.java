package dev.unhang.healer.web;

import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.v1.OperatorDecision;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Writes people's decisions to {@code unhang.inbox}. Owns one producer and one thread, since {@code send} may block;
 * a few decisions wait in a bounded queue and more are refused, because a person who waits for ten seconds has to know.
 */
public final class DecisionWriter implements DecisionLog, AutoCloseable {

    private static final int MOST_WAITING = 64;
    private static final int BLOCK_MS = 5_000;
    private static final int DELIVERY_MS = 10_000;

    private final Producer<byte[], byte[]> producer;
    private final String inbox;
    private final String source;
    private final Clock clock;
    private final ThreadPoolExecutor worker;

    DecisionWriter(Producer<byte[], byte[]> producer, String prefix, String healer, Clock clock) {
        this.producer = producer;
        this.inbox = Topic.INBOX.name(prefix);
        this.source = "/healers/" + healer;
        this.clock = clock;
        this.worker = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(MOST_WAITING), run -> {
            Thread thread = new Thread(run, "decision-writer");
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * Opens a producer.
     *
     * @param client where Kafka is and how to speak to it: {@code bootstrap.servers} and security
     */
    public static DecisionWriter open(Map<String, Object> client, String prefix, String healer, Clock clock) {
        Map<String, Object> settings = new HashMap<>(client);
        settings.put(ProducerConfig.CLIENT_ID_CONFIG, healer + "-decisions");
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, BLOCK_MS);
        settings.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, BLOCK_MS);
        settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, DELIVERY_MS);
        settings.put(ProducerConfig.LINGER_MS_CONFIG, 0);
        settings.put(ProducerConfig.BUFFER_MEMORY_CONFIG, 4L << 20);
        return new DecisionWriter(
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer()),
                prefix,
                healer,
                clock);
    }

    @Override
    public CompletionStage<Void> write(OperatorDecision decision) {
        CompletableFuture<Void> written = new CompletableFuture<>();
        try {
            worker.execute(() -> send(decision, written));
        } catch (RejectedExecutionException e) {
            written.completeExceptionally(new IllegalStateException(MOST_WAITING + " decisions wait already", e));
        }
        return written;
    }

    private void send(OperatorDecision decision, CompletableFuture<Void> written) {
        try {
            var unused = producer.send(
                    new ProducerRecord<>(
                            inbox,
                            null,
                            null,
                            null,
                            decision.toByteArray(),
                            Codec.headers(decision, decision.getId(), source, clock.instant())),
                    (metadata, failure) -> {
                        if (failure == null) {
                            written.complete(null);
                        } else {
                            written.completeExceptionally(failure);
                        }
                    });
        } catch (KafkaException | IllegalStateException e) {
            written.completeExceptionally(e);
        }
    }

    @Override
    public void close() {
        worker.shutdownNow();
        producer.close(Duration.ofSeconds(2));
    }
}

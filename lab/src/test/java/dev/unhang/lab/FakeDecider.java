package dev.unhang.lab;

import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.v1.Claim;
import dev.unhang.events.v1.Grant;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.SignedGrant;
import dev.unhang.healer.command.GrantSeal;
import dev.unhang.healer.command.ParameterHash;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Says what a decider says to one node, in transactions as a decider does, and hears what the node answers. It grants what
 * the test tells it to. Confined to the test's thread.
 */
final class FakeDecider implements AutoCloseable {

    private static final Duration LONG = Duration.ofSeconds(30);

    private final String node;
    private final KeyPair key;
    private final KafkaProducer<String, byte[]> producer;
    private final KafkaConsumer<String, byte[]> consumer;
    private final List<Message> heard = new ArrayList<>();

    FakeDecider(String brokers, String node, KeyPair key) {
        this.node = node;
        this.key = key;
        this.producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", brokers, "transactional.id", "fake-decider-" + UUID.randomUUID()),
                new StringSerializer(),
                new ByteArraySerializer());
        producer.initTransactions();
        this.consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", brokers), new StringDeserializer(), new ByteArrayDeserializer());
        List<TopicPartition> all = consumer.partitionsFor(Topic.TELEMETRY.name(Topic.DEFAULT_PREFIX)).stream()
                .map(info -> new TopicPartition(info.topic(), info.partition()))
                .toList();
        consumer.assign(all);
        consumer.seekToEnd(all);
        all.forEach(consumer::position);
    }

    static KeyPair key() {
        try {
            return KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    Offer offer(String command, String action, Map<String, String> parameters) {
        Offer offer = Offer.newBuilder()
                .setCommandId(command)
                .setIncident("job-hang-1a2b3c4d")
                .setNode(node)
                .setAction(action)
                .putAllParameters(parameters)
                .setTimeoutMs(30_000)
                .setEpoch(7)
                .setReason("a test")
                .build();
        say(offer);
        return offer;
    }

    Grant.Builder grant(Offer offer, Claim claim) {
        return Grant.newBuilder()
                .setCommandId(offer.getCommandId())
                .setNode(node)
                .setAction(offer.getAction())
                .setParametersHash(ParameterHash.of(offer.getParametersMap()))
                .setNonce(claim.getNonce())
                .setEpoch(7);
    }

    SignedGrant sealed(Grant.Builder grant) {
        return GrantSeal.sign(grant.build(), key.getPrivate(), "k1");
    }

    void say(Message message) {
        producer.beginTransaction();
        var unused = producer.send(new ProducerRecord<>(
                Topic.COMMANDS.name(Topic.DEFAULT_PREFIX),
                null,
                null,
                node,
                message.toByteArray(),
                Codec.headers(message, UUID.randomUUID().toString(), "/healers/fake", Instant.EPOCH)));
        producer.commitTransaction();
    }

    /** The next thing of this kind that the node says and that fits; what else it says meanwhile is kept. */
    <T extends Message> T hear(Class<T> type, Predicate<T> fits) {
        long polls = LONG.toMillis() / 100;
        for (long i = 0; i < polls; i++) {
            for (int j = 0; j < heard.size(); j++) {
                if (type.isInstance(heard.get(j)) && fits.test(type.cast(heard.get(j)))) {
                    return type.cast(heard.remove(j));
                }
            }
            for (ConsumerRecord<String, byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                if (node.equals(record.key())
                        && Codec.decode(record.headers(), record.value()) instanceof Codec.Decoded.Known known) {
                    heard.add(known.message());
                }
            }
        }
        throw new AssertionError("no " + type.getSimpleName() + " within " + LONG + ", only " + heard);
    }

    /** What it has heard of this kind and nobody has asked for. */
    <T extends Message> List<T> heard(Class<T> type) {
        return heard.stream().filter(type::isInstance).map(type::cast).toList();
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(1));
        consumer.close();
    }
}

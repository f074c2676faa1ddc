package dev.unhang.healer.act;

import com.google.protobuf.ByteString;
import dev.unhang.events.Topic;
import dev.unhang.healer.act.slurm.SlurmScheduler;
import dev.unhang.healer.actuator.protocol.Protocol;
import dev.unhang.healer.actuator.protocol.Self;
import dev.unhang.healer.command.Action;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.utils.Utils;

/**
 * What a healer does at its scheduler while it decides: the facts on one thread, the commands on another. With no
 * scheduler configured there is nothing of it. Any thread may close it.
 */
public final class AtScheduler implements AutoCloseable {

    /** While this file is there nothing is begun, whatever Kafka says; the same as for actuators. */
    private static final Path STOP = Path.of("/etc/unhang/stop");

    private static final ByteString NO_BOOT = ByteString.copyFrom(new byte[16]);
    private static final SecureRandom RANDOM = new SecureRandom();

    private final SlurmScheduler slurm;
    private final Lock changes = new ReentrantLock();
    private final WhileDeciding facts;
    private final WhileDeciding commands;

    /**
     * Where a healer lives.
     *
     * @param client where Kafka is and how to speak to it
     * @param deciding whether this healer decides now
     * @param nanos monotonic
     */
    public record Place(
            Map<String, Object> client,
            String prefix,
            String healer,
            BooleanSupplier deciding,
            Clock clock,
            LongSupplier nanos) {}

    private AtScheduler(SchedulerConfig config, Place at, String user) {
        this.slurm = new SlurmScheduler(config.slurm(), user);
        this.facts = new WhileDeciding("scheduler-facts", at.deciding(), () -> teller(at), config.every());
        this.commands =
                new WhileDeciding("scheduler-commands", at.deciding(), () -> executor(config, at), Duration.ZERO);
    }

    /**
     * Starts.
     *
     * @param user as whom the scheduler sees this process
     */
    public static AtScheduler start(SchedulerConfig config, Place at, String user) {
        return new AtScheduler(config, at, user);
    }

    @Override
    public void close() {
        commands.close();
        facts.close();
        slurm.close();
    }

    private WhileDeciding.Work teller(Place at) {
        InboxWriter inbox = InboxWriter.open(at.client(), at.prefix(), at.healer(), random(4), at.clock());
        FactTeller teller = new FactTeller(slurm, inbox, changes);
        return new WhileDeciding.Work() {
            @Override
            public void turn() {
                teller.turn(at.nanos().getAsLong());
            }

            @Override
            public void close() {
                inbox.close();
            }
        };
    }

    private WhileDeciding.Work executor(SchedulerConfig config, Place at) {
        String run = random(4);
        InboxWriter inbox = InboxWriter.open(at.client(), at.prefix(), at.healer(), run, at.clock());
        Consumer<String, byte[]> consumer = consumer(at);
        try {
            // Each time that this healer begins to decide is a start of the executor. A boot it has none: what a
            // scheduler
            // was asked for does not end with the machine that asked, so no new boot may say that it has.
            Self self = new Self(Action.AT_SCHEDULER, NO_BOOT, at.healer() + '/' + run, version());
            Protocol protocol = new Protocol(self, config.actions(), config.keys(), () -> bytes(16));
            SchedulerExecutor executor = new SchedulerExecutor(
                    consumer,
                    partition(at.prefix()),
                    protocol,
                    slurm,
                    inbox,
                    changes,
                    () -> Files.exists(STOP),
                    at.nanos());
            return new WhileDeciding.Work() {
                @Override
                public void turn() {
                    executor.turn();
                }

                @Override
                public void close() {
                    executor.close();
                    inbox.close();
                }
            };
        } catch (RuntimeException e) {
            consumer.close();
            inbox.close();
            throw e;
        }
    }

    private static Consumer<String, byte[]> consumer(Place at) {
        Map<String, Object> settings = new HashMap<>(at.client());
        settings.put(ConsumerConfig.CLIENT_ID_CONFIG, at.healer() + "-scheduler");
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest");
        settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        settings.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, 10_000);
        return new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer());
    }

    private static String version() {
        String version = AtScheduler.class.getPackage().getImplementationVersion();
        return version == null ? "" : version;
    }

    /** The partition of our key, as the producer's own partitioner places it. */
    static TopicPartition partition(String prefix) {
        byte[] key = Action.AT_SCHEDULER.getBytes(StandardCharsets.UTF_8);
        int partition = Utils.toPositive(Utils.murmur2(key)) % Topic.COMMANDS.partitions();
        return new TopicPartition(Topic.COMMANDS.name(prefix), partition);
    }

    private static ByteString bytes(int count) {
        byte[] bytes = new byte[count];
        RANDOM.nextBytes(bytes);
        return ByteString.copyFrom(bytes);
    }

    private static String random(int count) {
        return HexFormat.of().formatHex(bytes(count).toByteArray());
    }
}

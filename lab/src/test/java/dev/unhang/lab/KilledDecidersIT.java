package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.Topics;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.StateValue;
import dev.unhang.events.v1.Watch;
import dev.unhang.healer.decide.InboxCore;
import dev.unhang.healer.journal.StateReader;
import dev.unhang.healer.ledger.Ledger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Deciders without nodes are killed with -9 under a load of 200 findings a second, also in the middle of a step: what
 * {@link TakeoverIT} shows with whole healers and real nodes is shown here to the last entry. At the end the journal must
 * be what one decider that was never killed decides on the same inbox: nothing twice, nothing lost, nothing else.
 */
class KilledDecidersIT {

    private static final String PREFIX = "takeover.";
    private static final int KILLS = Integer.getInteger("unhang.takeover.kills", 3);
    private static final int NODES = 40;
    private static final int FINDINGS_A_TENTH = 20;
    private static final Duration MOST = Duration.ofSeconds(10);

    @TempDir
    Path folder;

    @Test
    void decidersThatAreKilledUnderLoadDecideWhatOneWouldHaveDecided() throws Exception {
        try (KafkaProcess kafka = new KafkaProcess(folder.resolve("kafka"), "127.0.0.1", 0)) {
            kafka.start();
            String bootstrap = kafka.bootstrapServers();
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
                new Topics(admin, PREFIX).ensure();
            }
            Path log = folder.resolve("deciders.log");
            Deque<Process> healers = new ArrayDeque<>();
            AtomicReference<Exception> trouble = new AtomicReference<>();
            ScheduledExecutorService owner = new ScheduledThreadPoolExecutor(1);
            List<Long> took = new ArrayList<>();
            try (KafkaProducer<String, byte[]> producer = producer(bootstrap)) {
                PartitionOwner load = new PartitionOwner(producer);
                load.begin();
                var unused = owner.scheduleAtFixedRate(() -> load.tenth(trouble), 0, 100, TimeUnit.MILLISECONDS);
                healers.add(DeciderProcess.start(bootstrap, PREFIX, "h0", false, true, log));
                long epoch = awaitEpochAbove(bootstrap, 0, Duration.ofSeconds(60));
                healers.add(DeciderProcess.start(bootstrap, PREFIX, "h1", false, true, log));
                for (int kill = 0; kill < KILLS; kill++) {
                    TimeUnit.MILLISECONDS.sleep(2_000 + 137L * kill); // load for a while, and a kill at any phase
                    String decider = position(bootstrap).getDecider();
                    Process victim = decider.equals("h" + kill) ? healers.removeFirst() : healers.removeLast();
                    long startNs = System.nanoTime();
                    victim.destroyForcibly().waitFor();
                    epoch = awaitEpochAbove(bootstrap, epoch, Duration.ofSeconds(30));
                    took.add((System.nanoTime() - startNs) / 1_000_000);
                    healers.add(DeciderProcess.start(bootstrap, PREFIX, "h" + (kill + 2), false, true, log));
                }
            } finally {
                owner.shutdown();
                assertThat(owner.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
                awaitRest(bootstrap);
                for (Process healer : healers) {
                    healer.destroyForcibly().waitFor();
                }
            }
            assertThat(trouble.get()).isNull();
            System.out.println("deciders took over within " + took + " ms");
            check(bootstrap);
            assertThat(took).as("%s", Files.readString(log)).allMatch(ms -> ms <= MOST.toMillis());
        }
    }

    /** Says what the owner of a telemetry partition would say of its nodes, at random. */
    private static final class PartitionOwner {
        private static final Origin ORIGIN = Origin.newBuilder()
                .setPartition(3)
                .setGeneration(1)
                .setOwner("owner")
                .build();
        private final KafkaProducer<String, byte[]> producer;
        private final Random random = new Random(20260101);
        private int tenths;
        private long sent;

        PartitionOwner(KafkaProducer<String, byte[]> producer) {
            this.producer = producer;
        }

        void begin() throws Exception {
            for (int node = 0; node < NODES; node++) {
                say(NodeReport.newBuilder()
                        .setOrigin(ORIGIN)
                        .setNode("n" + node)
                        .setWatch(Watch.WATCH_WATCHED)
                        .build());
            }
            say(Covered.newBuilder().setOrigin(ORIGIN).setFirst(true).build());
        }

        void tenth(AtomicReference<Exception> trouble) {
            try {
                if (tenths++ % 10 == 0) {
                    say(Covered.newBuilder().setOrigin(ORIGIN).build());
                }
                for (int i = 0; i < FINDINGS_A_TENTH; i++) {
                    String node = "n" + random.nextInt(NODES);
                    boolean nic = random.nextBoolean();
                    say(Finding.newBuilder()
                            .setOrigin(ORIGIN)
                            .setKind(nic ? IncidentKind.NIC_FAULT : IncidentKind.NODE_SILENT)
                            .setSubject(nic ? "nic:" + node + "/0000:01:00.0/0" : "node:" + node)
                            .setStanding(Standing.forNumber(1 + random.nextInt(3)))
                            .addNodes(node)
                            .addEvidence("said " + random.nextInt(5))
                            .build());
                }
            } catch (Exception e) {
                trouble.compareAndSet(null, e);
            }
        }

        private void say(Message message) throws Exception {
            var headers = Codec.headers(message, "owner/" + sent++, "/healers/owner", Instant.EPOCH);
            var unused = producer.send(
                    new ProducerRecord<>(Topic.INBOX.name(PREFIX), 0, null, null, message.toByteArray(), headers));
        }
    }

    private static void check(String bootstrap) {
        InboxCore undisturbed = new InboxCore();
        List<JournalEntry> expected = new ArrayList<>();
        long readTo = position(bootstrap).getInboxOffset();
        for (ConsumerRecord<String, byte[]> record : all(bootstrap, Topic.INBOX)) {
            if (record.offset() < readTo) {
                expected.addAll(undisturbed.onRecord(record.offset(), record.timestamp(), message(record)));
            }
        }
        List<JournalEntry> journal = new ArrayList<>();
        for (ConsumerRecord<String, byte[]> record : all(bootstrap, Topic.JOURNAL)) {
            JournalEntry entry = (JournalEntry) message(record);
            assertThat(record.timestamp()).isEqualTo(entry.getStampMs());
            journal.add(entry);
        }
        System.out.println(journal.size() + " entries from " + readTo + " inbox records");
        assertThat(journal).hasSizeGreaterThan(1_000);
        assertThat(withoutEpoch(journal)).isEqualTo(withoutEpoch(expected));
        for (int i = 1; i < journal.size(); i++) {
            assertThat(journal.get(i).getEpoch())
                    .isGreaterThanOrEqualTo(journal.get(i - 1).getEpoch());
        }
        Map<String, StateValue> state = state(bootstrap);
        state.remove(Ledger.POSITION);
        assertThat(state).isEqualTo(undisturbed.ledger().values());
    }

    private static void awaitRest(String bootstrap) throws InterruptedException {
        long end = end(bootstrap, Topic.INBOX);
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (position(bootstrap).getInboxOffset() < end) {
            assertThat(System.nanoTime()).as("the rest is decided in time").isLessThan(deadline);
            TimeUnit.MILLISECONDS.sleep(200);
        }
    }

    private static long awaitEpochAbove(String bootstrap, long epoch, Duration most) throws InterruptedException {
        long deadline = System.nanoTime() + most.toNanos();
        while (System.nanoTime() < deadline) {
            long now = position(bootstrap).getEpoch();
            if (now > epoch) {
                return now;
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
        throw new AssertionError("nobody took over within " + most);
    }

    private static dev.unhang.events.v1.Position position(String bootstrap) {
        StateValue value = state(bootstrap).get(Ledger.POSITION);
        return value == null ? dev.unhang.events.v1.Position.getDefaultInstance() : value.getPosition();
    }

    private static Map<String, StateValue> state(String bootstrap) {
        try (Consumer<String, byte[]> consumer = consumer(bootstrap)) {
            return StateReader.read(consumer, PREFIX);
        }
    }

    private static long end(String bootstrap, Topic topic) {
        TopicPartition at = new TopicPartition(topic.name(PREFIX), 0);
        try (Consumer<String, byte[]> consumer = consumer(bootstrap)) {
            return consumer.endOffsets(List.of(at)).getOrDefault(at, 0L);
        }
    }

    private static List<ConsumerRecord<String, byte[]>> all(String bootstrap, Topic topic) {
        TopicPartition at = new TopicPartition(topic.name(PREFIX), 0);
        List<ConsumerRecord<String, byte[]>> all = new ArrayList<>();
        try (Consumer<String, byte[]> consumer = consumer(bootstrap)) {
            consumer.assign(List.of(at));
            consumer.seekToBeginning(List.of(at));
            long end = consumer.endOffsets(List.of(at)).getOrDefault(at, 0L);
            while (consumer.position(at) < end) {
                consumer.poll(Duration.ofMillis(200)).forEach(all::add);
            }
        }
        return all;
    }

    private static Message message(ConsumerRecord<String, byte[]> record) {
        return ((Codec.Decoded.Known) Codec.decode(record.headers(), record.value())).message();
    }

    private static List<JournalEntry> withoutEpoch(List<JournalEntry> entries) {
        return entries.stream()
                .map(entry -> entry.toBuilder().clearEpoch().build())
                .toList();
    }

    private static KafkaProducer<String, byte[]> producer(String bootstrap) {
        return new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrap), new StringSerializer(), new ByteArraySerializer());
    }

    private static Consumer<String, byte[]> consumer(String bootstrap) {
        return new KafkaConsumer<>(
                Map.of("bootstrap.servers", bootstrap, "isolation.level", "read_committed"),
                new StringDeserializer(),
                new ByteArrayDeserializer());
    }
}

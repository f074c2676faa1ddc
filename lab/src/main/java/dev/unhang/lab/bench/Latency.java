package dev.unhang.lab.bench;

import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.StateChange;
import dev.unhang.healer.Daemon;
import dev.unhang.healer.HealerConfig;
import dev.unhang.healer.intake.Brokers;
import dev.unhang.lab.KafkaProcess;
import dev.unhang.lab.fleet.SimulatedFleet;
import dev.unhang.settings.Kafka;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * How late the healer is: a simulated fleet with real collectors publishes to a real broker in a process of its own, and
 * a real healer judges it. All three share this machine, so the wall clock compares them. Meanwhile NICs are set down, one
 * node after the other, and the journal is read as any reader of it would.
 */
final class Latency {

    private static final String PREFIX = "unhang.";
    private static final int GPUS = 8;
    private static final int WARM_UP_SECONDS = 20;
    private static final int START_WITHIN_SECONDS = 60;
    private static final int MOST_FAULTS = 10;

    /** A fault must be in the journal so long after the last was made. */
    private static final int DECIDED_WITHIN_SECONDS = 10;

    /**
     * What was measured, in ms.
     *
     * @param judged from a sample being taken to the healer having judged it
     * @param decided from the first sample that shows a fault being taken to a reader having the decision from the
     *     journal; null when no decision came
     * @param faults how many were made
     */
    record Measured(Percentiles judged, @Nullable Percentiles decided, int faults) {}

    private final Clock clock = Clock.systemUTC();
    private final Judged judged = new Judged(clock);
    private final Map<String, Long> decidedNs = new HashMap<>();
    private final SimulatedFleet fleet;
    private final KafkaConsumer<byte[], byte[]> journal;
    private final int nodes;

    private Latency(SimulatedFleet fleet, KafkaConsumer<byte[], byte[]> journal, int nodes) {
        this.fleet = fleet;
        this.journal = journal;
        this.nodes = nodes;
    }

    static Measured measure(int nodes, int seconds) throws Exception {
        Path data = Files.createTempDirectory("unhang-bench");
        try (KafkaProcess kafka = new KafkaProcess(data, "127.0.0.1", 0)) {
            kafka.start();
            String brokers = kafka.bootstrapServers();
            try (SimulatedFleet fleet = new SimulatedFleet(brokers, PREFIX, nodes, GPUS, true, 1);
                    KafkaConsumer<byte[], byte[]> journal = journal(brokers)) {
                Latency latency = new Latency(fleet, journal, nodes);
                HealerConfig config =
                        new HealerConfig("bench", new Brokers(new Kafka(brokers, PREFIX, Map.of())), true, true);
                try (Daemon healer = Daemon.start(config, latency.judged, latency.clock, System::nanoTime)) {
                    return latency.measure(healer, seconds);
                }
            }
        } finally {
            delete(data);
        }
    }

    private Measured measure(Daemon healer, int seconds) throws Exception {
        fleet.start();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_WITHIN_SECONDS);
        while (healer.trouble().isPresent()) {
            if (System.nanoTime() > deadline) {
                throw new IOException(
                        "the healer does not work: " + healer.trouble().orElse(""));
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
        TopicPartition topic = new TopicPartition(Topic.JOURNAL.name(PREFIX), 0);
        journal.assign(List.of(topic));
        journal.seekToBeginning(List.of(topic));
        readJournal(TimeUnit.SECONDS.toNanos(WARM_UP_SECONDS));
        judged.measure();
        int faults = Math.min(nodes, MOST_FAULTS);
        for (int i = 0; i < faults; i++) {
            readJournal(TimeUnit.SECONDS.toNanos(seconds) / (faults + 1));
            fleet.node(i).nicUp(false);
        }
        readJournal(TimeUnit.SECONDS.toNanos(seconds) / (faults + 1));
        double[] latencies = judged.latenciesMs();
        readJournal(TimeUnit.SECONDS.toNanos(DECIDED_WITHIN_SECONDS), faults);
        if (latencies.length == 0) {
            throw new IOException("the healer judged no sample in " + seconds + " s");
        }
        double[] decided = decidedMs();
        return new Measured(new Percentiles(latencies), decided.length == 0 ? null : new Percentiles(decided), faults);
    }

    private double[] decidedMs() {
        return decidedNs.entrySet().stream()
                .flatMapToDouble(entry -> {
                    OptionalLong taken = judged.firstDownNs(entry.getKey());
                    return taken.isPresent()
                            ? java.util.stream.DoubleStream.of((entry.getValue() - taken.getAsLong()) / 1e6)
                            : java.util.stream.DoubleStream.empty();
                })
                .toArray();
    }

    private void readJournal(long ns) {
        readJournal(ns, Integer.MAX_VALUE);
    }

    /** Reads for a while, and no longer than until so many nodes were decided on. */
    private void readJournal(long ns, int enough) {
        long end = System.nanoTime() + ns;
        while (decidedNs.size() < enough && System.nanoTime() < end) {
            for (ConsumerRecord<byte[], byte[]> record : journal.poll(Duration.ofMillis(50))) {
                if (Codec.decode(record.headers(), record.value()) instanceof Codec.Decoded.Known known
                        && known.message() instanceof JournalEntry entry) {
                    decided(entry);
                }
            }
        }
    }

    private void decided(JournalEntry entry) {
        for (StateChange change : entry.getChangesList()) {
            if (change.getValue().hasIncident()
                    && change.getValue().getIncident().getKind() == IncidentKind.NIC_FAULT) {
                String subject = change.getValue().getIncident().getSubject();
                decidedNs.putIfAbsent(
                        subject.substring(subject.indexOf(':') + 1, subject.indexOf('/')), Judged.wallNs(clock));
            }
        }
    }

    private static KafkaConsumer<byte[], byte[]> journal(String brokers) {
        return new KafkaConsumer<>(
                Map.of("bootstrap.servers", brokers, "isolation.level", "read_committed"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
    }

    private static void delete(Path folder) throws IOException {
        try (var files = Files.walk(folder)) {
            for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}

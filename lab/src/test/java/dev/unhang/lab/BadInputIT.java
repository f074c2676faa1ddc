package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.healer.Healer;
import dev.unhang.lab.fleet.SimulatedFleet;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Records that nobody can read, in the telemetry of a node and in the inbox of a whole healer: each is kept whole with
 * its reason and counted, log time, judgement and decisions go on, and nothing is found that is not there. What a
 * publisher does with a record that is too large is shown by {@link PublisherIT}, a kernel line of 100 kB by the
 * collector's {@code KernelSourceTest}, and records that can be read and make no sense by the healer's
 * {@code AnyRecordTest}.
 */
class BadInputIT {

    private static final int NODES = 4;
    private static final String TOKEN = "0123456789abcdef0123456789abcdef";
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int TEN_MB = 10_000_000;

    @TempDir
    Path folder;

    /** A bad record and what its reason begins with; null where it is skipped as a newer version's. */
    private record Bad(
            RecordHeaders headers,
            @Nullable ByteString body,
            @Nullable String reason) {
        byte @Nullable [] value() {
            return body == null ? null : body.toByteArray();
        }
    }

    @Test
    void whatNobodyCanReadIsKeptAndCountedAndStopsNothing() throws Exception {
        try (KafkaProcess broker = new KafkaProcess(folder.resolve("kafka"), "127.0.0.1", 0)) {
            broker.start();
            String brokers = broker.bootstrapServers();
            try (Healer healer = Healer.start(config(brokers), Clock.systemUTC(), System::nanoTime);
                    SimulatedFleet fleet = new SimulatedFleet(brokers, Topic.DEFAULT_PREFIX, NODES, 1, true, 5)) {
                fleet.start();
                try (LogTail log = new LogTail(brokers, Topic.DEFAULT_PREFIX)) {
                    assertThat(log.readUntil(() -> nodes(log) == NODES, Duration.ofSeconds(90)))
                            .as("all nodes are reported")
                            .isTrue();
                    run(brokers, healer, fleet, log);
                }
            }
        }
    }

    private static void run(String brokers, Healer healer, SimulatedFleet fleet, LogTail log) throws Exception {
        Map<String, Bad> bad = bad();
        List<ProducerRecord<String, byte[]>> sent = new ArrayList<>();
        try (KafkaProducer<String, byte[]> producer = producer(brokers, "none");
                KafkaProducer<String, byte[]> packing = producer(brokers, "lz4")) {
            for (Topic topic : List.of(Topic.TELEMETRY, Topic.INBOX)) {
                for (Bad each : bad.values()) {
                    ProducerRecord<String, byte[]> record = record(topic, "sim-0", each.value(), each.headers());
                    boolean packed = each.body() != null && each.body().size() == TEN_MB;
                    (packed ? packing : producer).send(record).get();
                    if (each.reason() != null) {
                        sent.add(record);
                    }
                }
                byte[] huge = new byte[TEN_MB];
                new Random(1).nextBytes(huge);
                assertThatThrownBy(() -> producer.send(record(topic, "sim-0", huge, new RecordHeaders()))
                                .get())
                        .as("10 MB that cannot be packed")
                        .isInstanceOf(ExecutionException.class)
                        .hasCauseInstanceOf(RecordTooLargeException.class);
            }
            NodeSample sample = sample();
            ProducerRecord<String, byte[]> ofNobody =
                    record(Topic.TELEMETRY, null, sample.toByteArray(), headers(sample));
            producer.send(ofNobody).get();
            sent.add(ofNobody);
        }
        long coveredMs = logTimeMs(log);
        fleet.node(0).nicUp(false);
        fleet.node(1).nicUp(false);
        assertThat(log.readUntil(() -> confirmed(log, "sim-0") && confirmed(log, "sim-1"), SOON))
                .as("faults on the node with garbage beside it and on another are confirmed")
                .isTrue();
        assertThat(logTimeMs(log)).isGreaterThan(coveredMs);
        assertThat(log.decisions().stream().map(JournalEntry::getIncident).distinct())
                .as("incidents")
                .hasSize(2)
                .allMatch(id -> id.startsWith("nic-fault-"));
        assertThat(get(healer, "/readyz").statusCode()).isEqualTo(200);

        lettersAre(sent, letters(brokers, sent.size()));
        long skipped = 2L * (bad.size() - (sent.size() - 1) / 2);
        String metrics = get(healer, "/metrics").body();
        assertThat(metrics)
                .contains("unhang_records_unreadable_total{topic=\"telemetry\"} " + ((sent.size() - 1) / 2 + 1) + ".0")
                .contains("unhang_records_unreadable_total{topic=\"inbox\"} " + (sent.size() - 1) / 2 + ".0")
                .contains("unhang_records_skipped_total " + skipped + ".0")
                .contains("unhang_dead_letters_total " + sent.size() + ".0");
    }

    private static Map<String, Bad> bad() {
        NodeSample sample = sample();
        ByteString whole = sample.toByteString();
        byte[] largest = new byte[Topic.MAX_RECORD_BYTES - 200];
        new Random(7).nextBytes(largest);
        Map<String, Bad> bad = new LinkedHashMap<>();
        bad.put(
                "truncated",
                new Bad(
                        headers(sample),
                        whole.substring(0, whole.size() - 3),
                        Codec.TYPE_PREFIX + "NodeSample of " + (whole.size() - 3) + " bytes: "));
        bad.put("unknown type", new Bad(typed(Codec.TYPE_PREFIX + "NodeDream"), whole, null));
        bad.put("unknown version", new Bad(typed("dev.unhang.events.v2.NodeSample"), whole, null));
        bad.put("foreign", new Bad(typed("com.example.Thing"), whole, "ce_type is not of dev.unhang.events.*: "));
        bad.put("no headers", new Bad(new RecordHeaders(), whole, "no ce_type header"));
        bad.put("no value", new Bad(headers(sample), null, "no value for " + Codec.TYPE_PREFIX + "NodeSample"));
        bad.put("largest", new Bad(typed("com.example.Thing"), ByteString.copyFrom(largest), "ce_type is not of"));
        bad.put(
                "ten megabytes, packed",
                new Bad(headers(sample), ByteString.copyFrom(new byte[TEN_MB]), Codec.TYPE_PREFIX + "NodeSample"));
        return bad;
    }

    /** Each record is there whole, with its reason and its place; one that was written twice is no harm. */
    private static void lettersAre(
            List<ProducerRecord<String, byte[]>> sent, List<ConsumerRecord<String, byte[]>> letters) {
        assertThat(letters).hasSize(sent.size());
        List<Bad> bad = new ArrayList<>(bad().values());
        bad.removeIf(each -> each.reason() == null);
        for (ProducerRecord<String, byte[]> record : sent) {
            assertThat(letters).as("a letter of %s", record.headers()).anySatisfy(letter -> {
                assertThat(text(letter, "unhang-topic")).isEqualTo(record.topic());
                assertThat(Arrays.equals(letter.value(), record.value())).isTrue();
                assertThat(letter.key()).isEqualTo(record.key());
                for (Header header : record.headers()) {
                    assertThat(letter.headers().lastHeader(header.key())).isEqualTo(header);
                }
                assertThat(text(letter, "unhang-by")).isEqualTo("healer-1");
                assertThat(text(letter, "unhang-offset")).matches("\\d+");
                String reason = text(letter, "unhang-reason");
                assertThat(
                                record.key() == null
                                        ? reason.startsWith("no key: ")
                                        : bad.stream()
                                                .filter(each -> Arrays.equals(each.value(), record.value())
                                                        && each.headers().equals(record.headers()))
                                                .anyMatch(each -> reason.startsWith(String.valueOf(each.reason()))))
                        .as("reason '%s'", reason)
                        .isTrue();
            });
        }
    }

    private Healer.Config config(String brokers) throws Exception {
        Path token = folder.resolve("token");
        Files.createFile(token, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(token, TOKEN);
        Path file = folder.resolve("healer.yaml");
        Files.writeString(file, """
                healer:
                  id: healer-1
                kafka:
                  bootstrap-servers: %s
                http:
                  port: 0
                  token-file: %s
                """.formatted(brokers, token));
        return Healer.Config.read(file, Map.of(), "healer-1");
    }

    private static HttpResponse<String> get(Healer healer, String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + healer.port() + path))
                .header("Authorization", "Bearer " + TOKEN)
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }

    private static List<ConsumerRecord<String, byte[]>> letters(String brokers, int awaited) {
        List<ConsumerRecord<String, byte[]>> letters = new ArrayList<>();
        try (KafkaConsumer<String, byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", brokers), new StringDeserializer(), new ByteArrayDeserializer())) {
            TopicPartition at = new TopicPartition(Topic.DEAD_LETTERS.name(Topic.DEFAULT_PREFIX), 0);
            consumer.assign(List.of(at));
            consumer.seekToBeginning(List.of(at));
            for (int polls = 0; polls < 100 && letters.size() < awaited; polls++) {
                consumer.poll(Duration.ofMillis(100)).forEach(letters::add);
            }
            consumer.poll(Duration.ofMillis(500)).forEach(letters::add);
        }
        return letters;
    }

    private static KafkaProducer<String, byte[]> producer(String brokers, String compression) {
        return new KafkaProducer<>(
                Map.of("bootstrap.servers", brokers, "max.request.size", 2 * TEN_MB, "compression.type", compression),
                new StringSerializer(),
                new ByteArraySerializer());
    }

    private static ProducerRecord<String, byte[]> record(
            Topic topic, @Nullable String key, byte @Nullable [] value, RecordHeaders headers) {
        Integer partition = topic == Topic.INBOX ? Integer.valueOf(0) : null;
        return new ProducerRecord<>(
                topic.name(Topic.DEFAULT_PREFIX), partition, null, key, value, new RecordHeaders(headers));
    }

    private static NodeSample sample() {
        return NodeSample.newBuilder()
                .setBootId(ByteString.copyFrom(new byte[16]))
                .setCollectorStart(1)
                .setSeq(1)
                .setMonoNs(1_000_000_000L)
                .setWallNs(1_800_000_000_000_000_000L)
                .build();
    }

    private static RecordHeaders headers(NodeSample sample) {
        return new RecordHeaders(Codec.headers(sample, "bad", "/nodes/sim-0", Instant.EPOCH));
    }

    private static RecordHeaders typed(String type) {
        RecordHeaders headers = new RecordHeaders();
        headers.add("ce_type", type.getBytes(StandardCharsets.UTF_8));
        return headers;
    }

    private static String text(ConsumerRecord<String, byte[]> record, String header) {
        return new String(record.headers().lastHeader(header).value(), StandardCharsets.UTF_8);
    }

    private static long nodes(LogTail log) {
        return log.of(NodeReport.class).stream()
                .map(NodeReport::getNode)
                .collect(Collectors.toSet())
                .size();
    }

    private static long logTimeMs(LogTail log) {
        return log.of(Covered.class).stream()
                .mapToLong(Covered::getLogTimeMs)
                .max()
                .orElse(0);
    }

    private static boolean confirmed(LogTail log, String node) {
        return JournalHistory.of(log.decisions(), "nic:" + node + "/0000:5c:00.0/0")
                .contains(IncidentState.INCIDENT_CONFIRMED);
    }
}

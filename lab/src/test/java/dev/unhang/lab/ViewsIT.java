package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.Topics;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.Position;
import dev.unhang.events.v1.StateValue;
import dev.unhang.events.v1.Watch;
import dev.unhang.healer.web.DecisionWriter;
import dev.unhang.healer.web.Token;
import dev.unhang.healer.web.Views;
import dev.unhang.healer.web.ViewsFollower;
import dev.unhang.healer.web.WebConfig;
import dev.unhang.healer.web.WebServer;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The views and the HTTP server on a real log: what is committed is shown, and an outage is told and survived. */
class ViewsIT {

    private static final String PREFIX = Topic.DEFAULT_PREFIX;
    private static final String TOKEN = "a-token-for-tests-only";

    @TempDir
    Path data;

    private EmbeddedKafka kafka;
    private Map<String, Object> client = Map.of();
    private final Vertx vertx = Vertx.vertx();
    private final HttpClient http = HttpClient.newHttpClient();
    private int port;

    ViewsIT(@TempDir Path broker) throws Exception {
        kafka = new EmbeddedKafka(broker, 0);
    }

    @BeforeEach
    void startBroker() throws Exception {
        kafka.start();
        client = Map.of("bootstrap.servers", kafka.bootstrapServers());
        try (Admin admin = Admin.create(client)) {
            new Topics(admin, PREFIX).ensure();
        }
    }

    @AfterEach
    void stopAll() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
        kafka.close();
    }

    @Test
    void whatIsCommittedIsShownAndAnOutageIsToldAndSurvived() throws Exception {
        Views views = new Views(Views.Limits.USUAL);
        decide(true, incident("old", IncidentState.INCIDENT_RESOLVED));
        decide(true, incident("nic-fault-1", IncidentState.INCIDENT_SUSPECTED));
        decide(true, Map.entry("incident/old", Optional.empty()));
        decide(false, incident("nic-fault-aborted", IncidentState.INCIDENT_CONFIRMED));
        say(report("node-1"));
        say(cover());
        try (ViewsFollower follower = ViewsFollower.start(client, PREFIX, views, Clock.systemUTC(), System::nanoTime);
                DecisionWriter decisions = DecisionWriter.open(client, PREFIX, "healer-a", Clock.systemUTC())) {
            serve(views, decisions, follower);
            until(() -> ask("/readyz").statusCode() == 200);

            assertThat(get("/api/v1/incidents?state=all").getJsonArray("incidents"))
                    .as("neither what was forgotten nor what was aborted")
                    .hasSize(1);
            JsonObject incident = get("/api/v1/incidents/nic-fault-1");
            assertThat(incident.getString("state")).isEqualTo("suspected");
            assertThat(incident.getJsonArray("timeline")).hasSize(1);
            assertThat(incident.getBoolean("timelineComplete")).isTrue();
            assertThat(get("/api/v1/nodes/node-1").getString("watch")).isEqualTo("watched");
            assertThat(get("/api/v1/nodes/node-1").getBoolean("covered")).isTrue();

            decide(true, incident("nic-fault-1", IncidentState.INCIDENT_CONFIRMED));
            until(() -> get("/api/v1/incidents/nic-fault-1").getString("state").equals("confirmed"));

            assertThat(pause("first").statusCode()).isEqualTo(202);
            assertThat(decisionsInTheInbox())
                    .extracting(OperatorDecision::getId)
                    .containsExactly("first");

            kafka.stop();
            until(() -> ask("/readyz").statusCode() == 503);
            assertThat(ask("/readyz").body()).contains("Kafka does not answer since");
            assertThat(get("/api/v1/incidents/nic-fault-1").getString("state"))
                    .as("the last that was known")
                    .isEqualTo("confirmed");
            assertThat(pause("second").statusCode()).isEqualTo(503);

            kafka.start();
            until(() -> ask("/readyz").statusCode() == 200);
            decide(true, incident("nic-fault-1", IncidentState.INCIDENT_RESOLVED));
            until(() -> get("/api/v1/incidents/nic-fault-1").getString("state").equals("resolved"));
            assertThat(pause("third").statusCode()).isEqualTo(202);
            assertThat(decisionsInTheInbox())
                    .extracting(OperatorDecision::getId)
                    .containsExactly("first", "third");
        }
    }

    private void serve(Views views, DecisionWriter decisions, ViewsFollower follower) throws Exception {
        Path token = Files.writeString(data.resolve("token"), TOKEN);
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
        WebConfig config = new WebConfig("127.0.0.1", 0, token, Duration.ofSeconds(20), 100);
        WebServer.Parts parts = new WebServer.Parts(
                views,
                decisions,
                "observe",
                () -> follower.alive() ? Optional.empty() : Optional.of("the views have ended"),
                () -> "",
                System::nanoTime);
        port = WebServer.start(vertx, config, Token.read(token), parts)
                .toCompletionStage()
                .toCompletableFuture()
                .get(10, TimeUnit.SECONDS)
                .port();
    }

    private static Map.Entry<String, Optional<StateValue>> incident(String id, IncidentState state) {
        Incident incident = Incident.newBuilder()
                .setId(id)
                .setKind(IncidentKind.NIC_FAULT)
                .setSubject("nic:node-1/0000:5c:00.0/0")
                .setState(state)
                .build();
        return Map.entry(
                "incident/" + id,
                Optional.of(StateValue.newBuilder().setIncident(incident).build()));
    }

    /** As the decider writes: journal, state and position in one transaction. */
    private void decide(boolean commit, Map.Entry<String, Optional<StateValue>> change) throws Exception {
        Map<String, Object> settings = new HashMap<>(client);
        settings.put("transactional.id", "decider");
        StateValue value = change.getValue().orElse(null);
        try (KafkaProducer<String, byte[]> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            JournalEntry.Builder entry = JournalEntry.newBuilder().setSentence("a change");
            if (value != null) {
                entry.setIncident(value.getIncident().getId())
                        .setTo(value.getIncident().getState());
            }
            StateValue position = StateValue.newBuilder()
                    .setPosition(Position.newBuilder().setEpoch(1))
                    .build();
            producer.send(record(Topic.JOURNAL, null, entry.build())).get();
            producer.send(record(Topic.STATE, change.getKey(), value)).get();
            producer.send(record(Topic.STATE, "position", position)).get();
            if (commit) {
                producer.commitTransaction();
            } else {
                producer.abortTransaction();
            }
        }
    }

    private void say(Message message) throws Exception {
        try (KafkaProducer<String, byte[]> producer =
                new KafkaProducer<>(client, new StringSerializer(), new ByteArraySerializer())) {
            producer.send(record(Topic.INBOX, null, message)).get();
        }
    }

    private static ProducerRecord<String, byte[]> record(Topic topic, @Nullable String key, @Nullable Message message) {
        return new ProducerRecord<>(
                topic.name(PREFIX),
                null,
                null,
                key,
                message == null ? null : message.toByteArray(),
                Codec.headers(
                        message == null ? StateValue.getDefaultInstance() : message,
                        "id",
                        "/healers/healer-a",
                        Instant.EPOCH));
    }

    private static NodeReport report(String node) {
        return NodeReport.newBuilder()
                .setNode(node)
                .setOrigin(Origin.newBuilder().setPartition(3).setGeneration(1))
                .setWatch(Watch.WATCH_WATCHED)
                .build();
    }

    private static Covered cover() {
        return Covered.newBuilder()
                .setOrigin(Origin.newBuilder().setPartition(3).setGeneration(1))
                .build();
    }

    private List<OperatorDecision> decisionsInTheInbox() {
        TopicPartition inbox = new TopicPartition(Topic.INBOX.name(PREFIX), 0);
        List<OperatorDecision> found = new java.util.ArrayList<>();
        try (KafkaConsumer<String, byte[]> consumer =
                new KafkaConsumer<>(client, new StringDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(inbox));
            consumer.seekToBeginning(List.of(inbox));
            long end = consumer.endOffsets(List.of(inbox)).getOrDefault(inbox, 0L);
            while (consumer.position(inbox) < end) {
                for (ConsumerRecord<String, byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    if (Codec.decode(record.headers(), record.value()) instanceof Codec.Decoded.Known known
                            && known.message() instanceof OperatorDecision decision) {
                        found.add(decision);
                    }
                }
            }
        }
        return found;
    }

    private HttpResponse<String> pause(String id) throws Exception {
        return send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/v1/decisions"))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(new JsonObject()
                        .put("id", id)
                        .put("verb", "pause")
                        .put("who", "ann")
                        .put("why", "a test")
                        .encode())));
    }

    private JsonObject get(String path) throws Exception {
        HttpResponse<String> answer = ask(path);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return new JsonObject(answer.body());
    }

    private HttpResponse<String> ask(String path) throws Exception {
        return send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .GET());
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return http.send(
                request.header("Authorization", "Bearer " + TOKEN).build(), HttpResponse.BodyHandlers.ofString());
    }

    private static void until(Callable<Boolean> holds) throws Exception {
        long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!holds.call()) {
            assertThat(System.nanoTime()).as("within 30 s").isLessThan(deadline);
            Thread.sleep(50);
        }
    }
}

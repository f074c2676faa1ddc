package dev.unhang.healer.web;

import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.GpuReport;
import dev.unhang.events.v1.GuardAnswer;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.NicReport;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.PauseSwitch;
import dev.unhang.events.v1.Position;
import dev.unhang.events.v1.ReadStatus;
import dev.unhang.events.v1.Severity;
import dev.unhang.events.v1.StateValue;
import dev.unhang.events.v1.Suspect;
import dev.unhang.events.v1.Watch;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The real server on a free loopback port, over views that a test feeds by hand. */
public final class Served implements AutoCloseable {

    public static final String TOKEN = "a-token-for-tests-only";
    /** 2026-01-01T00:00:00Z. */
    public static final long STAMP = 1_767_225_600_000L;

    public final Views views = new Views(Views.Limits.USUAL);
    public final List<OperatorDecision> decisions = new CopyOnWriteArrayList<>();
    public final AtomicLong nowNs = new AtomicLong();
    public volatile Optional<String> alive = Optional.empty();
    public volatile @Nullable RuntimeException logFails;
    /** What the decider answers at once; null: there is no decider. What begins with "no " is a refusal. */
    public volatile @Nullable String decider = "it is so";

    final HealerMetrics metrics = new HealerMetrics(views, nowNs::get);
    private final Vertx vertx = Vertx.vertx();
    private final WebServer server;
    private final HttpClient client = HttpClient.newHttpClient();

    public Served() {
        this(1_000);
    }

    Served(int mostConnections) {
        WebConfig config = new WebConfig("127.0.0.1", 0, null, Duration.ofSeconds(5), mostConnections);
        WebServer.Parts parts =
                new WebServer.Parts(views, this::write, "observe", () -> alive, metrics::scrape, nowNs::get);
        try {
            server = WebServer.start(vertx, config, Token.of(TOKEN), parts)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get(10, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Views that were read to their end, with every partition covered. */
    public Served caughtUp() {
        for (int partition = 0; partition < 12; partition++) {
            views.onInbox(
                    Covered.newBuilder()
                            .setOrigin(origin(partition, 1))
                            .setNodes(1)
                            .setLagMs(20)
                            .build(),
                    STAMP,
                    nowNs.get());
        }
        views.onState(
                "position",
                StateValue.newBuilder()
                        .setPosition(Position.newBuilder()
                                .setEpoch(7)
                                .setDecider("healer-a")
                                .setLogTimeMs(90_000)
                                .setLastStampMs(STAMP))
                        .build());
        views.caughtUp(nowNs.get());
        return this;
    }

    public Served node(String name) {
        return report(name, Watch.WATCH_WATCHED, 1);
    }

    Served report(String name, Watch watch, long generation) {
        views.onInbox(
                NodeReport.newBuilder()
                        .setOrigin(origin(3, generation))
                        .setNode(name)
                        .setWatch(watch)
                        .setStampMs(STAMP)
                        .setWell(watch == Watch.WATCH_WATCHED)
                        .setClockOffsetNs(-1_500_000_000L)
                        .addGpus(GpuReport.newBuilder().setUtil(97))
                        .addGpus(GpuReport.newBuilder().setStatus(ReadStatus.READ_STATUS_GPU_IS_LOST))
                        .addNics(NicReport.newBuilder()
                                .setName("eth0")
                                .setState(OperState.OPER_STATE_DOWN)
                                .setWasUp(true))
                        .addNics(NicReport.newBuilder().setName("eth1").setState(OperState.OPER_STATE_DOWN))
                        .build(),
                STAMP,
                nowNs.get());
        views.onState(
                "node/" + name,
                StateValue.newBuilder()
                        .setNode(NodeState.newBuilder().setNode(name))
                        .build());
        return this;
    }

    public Served incident(String id, IncidentKind kind, IncidentState state, String node, String evidence) {
        Incident incident = Incident.newBuilder()
                .setId(id)
                .setKind(kind)
                .setSubject("job:train@0")
                .setState(state)
                .setSeverity(state == IncidentState.INCIDENT_SUSPECTED ? Severity.INFO : Severity.CRITICAL)
                .setOpenedStampMs(STAMP)
                .setOnsetStampMs(STAMP - 4_000)
                .setHeldReason(state == IncidentState.INCIDENT_HELD ? "mode is observe" : "")
                .setFinding(Finding.newBuilder()
                        .setKind(kind)
                        .addEvidence(evidence)
                        .addNodes(node)
                        .setJob("train")
                        .putFigures("silent_seconds", 12.5)
                        .addSuspects(Suspect.newBuilder()
                                .setNode(node)
                                .setRank(1)
                                .setScore(10)
                                .setConfidence("high")
                                .addEvidence("rank 1 is in process state T")))
                .build();
        views.onState(
                "incident/" + id, StateValue.newBuilder().setIncident(incident).build());
        views.onJournal(JournalEntry.newBuilder()
                .setIncident(id)
                .setStampMs(STAMP)
                .setTo(IncidentState.INCIDENT_SUSPECTED)
                .setSentence("the job stopped moving")
                .build());
        if (state != IncidentState.INCIDENT_SUSPECTED) {
            views.onJournal(JournalEntry.newBuilder()
                    .setIncident(id)
                    .setStampMs(STAMP + 5_000)
                    .setFrom(IncidentState.INCIDENT_SUSPECTED)
                    .setTo(state)
                    .setSentence("it has not moved for 10 s")
                    .addGuards(GuardAnswer.newBuilder().setGuard("mode").setReason("mode is observe"))
                    .build());
        }
        return this;
    }

    public Served paused(String who, String why) {
        views.onState(
                "switch/pause",
                StateValue.newBuilder()
                        .setPause(PauseSwitch.newBuilder()
                                .setPaused(true)
                                .setWho(who)
                                .setWhy(why))
                        .build());
        return this;
    }

    public String url() {
        return "http://127.0.0.1:" + server.port();
    }

    int port() {
        return server.port();
    }

    HttpResponse<String> get(String path) {
        return send(request(path).header("Authorization", "Bearer " + TOKEN).GET());
    }

    HttpResponse<String> post(String path, String body) {
        return send(request(path)
                .header("Authorization", "Bearer " + TOKEN)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(url() + path)).timeout(Duration.ofSeconds(10));
    }

    HttpResponse<String> send(HttpRequest.Builder request) {
        try {
            return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        metrics.close();
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    static Origin origin(int partition, long generation) {
        return Origin.newBuilder()
                .setPartition(partition)
                .setGeneration(generation)
                .setOwner("healer-a")
                .build();
    }

    private CompletionStage<Void> write(OperatorDecision decision) {
        RuntimeException fails = logFails;
        if (fails != null) {
            return CompletableFuture.failedFuture(fails);
        }
        decisions.add(decision);
        String sentence = decider;
        if (sentence != null) {
            views.onJournal(JournalEntry.newBuilder()
                    .setDecision(decision.getId())
                    .setWho(decision.getWho())
                    .setSentence(sentence)
                    .setRefused(sentence.startsWith("no "))
                    .build());
        }
        return CompletableFuture.completedFuture(null);
    }
}

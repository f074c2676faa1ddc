package dev.unhang.healer.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.Watch;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WebServerTest {

    private final Served served = new Served();

    @AfterEach
    void close() {
        served.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/metrics",
                "/api/v1/status",
                "/api/v1/nodes",
                "/api/v1/nodes/n",
                "/api/v1/incidents",
                "/api/v1/incidents/x",
                "/nothing-here"
            })
    void everyPathButHealthWantsTheToken(String path) {
        served.caughtUp();
        HttpResponse<String> bare = served.send(served.request(path).GET());
        assertProblem(bare, 401, "bears no token");
        assertThat(bare.headers().firstValue("WWW-Authenticate")).contains("Bearer realm=\"unhang\"");
        for (String wrong : List.of(
                "Bearer wrong", "Bearer " + Served.TOKEN + "x", "Basic " + Served.TOKEN, Served.TOKEN, "Bearer ")) {
            HttpResponse<String> refused = served.send(
                    served.request(path).header("Authorization", wrong).GET());
            assertProblem(refused, 401, "not this healer's");
            assertThat(refused.body()).doesNotContain("wrong").doesNotContain(Served.TOKEN);
        }
    }

    @Test
    void postingWantsTheTokenToo() {
        served.caughtUp();
        HttpResponse<String> refused = served.send(
                served.request("/api/v1/decisions").POST(HttpRequest.BodyPublishers.ofString("{\"verb\":\"pause\"}")));
        assertProblem(refused, 401, "bears no token");
        assertThat(served.decisions).isEmpty();
    }

    @Test
    void healthIsOpenToAllAndReadinessTellsWhyNot() {
        assertThat(served.send(served.request("/healthz").GET()).statusCode()).isEqualTo(200);
        HttpResponse<String> unready = served.send(served.request("/readyz").GET());
        assertThat(unready.statusCode()).isEqualTo(503);
        assertThat(new JsonObject(unready.body()).getJsonArray("reasons")).hasSize(1);

        served.caughtUp();
        assertThat(served.send(served.request("/readyz").GET()).statusCode()).isEqualTo(200);

        served.alive = Optional.of("the loop of partition 3 has ended");
        HttpResponse<String> ended = served.send(served.request("/readyz").GET());
        assertThat(ended.statusCode()).isEqualTo(503);
        assertThat(ended.body()).contains("the loop of partition 3 has ended");
    }

    @Test
    void untilTheLogWasReadOnceNothingIsShown() {
        served.node("node-1");
        assertProblem(served.get("/api/v1/nodes"), 503, "has not read its log yet");
        served.caughtUp();
        assertThat(served.get("/api/v1/nodes").statusCode()).isEqualTo(200);
    }

    @Test
    void whileKafkaIsDownTheLastKnownIsShownAsStaleAndNothingIsWritten() {
        served.caughtUp().node("node-1");
        served.views.behind("Kafka does not answer since noon");
        HttpResponse<String> nodes = served.get("/api/v1/nodes");
        assertThat(nodes.statusCode()).isEqualTo(200);
        assertThat(nodes.headers().firstValue("Unhang-Stale")).contains("Kafka does not answer since noon");
        assertThat(object(served.get("/api/v1/status")).getString("verdict")).isEqualTo("blind");
        assertProblem(
                served.post("/api/v1/decisions", "{\"verb\":\"resume\",\"who\":\"ann\"}"),
                503,
                "Kafka does not answer");
        assertThat(served.decisions).isEmpty();
    }

    @Test
    void everyAnswerCarriesStrictHeaders() {
        served.caughtUp();
        for (HttpResponse<String> answer : List.of(
                served.get("/api/v1/status"),
                served.get("/nothing"),
                served.send(served.request("/healthz").GET()),
                served.send(served.request("/api/v1/status").GET()))) {
            assertThat(answer.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
            assertThat(answer.headers().firstValue("Cache-Control")).contains("no-store");
            assertThat(answer.headers().firstValue("Content-Security-Policy"))
                    .hasValueSatisfying(policy -> assertThat(policy).startsWith("default-src 'none'"));
        }
    }

    @Test
    void whatIsNotThereIsAProblemThatSaysWhat() {
        served.caughtUp();
        assertProblem(served.get("/api/v1/incidents/job-hang-00000000"), 404, "job-hang-00000000");
        assertProblem(served.get("/api/v1/nodes/ghost"), 404, "ghost");
        assertProblem(served.get("/api/v2"), 404, "nothing at this path");
        assertProblem(served.get("/api/v1/decisions"), 405, "method");
    }

    @ParameterizedTest
    @CsvSource({
        "/api/v1/incidents?state=ajar, state is 'ajar'",
        "/api/v1/incidents?kind=hang, kind is 'hang'",
        "/api/v1/incidents?limit=0, limit is '0'",
        "/api/v1/incidents?limit=10001, limit is '10001'",
        "/api/v1/incidents?limit=x, limit is 'x'",
        "/api/v1/incidents?colour=red, no parameter 'colour'",
        "/api/v1/incidents?node=a&node=b, node stands there 2 times",
        "/api/v1/nodes?watch=seen, watch is 'seen'"
    })
    void aWrongFilterIsTold(String path, String what) {
        served.caughtUp();
        assertProblem(served.get(path), 400, what);
    }

    @Test
    void filtersChooseIncidents() {
        served.caughtUp()
                .incident("job-hang-1", IncidentKind.JOB_HANG, IncidentState.INCIDENT_SUSPECTED, "node-1", "e")
                .incident("node-silent-2", IncidentKind.NODE_SILENT, IncidentState.INCIDENT_CONFIRMED, "node-2", "e")
                .incident("node-silent-3", IncidentKind.NODE_SILENT, IncidentState.INCIDENT_RESOLVED, "node-2", "e");
        assertThat(ids("")).containsExactly("node-silent-2", "job-hang-1");
        assertThat(ids("?state=closed")).containsExactly("node-silent-3");
        assertThat(ids("?state=all")).containsExactly("node-silent-2", "job-hang-1", "node-silent-3");
        assertThat(ids("?state=all&kind=node-silent")).containsExactly("node-silent-2", "node-silent-3");
        assertThat(ids("?node=node-1")).containsExactly("job-hang-1");
        assertThat(ids("?limit=1")).containsExactly("node-silent-2");
        assertThat(object(served.get("/api/v1/incidents?limit=1")).getInteger("total"))
                .isEqualTo(2);
    }

    @Test
    void anIncidentComesWithItsTimeline() {
        served.caughtUp()
                .incident("job-hang-1", IncidentKind.JOB_HANG, IncidentState.INCIDENT_HELD, "node-1", "no traffic");
        JsonObject incident = object(served.get("/api/v1/incidents/job-hang-1"));
        assertThat(incident.getString("kind")).isEqualTo("job-hang");
        assertThat(incident.getString("state")).isEqualTo("held");
        assertThat(incident.getString("since")).isEqualTo("2026-01-01T00:00:00Z");
        assertThat(incident.getString("heldReason")).isEqualTo("mode is observe");
        assertThat(incident.getJsonArray("evidence")).containsExactly("no traffic");
        assertThat(incident.getJsonObject("figures").getDouble("silent_seconds"))
                .isEqualTo(12.5);
        assertThat(incident.getBoolean("timelineComplete")).isTrue();
        JsonObject first = incident.getJsonArray("timeline").getJsonObject(0);
        assertThat(first.getString("from")).isEqualTo("none");
        assertThat(first.getString("to")).isEqualTo("suspected");
        assertThat(first.getString("sentence")).isEqualTo("the job stopped moving");
        assertThat(incident.getJsonArray("timeline")
                        .getJsonObject(1)
                        .getJsonArray("guards")
                        .getJsonObject(0)
                        .getBoolean("allowed"))
                .isFalse();
    }

    @Test
    void aNodeTellsWhatIsOnItAndWhatWasNotReadIsLeftOut() {
        served.caughtUp().node("node-1");
        JsonObject node = object(served.get("/api/v1/nodes/node-1"));
        assertThat(node.getString("watch")).isEqualTo("watched");
        assertThat(node.getBoolean("covered")).isTrue();
        assertThat(node.getDouble("clockOffsetSeconds")).isEqualTo(-1.5);
        assertThat(node.getInteger("gpusFaulty")).isEqualTo(1);
        assertThat(node.getInteger("nicsDown"))
                .as("a NIC that never was up is not down")
                .isEqualTo(1);
        JsonObject first = node.getJsonArray("gpuList").getJsonObject(0);
        assertThat(first.getInteger("utilPercent")).isEqualTo(97);
        assertThat(first.containsKey("celsius")).isFalse();
        assertThat(node.getJsonArray("gpuList").getJsonObject(1).getString("status"))
                .isEqualTo("gpu-is-lost");
    }

    @Test
    void statusAnswersWhatAPersonAsks() {
        served.caughtUp().node("node-1");
        assertThat(object(served.get("/api/v1/status")).getString("verdict")).isEqualTo("well");
        served.incident("job-hang-1", IncidentKind.JOB_HANG, IncidentState.INCIDENT_SUSPECTED, "node-1", "e");
        assertThat(object(served.get("/api/v1/status")).getString("verdict")).isEqualTo("suspected");
        served.incident("job-hang-1", IncidentKind.JOB_HANG, IncidentState.INCIDENT_HELD, "node-1", "e");
        JsonObject status = object(served.get("/api/v1/status"));
        assertThat(status.getString("verdict")).isEqualTo("wrong");
        assertThat(status.getInteger("confirmed")).isEqualTo(1);
        assertThat(status.getInteger("suspected")).isZero();
        assertThat(status.getJsonObject("gpus").getInteger("seen")).isEqualTo(2);
        assertThat(status.getString("mode")).isEqualTo("observe");
        assertThat(status.getJsonArray("blind")).isEmpty();
    }

    @Test
    void hostileNamesStayTextInJson() {
        String name = "a\u001b[2J\u202e</script>\"\\\n" + "x".repeat(10_000);
        served.caughtUp()
                .report(name, Watch.WATCH_SILENT, 1)
                .incident("node-silent-1", IncidentKind.NODE_SILENT, IncidentState.INCIDENT_CONFIRMED, name, name);
        HttpResponse<String> nodes = served.get("/api/v1/nodes");
        assertThat(object(nodes).getJsonArray("nodes").getJsonObject(0).getString("node"))
                .isEqualTo(name);
        assertThat(nodes.body()).doesNotContain("\u001b").doesNotContain("\n");
        assertThat(nodes.headers().firstValue("Content-Type")).contains("application/json");
        assertThat(object(served.get("/api/v1/incidents/node-silent-1"))
                        .getJsonArray("evidence")
                        .getString(0))
                .isEqualTo(name);
    }

    @Test
    void aDecisionIsWrittenWithWhoAndWhy() {
        served.caughtUp().node("node-1");
        HttpResponse<String> answer = served.post(
                "/api/v1/decisions",
                "{\"verb\":\"maintenance\",\"target\":\"node-1\",\"who\":\"ann\",\"why\":\"new fans\",\"forSeconds\":7200,\"id\":\"d-1\"}");
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
        assertThat(served.decisions)
                .containsExactly(OperatorDecision.newBuilder()
                        .setId("d-1")
                        .setVerb("maintenance")
                        .setTarget("node-1")
                        .setWho("ann")
                        .setWhy("new fans")
                        .setForMs(7_200_000)
                        .build());
    }

    @Test
    void theDecidersAnswerIsFoundByTheDecisionsId() {
        served.caughtUp();
        served.decider = "no node ghost is known";
        served.post("/api/v1/decisions", "{\"verb\":\"resume\",\"who\":\"ann\",\"id\":\"d-1\"}");
        JsonObject answer = object(served.get("/api/v1/decisions/d-1"));
        assertThat(answer.getBoolean("refused")).isTrue();
        assertThat(answer.getJsonArray("sentences")).containsExactly("no node ghost is known");
        assertProblem(served.get("/api/v1/decisions/d-2"), 404, "no decider has answered");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{ | no JSON object",
                "[] | no JSON object",
                "{\"verb\":\"reboot\",\"who\":\"a\"} | verb is 'reboot'",
                "{\"who\":\"a\"} | verb is missing",
                "{\"verb\":\"pause\",\"why\":\"w\"} | who is missing",
                "{\"verb\":\"pause\",\"who\":\" \",\"why\":\"w\"} | says nothing",
                "{\"verb\":\"pause\",\"who\":\"a\"} | why is missing",
                "{\"verb\":\"pause\",\"who\":7,\"why\":\"w\"} | who is no text",
                "{\"verb\":\"pause\",\"who\":\"a\",\"why\":\"w\",\"target\":\"n\"} | takes no target",
                "{\"verb\":\"pause\",\"who\":\"a\",\"why\":\"w\",\"forSeconds\":5} | no meaning",
                "{\"verb\":\"pause\",\"who\":\"a\",\"why\":\"w\",\"force\":true} | unknown members: force",
                "{\"verb\":\"maintenance\",\"who\":\"a\",\"why\":\"w\",\"target\":\"node-1\"} | forSeconds is missing",
                "{\"verb\":\"maintenance\",\"who\":\"a\",\"why\":\"w\",\"target\":\"node-1\",\"forSeconds\":-1} | forSeconds is -1",
                "{\"verb\":\"maintenance\",\"who\":\"a\",\"why\":\"w\",\"target\":\"node-1\",\"forSeconds\":2592001} | forSeconds",
                "{\"verb\":\"take\",\"who\":\"a\",\"why\":\"w\"} | target is missing"
            })
    void aWrongDecisionIsToldAndNotWritten(String body, String what) {
        served.caughtUp().node("node-1");
        assertProblem(served.post("/api/v1/decisions", body), 400, what);
        assertThat(served.decisions).isEmpty();
    }

    @Test
    void aDecisionOnWhatIsNotThereOrOverIsRefused() {
        served.caughtUp().incident("job-hang-1", IncidentKind.JOB_HANG, IncidentState.INCIDENT_RESOLVED, "node-1", "e");
        assertProblem(decide("dismiss", "job-hang-2"), 404, "no incident 'job-hang-2'");
        assertProblem(decide("dismiss", "job-hang-1"), 409, "resolved already");
        assertProblem(decide("forget", "ghost"), 404, "no node 'ghost'");
        assertThat(served.decisions).isEmpty();
    }

    @Test
    void aBodyOfMoreThan64KibIsNotRead() {
        served.caughtUp();
        String fits =
                "{\"verb\":\"pause\",\"who\":\"a\",\"why\":\"" + "x".repeat(WebServer.MOST_BODY_BYTES - 200) + "\"}";
        assertProblem(served.post("/api/v1/decisions", fits), 400, "why has");
        String tooLong = "x".repeat(WebServer.MOST_BODY_BYTES + 1);
        assertProblem(served.post("/api/v1/decisions", tooLong), 413, "larger than 65536 bytes");
    }

    @Test
    void onlyJsonIsRead() {
        served.caughtUp();
        HttpResponse<String> answer = served.send(served.request("/api/v1/decisions")
                .header("Authorization", "Bearer " + Served.TOKEN)
                .header("Content-Type", "text/plain")
                .POST(HttpRequest.BodyPublishers.ofString("{}")));
        assertProblem(answer, 415, "application/json");
    }

    @Test
    void aLogThatFailsIsToldAndSaysHowToRepeat() {
        served.caughtUp();
        served.logFails = new IllegalStateException("secret inner words");
        HttpResponse<String> answer =
                served.post("/api/v1/decisions", "{\"verb\":\"resume\",\"who\":\"ann\",\"id\":\"d-9\"}");
        assertProblem(answer, 503, "could not be written");
        assertThat(answer.body()).contains("d-9").doesNotContain("secret");
    }

    @Test
    void metricsAreServedInPrometheusText() {
        served.caughtUp().incident("job-hang-1", IncidentKind.JOB_HANG, IncidentState.INCIDENT_HELD, "node-1", "e");
        HttpResponse<String> metrics = served.get("/metrics");
        assertThat(metrics.headers().firstValue("Content-Type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("text/plain"));
        assertThat(metrics.body())
                .contains("unhang_incidents_open{kind=\"job-hang\",state=\"held\"} 1")
                .contains("unhang_decider_epoch 7")
                .contains("unhang_partition_lag_seconds{partition=\"3\"} 0.02")
                .contains("jvm_memory_used_bytes");
    }

    @Test
    void forOneConnectionTooManyTheOldestIsClosedAndTheNewOneIsServed() throws IOException {
        try (Served few = new Served(20).caughtUp()) {
            List<Socket> idle = new ArrayList<>();
            try {
                for (int i = 0; i < 20; i++) {
                    idle.add(connect(few));
                    assertThat(status(idle.get(i))).isEqualTo("HTTP/1.1 200 OK");
                }
                try (Socket oneMore = connect(few)) {
                    assertThat(status(oneMore)).isEqualTo("HTTP/1.1 200 OK");
                }
                assertThat(status(idle.get(0))).as("closed without an answer").isEmpty();
                assertThat(status(idle.get(1))).isEqualTo("HTTP/1.1 200 OK");
            } finally {
                for (Socket socket : idle) {
                    socket.close();
                }
            }
        }
    }

    private static Socket connect(Served served) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), served.port());
        socket.setSoTimeout(5_000);
        return socket;
    }

    private static String status(Socket socket) throws IOException {
        StringBuilder head = new StringBuilder();
        try {
            socket.getOutputStream()
                    .write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            for (int c = in.read(); c >= 0; c = in.read()) {
                head.append((char) c);
                if (head.toString().endsWith("{\"status\":\"up\"}")) {
                    break;
                }
            }
        } catch (java.net.SocketException e) {
            return "";
        }
        return head.isEmpty() ? "" : head.substring(0, head.indexOf("\r\n"));
    }

    private HttpResponse<String> decide(String verb, String target) {
        return served.post(
                "/api/v1/decisions",
                new JsonObject()
                        .put("verb", verb)
                        .put("target", target)
                        .put("who", "ann")
                        .put("why", "because")
                        .encode());
    }

    private List<String> ids(String query) {
        return object(served.get("/api/v1/incidents" + query)).getJsonArray("incidents").stream()
                .map(incident -> ((JsonObject) incident).getString("id"))
                .toList();
    }

    private static JsonObject object(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return new JsonObject(answer.body());
    }

    private static void assertProblem(HttpResponse<String> answer, int status, String what) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        assertThat(answer.headers().firstValue("Content-Type")).contains("application/problem+json");
        JsonObject problem = new JsonObject(answer.body());
        assertThat(problem.getInteger("status")).isEqualTo(status);
        assertThat(problem.getString("detail")).contains(what);
        assertThat(problem.getString("mend")).isNotBlank();
    }
}

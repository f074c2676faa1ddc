package dev.unhang.healer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.healer.web.Served;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommandsTest {

    private final Served served = new Served();
    private final Map<String, String> environment = new HashMap<>();
    private Surroundings.@org.jspecify.annotations.Nullable Asker asker;
    private boolean terminal;

    @BeforeEach
    void knowTheHealer() {
        environment.put("UNHANG_URL", served.url());
        environment.put("UNHANG_TOKEN", Served.TOKEN);
        environment.put("USER", "ann");
    }

    @AfterEach
    void close() {
        served.close();
    }

    private record Ran(int code, String out, String err) {}

    private Ran run(String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Surroundings here = new Surroundings(
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                environment,
                terminal,
                asker,
                () -> Instant.ofEpochMilli(Served.STAMP + 180_000),
                Duration.ofMillis(200));
        int code = Commands.run(Commands.commandLine(here), here, arguments);
        return new Ran(code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    @Test
    void aQuietClusterIsWell() {
        served.caughtUp().node("node-1");
        Ran status = run("status");
        assertThat(status.code()).as(status.err()).isEqualTo(Exit.WELL);
        assertThat(status.out().lines())
                .containsExactly(
                        "All is well: nothing is wrong on what is watched",
                        "Nodes: 1 watched, 0 silent, 0 unwatched",
                        "GPUs: 2 seen, 1 faulty; NICs: 2 seen, 1 down",
                        "Sight: the healer sees all of its log",
                        "Mode: observe (it tells and acts on nothing)");
        assertThat(run("incidents"))
                .isEqualTo(new Ran(Exit.WELL, "There are no open incidents." + System.lineSeparator(), ""));
    }

    @Test
    void aHealerThatWatchesNothingDoesNotSayThatAllIsWell() {
        served.caughtUp();
        Ran status = run("status");
        assertThat(status.code()).isEqualTo(Exit.WELL);
        assertThat(status.out()).startsWith("Nothing is watched yet").doesNotContain("All is well");
    }

    @Test
    void statusTellsWhatIsWrongAndWhoIsToBlameFirst() {
        served.caughtUp()
                .node("node-1")
                .paused("bob", "new switches")
                .incident("job-hang-1", IncidentKind.JOB_HANG, IncidentState.INCIDENT_HELD, "node-1", "no traffic");
        Ran status = run("status");
        assertThat(status.code()).isEqualTo(Exit.WRONG);
        assertThat(status.out().lines())
                .startsWith(
                        "Something is wrong: 1 incident",
                        "  job-hang-1  job:train@0  held, critical, since 2026-01-01T00:00:00Z (3 min ago)",
                        "      to blame: node-1 rank 1 (high)",
                        "      no traffic",
                        "      held: mode is observe")
                .endsWith("Mode: observe (it tells and acts on nothing), paused by bob: new switches");
    }

    @Test
    void aSuspicionAloneIsNotWrong() {
        served.caughtUp()
                .incident("job-hang-1", IncidentKind.JOB_HANG, IncidentState.INCIDENT_SUSPECTED, "node-1", "e");
        assertThat(run("status").code()).isEqualTo(Exit.WELL);
        assertThat(run("incidents").code()).isEqualTo(Exit.WELL);
        assertThat(run("explain", "job-hang-1").code()).isEqualTo(Exit.WELL);
    }

    @Test
    void aBlindHealerIsWrong() {
        served.caughtUp();
        served.nowNs.set(60_000_000_000L);
        Ran status = run("status");
        assertThat(status.code()).isEqualTo(Exit.WRONG);
        assertThat(status.out()).contains("The healer is blind").contains("Blind: nothing came to the inbox for 60 s");
    }

    @Test
    void incidentsAreATable() {
        served.caughtUp()
                .incident("job-hang-1", IncidentKind.JOB_HANG, IncidentState.INCIDENT_HELD, "node-1", "e")
                .incident("nic-fault-2", IncidentKind.NIC_FAULT, IncidentState.INCIDENT_RESOLVED, "node-22", "e");
        Ran open = run("incidents");
        assertThat(open.code()).isEqualTo(Exit.WRONG);
        assertThat(open.out().lines())
                .containsExactly(
                        "INCIDENT    SUBJECT      STATE  SEVERITY  SINCE                             WHO",
                        "job-hang-1  job:train@0  held   critical  2026-01-01T00:00:00Z (3 min ago)  node-1 rank 1 (high)");
        assertThat(run("incidents", "--all").out()).contains("nic-fault-2");
    }

    @Test
    void explainTellsTheTimelineInSentences() {
        served.caughtUp()
                .incident("job-hang-1", IncidentKind.JOB_HANG, IncidentState.INCIDENT_HELD, "node-1", "no traffic");
        Ran explained = run("explain", "job-hang-1");
        assertThat(explained.code()).isEqualTo(Exit.WRONG);
        assertThat(explained.out())
                .startsWith("job-hang-1: job-hang of job:train@0, held, critical")
                .contains("Evidence\n  - no traffic")
                .contains("  - node-1 rank 1 (high), score 10.0\n      rank 1 is in process state T")
                .contains("2026-01-01T00:00:00Z  suspected: the job stopped moving")
                .contains(
                        "2026-01-01T00:00:05Z  held: it has not moved for 10 s\n      guard mode refuses: mode is observe");
        Ran unknown = run("explain", "job-hang-9");
        assertThat(unknown.code()).isEqualTo(Exit.USAGE);
        assertThat(unknown.err()).startsWith("unhang: there is no incident 'job-hang-9'");
        assertThat(run("explain", "a/../b?c=d").err()).contains("a/../b?c=d");
    }

    @ParameterizedTest
    @ValueSource(strings = {"status", "incidents", "explain"})
    void jsonIsTheHealersAnswer(String command) {
        served.caughtUp()
                .incident(
                        "job-hang-1", IncidentKind.JOB_HANG, IncidentState.INCIDENT_HELD, "node-1", "no\u202etraffic");
        Ran ran = command.equals("explain") ? run(command, "job-hang-1", "--json") : run(command, "--json");
        assertThat(ran.code()).isEqualTo(Exit.WRONG);
        assertThat(ran.out()).startsWith("{").endsWith("}\n").contains("\"no\\u202etraffic\"");
    }

    @Test
    void decisionsCarryWhoAndWhy() {
        served.caughtUp()
                .node("node-1")
                .incident("job-hang-1", IncidentKind.JOB_HANG, IncidentState.INCIDENT_HELD, "node-1", "e");
        assertThat(run("pause", "--why", "w").code()).isEqualTo(Exit.WELL);
        assertThat(run("resume").code()).isEqualTo(Exit.WELL);
        assertThat(run("dismiss", "job-hang-1", "--why", "a test").code()).isEqualTo(Exit.WELL);
        assertThat(run("forget", "node-1", "--why", "sold").code()).isEqualTo(Exit.WELL);
        assertThat(run("take", "node-1", "--why", "mine").code()).isEqualTo(Exit.WELL);
        assertThat(run("give", "node-1").code()).isEqualTo(Exit.WELL);
        assertThat(run("maintenance", "node-1", "--for", "2h", "--why", "fans").code())
                .isEqualTo(Exit.WELL);
        assertThat(served.decisions)
                .extracting(d ->
                        d.getVerb() + " " + d.getTarget() + " " + d.getWho() + " " + d.getWhy() + " " + d.getForMs())
                .containsExactly(
                        "pause  ann w 0",
                        "resume  ann  0",
                        "dismiss job-hang-1 ann a test 0",
                        "forget node-1 ann sold 0",
                        "take node-1 ann mine 0",
                        "give node-1 ann  0",
                        "maintenance node-1 ann fans 7200000");
        assertThat(served.decisions).extracting(d -> d.getId()).doesNotHaveDuplicates();
    }

    @Test
    void theDecidersAnswerIsTold() {
        served.caughtUp();
        served.decider = "resumed by ann";
        assertThat(run("resume")).isEqualTo(new Ran(Exit.WELL, "Done: resumed by ann\n", ""));
        served.decider = "no way";
        assertThat(run("resume")).isEqualTo(new Ran(Exit.REFUSED, "Refused: no way\n", ""));
        assertThat(run("resume", "--json").out()).contains("\"refused\":true");
        served.decider = null;
        Ran alone = run("resume");
        assertThat(alone.code()).isEqualTo(Exit.NOT_REACHED);
        assertThat(alone.err()).contains("stands in the log, but no decider has answered");
    }

    @Test
    void aPersonIsAskedForTheReasonAndAScriptMustSayIt() {
        served.caughtUp();
        Ran script = run("pause");
        assertThat(script.code()).isEqualTo(Exit.USAGE);
        assertThat(script.err()).contains("pause needs a reason: say it with --why");
        asker = question -> "rack is hot";
        assertThat(run("pause").code()).isEqualTo(Exit.WELL);
        assertThat(served.decisions)
                .singleElement()
                .satisfies(d -> assertThat(d.getWhy()).isEqualTo("rack is hot"));
    }

    @Test
    void wrongUsageIs2() {
        assertThat(run().code()).isEqualTo(Exit.USAGE);
        assertThat(run("statsu").code()).isEqualTo(Exit.USAGE);
        assertThat(run("explain").code()).isEqualTo(Exit.USAGE);
        assertThat(run("status", "--colour").err()).contains("Unknown option: '--colour'");
        assertThat(run("maintenance", "node-1", "--for", "soon", "--why", "w").err())
                .contains("--for is 'soon' and must be a duration");
        assertThat(run("maintenance", "node-1", "--for", "2h").code()).isEqualTo(Exit.USAGE);
        environment.put("UNHANG_URL", "healer:8080");
        Ran address = run("status");
        assertThat(address.code()).isEqualTo(Exit.USAGE);
        assertThat(address.err()).contains("UNHANG_URL is 'healer:8080' and must be an address as http://healer:8080");
    }

    @Test
    void aConfigurationIsCheckedAsAWholeWithItsTokenFile(@TempDir Path dir) throws IOException {
        environment.clear();
        Path file = dir.resolve("healer.yaml");
        Path token = Files.writeString(dir.resolve("token"), Served.TOKEN);
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
        Files.writeString(file, "kafka:\n  bootstrap-servers: k:9092\nhttp:\n  token-file: " + token + "\n");
        assertThat(run("config", "check", file.toString())).isEqualTo(new Ran(Exit.WELL, file + " is well\n", ""));

        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-r--r--"));
        Ran open = run("config", "check", file.toString());
        assertThat(open.code()).isEqualTo(Exit.USAGE);
        assertThat(open.err()).contains("is open to others (rw-r--r--)").contains("chmod 600");

        Files.writeString(file, "http:\n  port: 99999\n  idle-timeout: never\nhtp:\n  port: 1\n");
        Ran wrong = run("config", "check", file.toString());
        assertThat(wrong.code()).isEqualTo(Exit.USAGE);
        assertThat(wrong.err().lines().map(String::strip))
                .hasSize(6)
                .anyMatch(line -> line.startsWith("line 2: http.port is '99999'"))
                .anyMatch(line -> line.startsWith("line 3: http.idle-timeout is 'never'"))
                .anyMatch(line -> line.startsWith("line 5: htp.port is no key"));
        assertThat(run("healer", "--config", dir.resolve("none.yaml").toString())
                        .err())
                .contains("none.yaml is not there");
        assertThat(run("healer").code()).isEqualTo(Exit.USAGE);
    }

    @Test
    void aHealerThatIsNotThereIs3() throws IOException {
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            environment.put("UNHANG_URL", "http://127.0.0.1:" + closed.getLocalPort());
        }
        Ran status = run("status");
        assertThat(status.code()).isEqualTo(Exit.NOT_REACHED);
        assertThat(status.err())
                .contains("the healer at " + environment.get("UNHANG_URL") + " was not reached")
                .contains("Connection refused", "the address is from UNHANG_URL: set it");
    }

    @Test
    void aHealerThatHasNotReadItsLogIs3() {
        Ran status = run("status");
        assertThat(status.code()).isEqualTo(Exit.NOT_REACHED);
        assertThat(status.err()).contains("has not read its log yet");
    }

    @Test
    void whatIsRefusedIs4() {
        served.caughtUp()
                .incident("job-hang-1", IncidentKind.JOB_HANG, IncidentState.INCIDENT_DISMISSED, "node-1", "e");
        assertThat(run("dismiss", "job-hang-1", "--why", "w").code()).isEqualTo(Exit.REFUSED);
        environment.put("UNHANG_TOKEN", "wrong");
        Ran status = run("status");
        assertThat(status.code()).isEqualTo(Exit.REFUSED);
        assertThat(status.err()).contains("set UNHANG_TOKEN").doesNotContain("wrong");
        environment.remove("UNHANG_TOKEN");
        assertThat(run("status").code()).isEqualTo(Exit.REFUSED);
    }

    @Test
    void withoutAnAddressTheLocalHealerIsAsked(@TempDir Path state) throws IOException {
        served.caughtUp();
        environment.clear();
        environment.put("XDG_STATE_HOME", state.toString());
        Ran nobody = run("status");
        assertThat(nobody.code()).isEqualTo(Exit.NOT_REACHED);
        assertThat(nobody.err()).contains("unhang local").contains(state.toString());

        Path token = Files.writeString(state.resolve("token"), Served.TOKEN + "\n");
        Files.createDirectories(state.resolve("unhang"));
        Files.writeString(
                state.resolve("unhang").resolve("client.properties"),
                "url=" + served.url() + "\ntoken-file=" + token + "\n");
        assertThat(run("status").code()).isEqualTo(Exit.WELL);
    }

    @Test
    void theLocalTokenGoesToTheLocalHealerOnly(@TempDir Path state) throws IOException {
        served.caughtUp();
        Path token = Files.writeString(state.resolve("token"), Served.TOKEN);
        Files.createDirectories(state.resolve("unhang"));
        Files.writeString(
                state.resolve("unhang").resolve("client.properties"),
                "url=http://127.0.0.1:1\ntoken-file=" + token + "\n");
        environment.put("XDG_STATE_HOME", state.toString());
        environment.remove("UNHANG_TOKEN");
        assertThat(run("status").code()).as("UNHANG_URL without a token").isEqualTo(Exit.REFUSED);
    }

    @Test
    void hostileNamesNeitherMoveTheCursorNorPoseAsLines() {
        String name = "a\u001b[2J\u202e\nAll is well\r" + "x".repeat(10_240);
        served.caughtUp()
                .node(name)
                .incident("node-silent-1", IncidentKind.NODE_SILENT, IncidentState.INCIDENT_CONFIRMED, name, name);
        terminal = false;
        for (Ran ran :
                new Ran[] {run("status"), run("incidents"), run("explain", "node-silent-1"), run("explain", name)}) {
            assertThat(ran.out() + ran.err())
                    .doesNotContain("\u001b")
                    .doesNotContain("\u202e")
                    .doesNotContain("\r")
                    .doesNotContain("\nAll is well")
                    .hasSizeLessThan(6_000);
        }
    }

    @Test
    void coloursOnlyOnATerminalThatWantsThem() {
        served.caughtUp().node("node-1");
        terminal = true;
        assertThat(run("status").out()).startsWith("\u001b[1;32mAll is well\u001b[0m");
        environment.put("NO_COLOR", "1");
        assertThat(run("status").out()).startsWith("All is well");
        environment.remove("NO_COLOR");
        environment.put("TERM", "dumb");
        assertThat(run("status").out()).startsWith("All is well");
    }
}

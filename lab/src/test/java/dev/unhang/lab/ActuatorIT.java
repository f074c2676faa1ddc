package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.unhang.events.Topic;
import dev.unhang.events.Topics;
import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.ActionResult;
import dev.unhang.events.v1.ActuatorHello;
import dev.unhang.events.v1.Claim;
import dev.unhang.events.v1.Grant;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.ProbeResult;
import dev.unhang.events.v1.SignedGrant;
import dev.unhang.events.v1.Withdraw;
import dev.unhang.healer.actuator.Actuator;
import dev.unhang.healer.actuator.ActuatorConfig;
import dev.unhang.healer.actuator.process.NodeProcesses;
import dev.unhang.healer.command.GrantSeal;
import dev.unhang.healer.command.ProcessName;
import dev.unhang.settings.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Clock;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/**
 * The actuator of a node against a real broker, a real process as the rank, and a test as the decider: what is granted is
 * done once and told, and everything else is refused by its name, told, and keeps nothing from being done after it.
 */
class ActuatorIT {

    private static final KeyPair KEY = FakeDecider.key();
    private static final NodeProcesses NODE = new NodeProcesses(Path.of("/proc"));

    @TempDir
    static Path data;

    private static EmbeddedKafka kafka;

    @TempDir
    Path folder;

    private Path stop;
    private Path state;
    private Actuator actuator;
    private FakeDecider decider;
    private Process rank;
    private String rankName;

    @BeforeAll
    static void aBroker() throws Exception {
        kafka = new EmbeddedKafka(data, 0);
        kafka.start();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()))) {
            new Topics(admin, Topic.DEFAULT_PREFIX).ensure();
        }
    }

    @AfterAll
    static void noBroker() {
        kafka.close();
    }

    @BeforeEach
    void aNodeWithARank(TestInfo test) throws Exception {
        stop = folder.resolve("stop");
        state = folder.resolve("state");
        rank = new ProcessBuilder("sleep", "600").start();
        int pid = (int) rank.pid();
        rankName =
                new ProcessName(NODE.bootId(), pid, NODE.stat(pid).orElseThrow().startTicks()).toString();
        String node = "n-" + Integer.toHexString(test.getDisplayName().hashCode());
        decider = new FakeDecider(kafka.bootstrapServers(), node, KEY);
        start(node);
    }

    private void start(String node) throws Exception {
        Path pem = folder.resolve("k1.pem");
        Files.writeString(
                pem,
                "-----BEGIN PUBLIC KEY-----\n"
                        + Base64.getEncoder().encodeToString(KEY.getPublic().getEncoded())
                        + "\n-----END PUBLIC KEY-----\n");
        Path file = folder.resolve("actuator.yaml");
        Files.writeString(file, """
                kafka: {bootstrap-servers: "%s"}
                node: %s
                actions: [look, collect-evidence, restart-ranks]
                grant-keys: {k1: %s}
                stop-file: %s
                state-folder: %s
                programs: {py-spy: /does/not/exist}
                evidence: {nccl-ras: false, most-bytes: 1MiB}
                """.formatted(kafka.bootstrapServers(), node, pem, stop, state));
        ActuatorConfig config = ActuatorConfig.read(Settings.read(file, Map.of()), "unused");
        actuator = Actuator.start(config, "test", Path.of("/proc"), Clock.systemUTC(), System::nanoTime);
        ActuatorHello hello = decider.hear(ActuatorHello.class, any -> true);
        assertThat(hello.getActionsList()).containsExactlyInAnyOrder("look", "collect-evidence", "restart-ranks");
    }

    @AfterEach
    void end() {
        actuator.close();
        decider.close();
        rank.destroyForcibly();
    }

    private Offer restart(String command) {
        return decider.offer(command, "restart-ranks", Map.of("processes", rankName, "job", "train"));
    }

    private Claim claim(Offer offer) {
        return decider.hear(Claim.class, claim -> claim.getCommandId().equals(offer.getCommandId()));
    }

    private ActionResult result(String command) {
        return decider.hear(ActionResult.class, result -> result.getCommandId().equals(command));
    }

    private void refused(String command, String reason) {
        ActionResult result = result(command);
        assertThat(result.getEnd()).isEqualTo(ActionEnd.ACTION_REFUSED);
        assertThat(result.getDetail()).startsWith(reason + ": ");
        assertThat(rank.isAlive()).isTrue();
    }

    /** What was refused keeps nothing from being done: the rank is killed, and that is told. */
    private void aGrantedRestartIsDone(String command) throws Exception {
        Offer offer = restart(command);
        decider.say(decider.sealed(decider.grant(offer, claim(offer))));
        ActionResult done = result(command);
        assertThat(done.getEnd()).as(done.getDetail()).isEqualTo(ActionEnd.ACTION_DONE);
        assertThat(rank.waitFor(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void whatIsGrantedIsDoneOnceAndTold() throws Exception {
        Offer offer = restart("c-1");
        SignedGrant grant = decider.sealed(decider.grant(offer, claim(offer)));
        assertThat(rank.isAlive()).as("nothing is done before the grant").isTrue();
        decider.say(grant);
        ActionResult done = result("c-1");
        assertThat(done.getEnd()).isEqualTo(ActionEnd.ACTION_DONE);
        assertThat(done.getDetail()).contains("process " + rank.pid() + " (sleep) was told to end");
        assertThat(rank.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(rank.exitValue()).isEqualTo(128 + 15);

        decider.say(grant);
        decider.say(offer);
        decider.offer("c-2", "restart-ranks", Map.of("processes", rankName));
        assertThat(result("c-2").getDetail())
                .as("the used grant and the double did nothing")
                .contains("has ended");
    }

    @Test
    void whatDoesNotHoldIsRefusedByNameAndWhatHoldsIsStillDone() throws Exception {
        Offer offer = restart("c-seal");
        Grant.Builder forged = decider.grant(offer, claim(offer));
        decider.say(GrantSeal.sign(forged.build(), FakeDecider.key().getPrivate(), "k1"));
        refused("c-seal", "bad-seal");

        offer = restart("c-node");
        decider.say(decider.sealed(decider.grant(offer, claim(offer)).setNode("another")));
        refused("c-node", "wrong-node");

        offer = restart("c-epoch");
        decider.say(decider.sealed(decider.grant(offer, claim(offer)).setEpoch(6)));
        refused("c-epoch", "old-epoch");

        offer = restart("c-withdrawn");
        Claim withdrawn = claim(offer);
        decider.say(Withdraw.newBuilder().setCommandId("c-withdrawn").build());
        decider.say(decider.sealed(decider.grant(offer, withdrawn)));

        decider.say(decider.sealed(Grant.newBuilder()
                .setCommandId("c-none")
                .setNode(offer.getNode())
                .setEpoch(7)));
        decider.offer("c-allowed", "step-clock", Map.of());
        refused("c-allowed", "not-allowed");
        decider.offer("c-action", "reboot", Map.of());
        refused("c-action", "unknown-action");

        offer = restart("c-late");
        Claim late = claim(offer);
        refused("c-late", "no-grant");
        decider.say(decider.sealed(decider.grant(offer, late)));

        aGrantedRestartIsDone("c-last");
    }

    @Test
    void whileTheStopFileIsThereEverythingIsRefused() throws Exception {
        Offer offer = restart("c-1");
        Claim claim = claim(offer);
        Files.createFile(stop);
        refused("c-1", "local-stop");
        decider.say(decider.sealed(decider.grant(offer, claim)));
        restart("c-2");
        refused("c-2", "local-stop");
        Files.delete(stop);
        TimeUnit.MILLISECONDS.sleep(500);
        aGrantedRestartIsDone("c-3");
    }

    @Test
    void anOfferOfBeforeTheStartIsNeverActedOn() throws Exception {
        String node = decider.offer("c-0", "look", Map.of()).getNode();
        assertThat(result("c-0").getEnd()).isEqualTo(ActionEnd.ACTION_REFUSED);
        actuator.close();
        restart("c-1");
        start(node);
        aGrantedRestartIsDone("c-2");
        // A claim of c-1 would have come before that of c-2, and is the only thing that c-1 could have.
        assertThat(decider.heard(Claim.class))
                .noneMatch(claim -> claim.getCommandId().equals("c-1"));
    }

    @Test
    void aResultOutlivesTheBrokersRestart() throws Exception {
        Offer offer = decider.offer("c-1", "look", Map.of("processes", rankName));
        SignedGrant grant = decider.sealed(decider.grant(offer, claim(offer)));
        decider.say(grant);
        ProbeResult look = decider.hear(ProbeResult.class, any -> true);
        assertThat(look.getFindingsMap()).containsKeys("state", "wchan");
        assertThat(look.getPid()).isEqualTo((int) rank.pid());
        assertThat(result("c-1").getEnd()).isEqualTo(ActionEnd.ACTION_DONE);

        offer = restart("c-2");
        decider.say(decider.sealed(decider.grant(offer, claim(offer))));
        rank.waitFor(10, TimeUnit.SECONDS);
        kafka.stop();
        kafka.start();
        assertThat(result("c-2").getEnd()).isEqualTo(ActionEnd.ACTION_DONE);
    }

    @Test
    void aFullDiskIsARefusalAndActionsThatNeedNoneGoOn() throws Exception {
        Files.createDirectories(state);
        assumeThat(new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", state.toString())
                        .start()
                        .waitFor())
                .as("mounting is allowed")
                .isZero();
        try {
            decider.offer("c-1", "collect-evidence", Map.of("processes", rankName));
            ActionResult result = result("c-1");
            assertThat(result.getEnd()).isEqualTo(ActionEnd.ACTION_REFUSED);
            assertThat(result.getDetail()).startsWith("precondition: ").contains("is full");
            aGrantedRestartIsDone("c-2");
        } finally {
            new ProcessBuilder("umount", state.toString()).start().waitFor();
        }
    }
}

package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.Topics;
import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.ActionResult;
import dev.unhang.events.v1.ActuatorHello;
import dev.unhang.events.v1.Claim;
import dev.unhang.events.v1.Grant;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.SchedulerFact;
import dev.unhang.healer.act.AtScheduler;
import dev.unhang.healer.act.SchedulerConfig;
import dev.unhang.healer.act.SchedulerException;
import dev.unhang.healer.act.SchedulerView;
import dev.unhang.healer.act.SchedulerView.Job;
import dev.unhang.healer.act.SchedulerView.JobState;
import dev.unhang.healer.act.SchedulerView.Node;
import dev.unhang.healer.act.SchedulerView.NodeState;
import dev.unhang.healer.act.slurm.SlurmConfig;
import dev.unhang.healer.act.slurm.SlurmScheduler;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.command.GrantSeal;
import dev.unhang.healer.command.ParameterHash;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Slurm's real programs and daemons: two nodes on this machine. Tests share the cluster and put back what they change. */
@Tag("root")
class SlurmIT {

    private static final String PREFIX = Topic.DEFAULT_PREFIX;
    private static final String OURS = "unhang: job-hang-1a2b3c4d rank 1 [node-2] = stands \"still\"; it's 100% | ü";
    private static final String SLEEP =
            "echo restarts=${SLURM_RESTART_COUNT:-0} on $SLURM_JOB_NODELIST; exec sleep 600";

    @TempDir
    static Path folder;

    private static @Nullable SlurmCluster running;

    private final SlurmScheduler slurm = scheduler("root");

    @BeforeAll
    static void start() throws Exception {
        running = new SlurmCluster(folder, 2);
    }

    @AfterAll
    static void stop() throws Exception {
        cluster().close();
    }

    @AfterEach
    void close() {
        slurm.close();
    }

    @Test
    void whatAJobAndItsNodesDoIsRead() throws Exception {
        String job = cluster().submit(output("facts"), SLEEP, "-N", "2", "-J", "a|b Requeue=0\nc");
        Job running = until(() -> job(job), found -> found.state() == JobState.RUNNING);
        assertThat(running.nodes()).containsExactly("node-1", "node-2");
        assertThat(running.restarts()).isZero();
        assertThat(slurm.view().nodes()).extracting(Node::name).containsExactlyInAnyOrder("node-1", "node-2");
        assertThat(node("node-1").state()).isEqualTo(NodeState.UP);

        cluster().person("scontrol", "suspend", job);
        assertThat(until(() -> job(job), found -> found.state() != JobState.RUNNING)
                        .state())
                .isEqualTo(JobState.SUSPENDED);
        cluster().person("scontrol", "resume", job);
        cluster().person("scancel", job);
        Job over = until(() -> job(job), found -> found.state() == JobState.DONE);
        assertThat(over.word()).isEqualTo("CANCELLED");
    }

    @Test
    void weDrainAndGiveBackWordForWord() throws Exception {
        Map<String, String> parameters = Map.of("node", "node-1", "reason", OURS);
        assertThat(slurm.run(Action.DRAIN, parameters)).contains(OURS);
        assertThat(node("node-1")).satisfies(node -> {
            assertThat(node.state()).isEqualTo(NodeState.DRAINED);
            assertThat(node.reason()).isEqualTo(OURS);
            assertThat(node.who()).isEqualTo("root");
        });

        assertThat(refusal(slurm, Action.UNDRAIN, Map.of("node", "node-1", "reason", OURS + ".")))
                .hasMessageContaining("is given back");
        try (SlurmScheduler another = scheduler("somebody")) {
            assertThat(refusal(another, Action.UNDRAIN, parameters)).hasMessageContaining("by root");
        }
        assertThat(node("node-1").state()).isEqualTo(NodeState.DRAINED);

        slurm.run(Action.UNDRAIN, parameters);
        assertThat(node("node-1")).satisfies(node -> {
            assertThat(node.state()).isEqualTo(NodeState.UP);
            assertThat(node.reason()).isEmpty();
        });
    }

    @Test
    void whatAPersonDidStays() throws Exception {
        cluster().person("scontrol", "update", "NodeName=node-2", "State=DRAIN", "Reason=fan is loud");
        assertThat(node("node-2").reason()).isEqualTo("fan is loud");
        assertThat(refusal(slurm, Action.DRAIN, Map.of("node", "node-2", "reason", OURS)))
                .hasMessageContaining("fan is loud, by root");
        assertThat(refusal(slurm, Action.UNDRAIN, Map.of("node", "node-2", "reason", OURS)))
                .hasMessageContaining("fan is loud, by root");
        cluster().person("scontrol", "update", "NodeName=node-2", "State=DOWN", "Reason=board");
        assertThat(refusal(slurm, Action.DRAIN, Map.of("node", "node-2", "reason", OURS)))
                .hasMessageContaining("board, by root");
        assertThat(node("node-2").state()).isEqualTo(NodeState.DOWN);
        assertThat(node("node-2").reason()).isEqualTo("board");
        cluster().person("scontrol", "update", "NodeName=node-2", "State=RESUME");
    }

    @Test
    void aRequeuedJobRunsAgainOnAnotherNode() throws Exception {
        Path output = output("requeue");
        String job = cluster().submit(output, SLEEP, "-N", "1");
        String first = until(() -> job(job), found -> found.state() == JobState.RUNNING)
                .nodes()
                .get(0);
        String other = first.equals("node-1") ? "node-2" : "node-1";
        slurm.run(Action.DRAIN, Map.of("node", first, "reason", OURS));
        assertThat(slurm.run(Action.REQUEUE, Map.of("job", "train", "scheduler-job", job + ".0")))
                .contains("is in the queue again");
        Job again = until(() -> job(job), found -> found.state() == JobState.RUNNING && found.restarts() == 1);
        assertThat(again.nodes()).containsExactly(other);
        until(() -> Files.readString(output), said -> said.contains("restarts=1 on " + other));
        assertThat(Files.readString(output)).contains("restarts=0 on " + first);
        slurm.run(Action.UNDRAIN, Map.of("node", first, "reason", OURS));
        cluster().person("scancel", job);
    }

    @Test
    void whatMayNotRunAgainIsNotRequeued() throws Exception {
        String job = cluster().submit(output("once"), SLEEP, "-N", "1", "--no-requeue");
        until(() -> job(job), found -> found.state() == JobState.RUNNING);
        Map<String, String> parameters = Map.of("job", "train", "scheduler-job", job);
        assertThat(refusal(slurm, Action.REQUEUE, parameters)).hasMessageContaining("submitted with --no-requeue");
        cluster().person("scancel", job);
        until(() -> job(job), found -> found.state() == JobState.DONE);
        assertThat(refusal(slurm, Action.REQUEUE, parameters)).hasMessageContaining("may not be requeued");
        assertThat(refusal(slurm, Action.REQUEUE, Map.of("scheduler-job", "987654")))
                .hasMessageContaining("Slurm knows no job 987654");
        assertThat(refusal(slurm, Action.DRAIN, Map.of("node", "node-9", "reason", OURS)))
                .hasMessageContaining("Slurm has no node 'node-9'");
    }

    @Test
    void aControllerThatIsGoneIsToldAndThenLeftAlone() throws Exception {
        assertThat(slurm.view().nodes()).hasSize(2);
        cluster().stopController();
        try {
            SchedulerException first = catchThrowableOfType(SchedulerException.class, slurm::view);
            assertThat(first.kind()).isEqualTo(SchedulerException.Kind.UNREACHABLE);
            assertThat(first).hasMessageContaining("Unable to contact slurm controller");
            SchedulerException refused = refusal(slurm, Action.DRAIN, Map.of("node", "node-1", "reason", OURS));
            assertThat(refused.kind()).isEqualTo(SchedulerException.Kind.UNREACHABLE);
            // Of the last four calls, two were not answered: that is half.
            assertThat(catchThrowableOfType(SchedulerException.class, slurm::view))
                    .hasMessageContaining("left alone");
        } finally {
            cluster().startController();
        }
        try (SlurmScheduler another = scheduler("root")) {
            SchedulerView view = until(another::view, found -> true);
            assertThat(view.nodes()).hasSize(2);
        }
    }

    @Test
    void whoDecidesTellsFactsAndRunsWhatIsGranted() throws Exception {
        KeyPair keys = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        AtomicBoolean deciding = new AtomicBoolean();
        try (EmbeddedKafka kafka = new EmbeddedKafka(folder.resolve("kafka"), 0)) {
            kafka.start();
            Map<String, Object> client = Map.of("bootstrap.servers", kafka.bootstrapServers());
            try (Admin admin = Admin.create(client)) {
                new Topics(admin, PREFIX).ensure();
            }
            SchedulerConfig config = new SchedulerConfig(
                    new SlurmConfig(true, null, cluster().configFile(), Duration.ofSeconds(15)),
                    Duration.ofSeconds(1),
                    Set.of(Action.DRAIN, Action.UNDRAIN),
                    Map.of("healer", keys.getPublic()));
            AtScheduler.Place here = new AtScheduler.Place(
                    client, PREFIX, "healer-a", deciding::get, Clock.systemUTC(), System::nanoTime);
            try (AtScheduler executor = AtScheduler.start(config, here, "root");
                    LogTail log = new LogTail(kafka.bootstrapServers(), PREFIX);
                    KafkaProducer<String, byte[]> decider =
                            new KafkaProducer<>(client, new StringSerializer(), new ByteArraySerializer())) {
                assertThat(executor).isNotNull();
                log.readFor(Duration.ofSeconds(1));
                assertThat(log.of(SchedulerFact.class)).as("of a standby").isEmpty();
                deciding.set(true);
                heard(log, ActuatorHello.class, hello -> hello.getNode().equals("@scheduler"));
                heard(log, SchedulerFact.class, fact -> isNode(fact, "node-1", "UP"));

                Map<String, String> parameters = Map.of("node", "node-1", "reason", OURS);
                send(
                        decider,
                        Offer.newBuilder()
                                .setCommandId("job-hang-1a2b3c4d-1")
                                .setNode("@scheduler")
                                .setAction("drain")
                                .putAllParameters(parameters)
                                .setTimeoutMs(60_000)
                                .setEpoch(1)
                                .build());
                Claim claim = heard(log, Claim.class, any -> true);
                assertThat(node("node-1").state()).as("before the grant").isEqualTo(NodeState.UP);
                send(
                        decider,
                        GrantSeal.sign(
                                Grant.newBuilder()
                                        .setCommandId(claim.getCommandId())
                                        .setNode("@scheduler")
                                        .setAction("drain")
                                        .setParametersHash(ParameterHash.of(parameters))
                                        .setNonce(claim.getNonce())
                                        .setEpoch(1)
                                        .build(),
                                keys.getPrivate(),
                                "healer"));
                ActionResult result = heard(log, ActionResult.class, any -> true);
                assertThat(result.getEnd()).as(result.getDetail()).isEqualTo(ActionEnd.ACTION_DONE);
                SchedulerFact drained = heard(log, SchedulerFact.class, fact -> isNode(fact, "node-1", "DRAINED"));
                assertThat(drained.getReason()).isEqualTo(OURS);
                assertThat(drained.getWho()).isEqualTo("root");

                cluster().stopController();
                try {
                    SchedulerFact silence = heard(
                            log,
                            SchedulerFact.class,
                            fact -> fact.getNodeState().equals("UNKNOWN"));
                    assertThat(silence.getNode() + silence.getJob()).isEmpty();
                    assertThat(silence.getReason()).contains("Unable to contact slurm controller");
                } finally {
                    cluster().startController();
                }
                until(() -> node("node-1").word(), word -> !word.startsWith("unknown"));
                slurm.run(Action.UNDRAIN, parameters);
            }
        }
    }

    private static boolean isNode(SchedulerFact fact, String node, String state) {
        return fact.getNode().equals(node) && fact.getNodeState().equals(state);
    }

    private static <M extends Message> M heard(LogTail log, Class<M> type, Predicate<M> holds) {
        assertThat(log.readUntil(() -> log.of(type).stream().anyMatch(holds), Duration.ofSeconds(30)))
                .as("a %s, among %s", type.getSimpleName(), log.of(type))
                .isTrue();
        return log.of(type).stream().filter(holds).findFirst().orElseThrow();
    }

    private static void send(KafkaProducer<String, byte[]> decider, Message message) throws Exception {
        decider.send(new ProducerRecord<>(
                        Topic.COMMANDS.name(PREFIX),
                        null,
                        null,
                        Action.AT_SCHEDULER,
                        message.toByteArray(),
                        Codec.headers(message, "id", "/healers/a", Instant.EPOCH)))
                .get(10, TimeUnit.SECONDS);
    }

    private static SlurmCluster cluster() {
        return Objects.requireNonNull(running, "the cluster has not started");
    }

    private static SlurmScheduler scheduler(String user) {
        return new SlurmScheduler(new SlurmConfig(true, null, cluster().configFile(), Duration.ofSeconds(15)), user);
    }

    private static SchedulerException refusal(SlurmScheduler slurm, Action action, Map<String, String> parameters) {
        return catchThrowableOfType(SchedulerException.class, () -> slurm.run(action, parameters));
    }

    private static Path output(String name) {
        return folder.resolve(name + ".out");
    }

    private Job job(String id) throws SchedulerException {
        return slurm.view().jobs().stream()
                .filter(job -> job.id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    private Node node(String name) throws SchedulerException {
        return slurm.view().nodes().stream()
                .filter(node -> node.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static <T> T until(Callable<T> asked, Predicate<T> holds) throws Exception {
        long deadline = System.nanoTime() + Duration.ofSeconds(45).toNanos();
        while (true) {
            T found = asked.call();
            if (holds.test(found)) {
                return found;
            }
            assertThat(System.nanoTime()).as("still %s", found).isLessThan(deadline);
            Thread.sleep(200);
        }
    }
}

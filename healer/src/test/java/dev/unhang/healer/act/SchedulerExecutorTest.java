package dev.unhang.healer.act;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.ActionResult;
import dev.unhang.events.v1.ActuatorHello;
import dev.unhang.events.v1.Claim;
import dev.unhang.events.v1.Grant;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.Withdraw;
import dev.unhang.healer.act.SchedulerException.Kind;
import dev.unhang.healer.actuator.protocol.Protocol;
import dev.unhang.healer.actuator.protocol.Self;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.command.GrantSeal;
import dev.unhang.healer.command.ParameterHash;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The executor with a scheduler that answers at will, a log in memory and a clock by hand. */
class SchedulerExecutorTest {

    private static final TopicPartition COMMANDS = AtScheduler.partition("t.");
    private static final Map<String, String> PARAMETERS = Map.of("node", "node-1", "reason", "unhang: x");

    private final KeyPair keys = keys();
    private final MockConsumer<String, byte[]> consumer = new MockConsumer<>("latest");
    private final List<Message> said = new CopyOnWriteArrayList<>();
    private final AtomicLong now = new AtomicLong(1_000_000_000_000L);
    private final Lock changes = new ReentrantLock();
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final FakeScheduler scheduler = new FakeScheduler();
    private final SchedulerExecutor executor = executor();
    private long offset = 100;

    @AfterEach
    void close() {
        executor.close();
    }

    @Test
    void itSaysHelloAtItsStartAndEachFiveMinutes() {
        assertThat(said).singleElement().satisfies(hello -> {
            assertThat(((ActuatorHello) hello).getNode()).isEqualTo("@scheduler");
            assertThat(((ActuatorHello) hello).getActionsList()).containsExactlyInAnyOrder("drain", "requeue");
        });
        now.addAndGet(TimeUnit.SECONDS.toNanos(299));
        executor.turn();
        assertThat(said).hasSize(1);
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        executor.turn();
        assertThat(said).hasSize(2);
    }

    @Test
    void whatWasOfferedBeforeItsStartIsNotRead() {
        assertThat(consumer.position(COMMANDS)).isEqualTo(100);
    }

    @Test
    void whatIsOfferedIsCheckedClaimedGrantedAndDone() throws Exception {
        read(offer("c-1", Action.DRAIN));
        Claim claim = heard(Claim.class);
        assertThat(claim.getCommandId()).isEqualTo("c-1");
        assertThat(scheduler.calls).containsExactly("check drain");
        read(grant(claim, Action.DRAIN));
        ActionResult result = heard(ActionResult.class);
        assertThat(result.getEnd()).isEqualTo(ActionEnd.ACTION_DONE);
        assertThat(result.getDetail()).isEqualTo("node-1 is drained");
        assertThat(scheduler.calls).containsExactly("check drain", "run drain");
    }

    @Test
    void whatDoesNotHoldIsRefusedWithItsReasonAndNotClaimed() throws Exception {
        scheduler.checkFails = SchedulerException.refused("node-1 is drained by ann");
        read(offer("c-1", Action.DRAIN));
        ActionResult result = heard(ActionResult.class);
        assertThat(result.getEnd()).isEqualTo(ActionEnd.ACTION_REFUSED);
        assertThat(result.getDetail()).contains("node-1 is drained by ann");
        assertThat(said).noneMatch(Claim.class::isInstance);
    }

    @Test
    void whatIsNotAllowedHereIsRefusedUnseen() throws Exception {
        read(offer("c-1", Action.UNDRAIN));
        assertThat(heard(ActionResult.class).getDetail()).contains("not-allowed");
        assertThat(scheduler.calls).isEmpty();
    }

    @Test
    void howItEndedIsTold() throws Exception {
        for (Map.Entry<Kind, ActionEnd> one : Map.of(
                        Kind.REFUSED, ActionEnd.ACTION_REFUSED,
                        Kind.FAILED, ActionEnd.ACTION_FAILED,
                        Kind.UNREACHABLE, ActionEnd.ACTION_FAILED,
                        Kind.UNKNOWN, ActionEnd.ACTION_TIMED_OUT)
                .entrySet()) {
            said.clear();
            scheduler.runFails = new SchedulerException(one.getKey(), "slurm says so");
            read(offer("c-" + one.getKey(), Action.DRAIN));
            read(grant(heard(Claim.class), Action.DRAIN));
            ActionResult result = heard(ActionResult.class);
            assertThat(result.getEnd()).isEqualTo(one.getValue());
            assertThat(result.getDetail()).isEqualTo("slurm says so");
        }
    }

    @Test
    void aGrantUnderAnotherKeyRunsNothing() throws Exception {
        read(offer("c-1", Action.DRAIN));
        Claim claim = heard(Claim.class);
        read(GrantSeal.sign(grantOf(claim, Action.DRAIN), keys().getPrivate(), "healer"));
        assertThat(heard(ActionResult.class).getDetail()).contains("bad-seal");
        assertThat(scheduler.calls).containsExactly("check drain");
    }

    @Test
    void aGrantThatComesTooLateRunsNothing() throws Exception {
        read(offer("c-1", Action.DRAIN));
        Claim claim = heard(Claim.class);
        now.addAndGet(TimeUnit.MILLISECONDS.toNanos(5_001));
        read(grant(claim, Action.DRAIN));
        assertThat(heard(ActionResult.class).getEnd()).isEqualTo(ActionEnd.ACTION_REFUSED);
        assertThat(scheduler.calls).containsExactly("check drain");
    }

    @Test
    void aGrantAfterFiveSecondsIsInTime() throws Exception {
        read(offer("c-1", Action.DRAIN));
        Claim claim = heard(Claim.class);
        now.addAndGet(TimeUnit.SECONDS.toNanos(5));
        read(grant(claim, Action.DRAIN));
        assertThat(heard(ActionResult.class).getEnd()).isEqualTo(ActionEnd.ACTION_DONE);
    }

    @Test
    void nothingIsChangedWhileFactsAreBeingTold() throws Exception {
        read(offer("c-1", Action.DRAIN));
        Claim claim = heard(Claim.class);
        changes.lock();
        try {
            read(grant(claim, Action.DRAIN));
            executor.turn();
            assertThat(scheduler.calls).containsExactly("check drain");
            now.addAndGet(TimeUnit.SECONDS.toNanos(6));
        } finally {
            changes.unlock();
        }
        ActionResult result = heard(ActionResult.class);
        assertThat(result.getEnd())
                .as("granted in time, and its turn came too late")
                .isEqualTo(ActionEnd.ACTION_REFUSED);
        assertThat(scheduler.calls).containsExactly("check drain");
    }

    @Test
    void whileTheStopFileIsThereNothingIsBegun() throws Exception {
        read(offer("c-1", Action.DRAIN));
        Claim claim = heard(Claim.class);
        stopped.set(true);
        read(grant(claim, Action.DRAIN));
        assertThat(heard(ActionResult.class).getDetail()).contains("local-stop");
        assertThat(scheduler.calls).containsExactly("check drain");
    }

    @Test
    void anotherNodesCommandsInThePartitionAreNotOurs() {
        add("node-1", offer("c-1", Action.DRAIN));
        executor.turn();
        executor.turn();
        assertThat(scheduler.calls).isEmpty();
        assertThat(said).hasSize(1);
    }

    @Test
    void whileOneIsAtWorkAnotherWaitsAndThenHasItsTurn() throws Exception {
        scheduler.holdRun = new CountDownLatch(1);
        read(offer("c-1", Action.DRAIN));
        read(grant(heard(Claim.class), Action.DRAIN));
        said.clear();
        read(offer("c-2", Action.REQUEUE));
        assertThat(said).as("neither claimed nor refused").isEmpty();
        scheduler.holdRun.countDown();
        assertThat(heard(ActionResult.class).getCommandId()).isEqualTo("c-1");
        assertThat(heard(Claim.class).getCommandId()).isEqualTo("c-2");
    }

    @Test
    void whatIsWithdrawnWhileItWaitsHasNoTurn() throws Exception {
        scheduler.holdRun = new CountDownLatch(1);
        read(offer("c-1", Action.DRAIN));
        read(grant(heard(Claim.class), Action.DRAIN));
        read(offer("c-2", Action.REQUEUE));
        read(Withdraw.newBuilder().setCommandId("c-2").build());
        said.clear();
        scheduler.holdRun.countDown();
        heard(ActionResult.class);
        executor.turn();
        executor.turn();
        assertThat(said).noneMatch(Claim.class::isInstance);
        assertThat(scheduler.calls).doesNotContain("check requeue");
    }

    @Test
    void whatWaitedForTooLongHasNoTurnEither() {
        Waiting waiting = new Waiting();
        waiting.add(offer("c-1", Action.DRAIN), 0);
        assertThat(waiting.next(Waiting.LONGEST_NS + 1)).isEmpty();
        waiting.add(offer("c-2", Action.DRAIN), 0);
        assertThat(waiting.next(Waiting.LONGEST_NS)).isPresent();
    }

    @Test
    void noMoreThanSixtyFourWait() {
        Waiting waiting = new Waiting();
        for (int i = 0; i < Waiting.MOST; i++) {
            assertThat(waiting.add(offer("c-" + i, Action.DRAIN), 0)).isTrue();
        }
        assertThat(waiting.add(offer("one-more", Action.DRAIN), 0)).isFalse();
        assertThat(waiting.next(0)).map(Offer::getCommandId).contains("c-0");
    }

    @Test
    void aFaultOfTheSchedulerIsToldAsUnknown() throws Exception {
        scheduler.fault = new IllegalStateException("a fault of ours");
        read(offer("c-1", Action.DRAIN));
        read(grant(heard(Claim.class), Action.DRAIN));
        ActionResult result = heard(ActionResult.class);
        assertThat(result.getEnd()).isEqualTo(ActionEnd.ACTION_TIMED_OUT);
        assertThat(result.getDetail()).contains("a fault of ours");
    }

    private SchedulerExecutor executor() {
        consumer.updateEndOffsets(Map.of(COMMANDS, 100L));
        Protocol protocol = new Protocol(
                new Self("@scheduler", ByteString.copyFrom(new byte[16]), "start-1", "test"),
                EnumSet.of(Action.DRAIN, Action.REQUEUE),
                Map.of("healer", keys.getPublic()),
                new CountedNonces());
        return new SchedulerExecutor(
                consumer, COMMANDS, protocol, scheduler, this::say, changes, stopped::get, now::get);
    }

    private boolean say(Message message) {
        said.add(message);
        return true;
    }

    private void read(Message message) {
        add("@scheduler", message);
        executor.turn();
    }

    private void add(String key, Message message) {
        consumer.addRecord(new ConsumerRecord<>(
                COMMANDS.topic(),
                COMMANDS.partition(),
                offset++,
                0,
                TimestampType.LOG_APPEND_TIME,
                0,
                0,
                key,
                message.toByteArray(),
                Codec.headers(message, "id", "/healers/a", Instant.EPOCH),
                Optional.empty()));
    }

    /** Turns until the executor said such a thing, and takes it away. */
    private <T extends Message> T heard(Class<T> type) throws InterruptedException {
        for (int i = 0; i < 2_000; i++) {
            for (Message message : said) {
                if (type.isInstance(message)) {
                    said.remove(message);
                    return type.cast(message);
                }
            }
            executor.turn();
            // The worker has a thread of its own.
            new CountDownLatch(1).await(5, TimeUnit.MILLISECONDS);
        }
        throw new AssertionError("never said a " + type.getSimpleName() + ", only " + said);
    }

    private static Offer offer(String command, Action action) {
        return Offer.newBuilder()
                .setCommandId(command)
                .setNode("@scheduler")
                .setAction(action.label())
                .putAllParameters(action == Action.REQUEUE ? Map.of("scheduler-job", "7") : PARAMETERS)
                .setTimeoutMs(60_000)
                .setEpoch(3)
                .build();
    }

    private Message grant(Claim claim, Action action) {
        return GrantSeal.sign(grantOf(claim, action), keys.getPrivate(), "healer");
    }

    private static Grant grantOf(Claim claim, Action action) {
        return Grant.newBuilder()
                .setCommandId(claim.getCommandId())
                .setNode("@scheduler")
                .setAction(action.label())
                .setParametersHash(ParameterHash.of(PARAMETERS))
                .setNonce(claim.getNonce())
                .setEpoch(3)
                .build();
    }

    private static KeyPair keys() {
        try {
            return KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    private static final class CountedNonces implements Protocol.Nonces {
        private int count;

        @Override
        public ByteString next() {
            count++;
            return ByteString.copyFrom(new byte[] {(byte) count, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
        }
    }

    private static final class FakeScheduler implements Scheduler {
        final List<String> calls = new CopyOnWriteArrayList<>(new ArrayList<>());
        volatile @Nullable SchedulerException checkFails;
        volatile @Nullable SchedulerException runFails;
        volatile @Nullable RuntimeException fault;
        volatile CountDownLatch holdRun = new CountDownLatch(0);

        @Override
        public String name() {
            return "fake";
        }

        @Override
        public SchedulerView view() {
            return new SchedulerView(List.of(), List.of());
        }

        @Override
        public void check(Action action, Map<String, String> parameters) throws SchedulerException {
            calls.add("check " + action.label());
            SchedulerException fails = checkFails;
            if (fails != null) {
                throw fails;
            }
        }

        @Override
        public String run(Action action, Map<String, String> parameters) throws SchedulerException {
            calls.add("run " + action.label());
            try {
                holdRun.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            RuntimeException ours = fault;
            if (ours != null) {
                throw ours;
            }
            SchedulerException fails = runFails;
            if (fails != null) {
                throw fails;
            }
            return "node-1 is drained";
        }
    }
}

package dev.unhang.collector.sample;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.collector.source.Source.Reading;
import dev.unhang.events.v1.KernelEvent;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.ReadStatus;
import dev.unhang.events.v1.SourceFault;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SourceWorkerTest {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final NodeSample PART =
            NodeSample.newBuilder().addNics(NicReading.newBuilder().setId("a")).build();
    private static final SourceFault PENDING = SourceFault.newBuilder()
            .setSource("net")
            .setStatus(ReadStatus.READ_STATUS_PENDING)
            .build();

    private final AtomicLong now = new AtomicLong(100_000_000_000L);
    private final List<NodeEvent> events = new ArrayList<>();
    private final ScriptedSource source = new ScriptedSource("net", () -> Reading.of(PART));

    @Test
    void aReadingIsUsedOnceSinceCountersServedTwiceLookLikeSilence() {
        SourceWorker worker = worker(SECOND);
        worker.turn();

        assertThat(worker.take(now.get()).part()).isEqualTo(PART);
        assertThat(worker.take(now.get()).part()).isNull();
        worker.turn();
        assertThat(worker.take(now.get()).part()).isEqualTo(PART);
    }

    @Test
    void aReadingThatIsOlderThanTwoAndAHalfPacesIsNotServed() {
        SourceWorker young = worker(SECOND);
        young.turn();
        assertThat(young.take(now.get() + 2_500_000_000L).part()).isEqualTo(PART);

        SourceWorker old = worker(SECOND);
        old.turn();
        assertThat(old.take(now.get() + 2_500_000_001L).part()).isNull();
    }

    @Test
    void aSlowSourceIsRepeatedUntilItIsTwoAndAHalfPacesOld() {
        SourceWorker worker = worker(Duration.ofSeconds(4));
        worker.turn();

        assertThat(worker.take(now.get()).part()).isEqualTo(PART);
        assertThat(worker.take(now.get() + 9_999_000_000L).part()).isEqualTo(PART);
        assertThat(worker.take(now.get() + 10_001_000_000L).part()).isNull();
    }

    @Test
    void aSlowSourceIsDueAtItsPaceAndAnUsualOneAtEachBeat() {
        SourceWorker slow = worker(Duration.ofSeconds(4));
        assertThat(slow.due(now.get())).isTrue();
        slow.turn();
        assertThat(slow.due(now.get() + 3_000_000_000L)).isFalse();
        assertThat(slow.due(now.get() + 3_990_000_000L)).isTrue();

        SourceWorker usual = worker(SECOND);
        usual.turn();
        assertThat(usual.due(now.get() + 1_000_000L)).isTrue();
    }

    @Test
    void aCallThatDoesNotComeBackIsStuckAndIsNeverMadeASecondTime() throws InterruptedException {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        source.script = () -> {
            called.countDown();
            return ScriptedSource.waitFor(() -> {
                release.await();
                return Reading.of(PART);
            });
        };
        SourceWorker worker = worker(SECOND);
        worker.start();
        Round round = new Round(1);
        worker.ask(round);
        called.await();

        assertThat(worker.take(now.get()).fault()).isEqualTo(PENDING);
        now.addAndGet(800_000_000L);
        assertThat(worker.take(now.get()).fault()).isEqualTo(PENDING);
        assertThat(worker.health().status()).isEqualTo(ReadStatus.READ_STATUS_OK);
        now.addAndGet(1_000_000L);
        SourceFault fault = worker.take(now.get()).fault();
        assertThat(fault)
                .isEqualTo(SourceFault.newBuilder()
                        .setSource("net")
                        .setStatus(ReadStatus.READ_STATUS_STUCK)
                        .setSinceMs(801)
                        .build());
        assertThat(worker.due(now.get() + 30_000_000_000L)).isFalse();
        assertThat(source.calls).hasValue(1);
        assertThat(worker.health().status()).isEqualTo(ReadStatus.READ_STATUS_STUCK);

        release.countDown();
        assertThat(round.await(TimeUnit.SECONDS.toNanos(5))).isTrue();
        assertThat(worker.take(now.get()).fault()).isNull();
        assertThat(worker.due(now.get())).isTrue();
        worker.close();
        assertThat(source.closed).hasValue(1);
    }

    @Test
    void aSourceThatIsNotBackInTimeForItsSampleSaysSoSinceNothingReadIsNotNothingThere() {
        SourceWorker worker = worker(SECOND);
        assertThat(worker.take(now.get())).isEqualTo(new SourceWorker.Contribution(null, PENDING));

        worker.turn();
        assertThat(worker.take(now.get())).isEqualTo(new SourceWorker.Contribution(PART, null));
        assertThat(worker.take(now.get())).isEqualTo(new SourceWorker.Contribution(null, PENDING));
    }

    @Test
    void anExceptionIsAFaultWithItsKindAndEndsWithTheNextReading() {
        SourceWorker worker = worker(SECOND);
        assertThat(statusOf(worker, new IOException("disk is gone"))).isEqualTo(ReadStatus.READ_STATUS_FAILED);
        assertThat(statusOf(worker, new NoSuchFileException("/dev/kmsg"))).isEqualTo(ReadStatus.READ_STATUS_ABSENT);
        assertThat(statusOf(worker, new AccessDeniedException("/dev/kmsg")))
                .isEqualTo(ReadStatus.READ_STATUS_NO_PERMISSION);
        SourceFault last = requireNonNull(worker.take(now.get()).fault());
        assertThat(last.getDetail()).isEqualTo("AccessDeniedException: /dev/kmsg");
        assertThat(worker.health().failures()).isEqualTo(3);

        source.script = () -> Reading.of(PART);
        worker.turn();

        assertThat(worker.take(now.get()).fault()).isNull();
        assertThat(worker.health().failures()).isZero();
    }

    @Test
    void aMissingLibraryIsAnAbsentSourceAndNotTheEndOfTheWorker() {
        source.script = () -> {
            throw new UnsatisfiedLinkError("libnvidia-ml.so.1");
        };
        SourceWorker worker = worker(SECOND);

        worker.turn();

        SourceFault fault = requireNonNull(worker.take(now.get()).fault());
        assertThat(fault.getStatus()).isEqualTo(ReadStatus.READ_STATUS_ABSENT);
    }

    @Test
    void anEmptyAnswerNeverServesTheOneBefore() {
        SourceWorker worker = worker(SECOND);
        worker.turn();
        worker.take(now.get());

        source.script = () -> {
            throw new IOException("not now");
        };
        worker.turn();

        assertThat(worker.take(now.get()).part()).isNull();
    }

    @Test
    void eventsArePassedOnAsTheyAreReadAndTheLastInventoryIsKept() {
        NodeEvent xid = NodeEvent.newBuilder()
                .setKernel(KernelEvent.newBuilder().setCode(79))
                .build();
        NodeInventory told = NodeInventory.newBuilder().setDriverVersion("580").build();
        SourceWorker worker = worker(SECOND);
        source.script = () -> new Reading(PART, told, List.of(xid));
        worker.turn();
        source.script = () -> Reading.of(PART);
        worker.turn();

        assertThat(events).containsExactly(xid);
        assertThat(worker.inventory()).isEqualTo(told);
    }

    @Test
    void aSourceThatIsFasterThanTheSamplesIsReadInBetween() throws InterruptedException {
        CountDownLatch thrice = new CountDownLatch(3);
        source.script = () -> {
            thrice.countDown();
            return Reading.of(PART);
        };
        SourceWorker worker = worker(Duration.ofMillis(5));
        worker.start();

        assertThat(thrice.await(5, TimeUnit.SECONDS)).isTrue();
        worker.close();
    }

    private ReadStatus statusOf(SourceWorker worker, IOException thrown) {
        source.script = () -> {
            throw thrown;
        };
        worker.turn();
        SourceFault fault = worker.take(now.get()).fault();
        return fault == null ? ReadStatus.READ_STATUS_OK : fault.getStatus();
    }

    private SourceWorker worker(Duration pace) {
        return new SourceWorker(source, pace, SECOND, now::get, events::add);
    }
}

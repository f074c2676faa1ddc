package dev.unhang.collector.sample;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.unhang.collector.source.Source.Reading;
import dev.unhang.events.v1.KernelEvent;
import dev.unhang.events.v1.Loss;
import dev.unhang.events.v1.NicInventory;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.ReadStatus;
import dev.unhang.events.v1.SourceFault;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SamplerTest {

    private static final Duration BEAT = Duration.ofMillis(500);
    private static final NodeIdentity IDENTITY =
            new NodeIdentity("node-1", ByteString.copyFromUtf8("boot"), 42, ByteString.EMPTY, "1");

    private final AtomicLong now = new AtomicLong(7_000_000_000L);
    private final List<Loss> losses = new ArrayList<>();
    private final Kept kept = new Kept();
    private final List<SourceWorker> workers = new ArrayList<>();
    private final Sampler sampler = new Sampler(
            IDENTITY,
            BEAT,
            new InventoryBook(NodeInventory.newBuilder().setHostname("node-1").build()),
            () -> List.copyOf(losses),
            kept,
            Clock.fixed(Instant.ofEpochSecond(1_000_000, 5), ZoneOffset.UTC),
            now::get);

    @AfterEach
    void end() {
        workers.forEach(SourceWorker::close);
    }

    @Test
    void aSampleBearsWhoSpeaksAndTheTimesOfTheAsking() throws InterruptedException {
        losses.add(Loss.newBuilder().setKind("sample").setCount(3).build());
        add(new ScriptedSource("net", () -> {
            now.addAndGet(20_000_000);
            return Reading.of(nic("a"));
        }));

        sampler.beat(now.get() - 2_000_000);
        sampler.beat(now.get());

        NodeSample first = kept.samples.get(0);
        assertThat(first)
                .isEqualTo(nic("a").toBuilder()
                        .setBootId(IDENTITY.bootId())
                        .setCollectorStart(42)
                        .setSeq(1)
                        .setMonoNs(7_000_000_000L)
                        .setWallNs(1_000_000_000_000_005L)
                        .setLateMs(2)
                        .setIntervalMs(500)
                        .addAllLost(losses)
                        .build());
        assertThat(kept.samples.get(1).getSeq()).isEqualTo(2);
        assertThat(kept.samples.get(1).getLateMs()).isZero();
    }

    @Test
    void aSourceThatHangsIsToldAndTheOthersGoOn() throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        ScriptedSource hung = new ScriptedSource(
                "nvml",
                () -> ScriptedSource.waitFor(() -> {
                    never.await();
                    return Reading.of(NodeSample.getDefaultInstance());
                }));
        add(hung);
        add(new ScriptedSource("net", () -> Reading.of(nic("a"))));

        sampler.beat(now.get());
        now.addAndGet(30_000_000_000L);
        sampler.beat(now.get());

        NodeSample second = kept.samples.get(1);
        assertThat(second.getNicsList()).hasSize(1);
        assertThat(second.getSourcesList())
                .containsExactly(SourceFault.newBuilder()
                        .setSource("nvml")
                        .setStatus(ReadStatus.READ_STATUS_STUCK)
                        .setSinceMs(30_000)
                        .build());
        assertThat(hung.calls).hasValue(1);
    }

    @Test
    void eventsAreStampedAndCountedApartFromSamples() throws InterruptedException {
        NodeEvent xid = NodeEvent.newBuilder()
                .setKernel(KernelEvent.newBuilder().setCode(79))
                .build();
        sampler.beat(now.get());
        sampler.event(xid);
        sampler.event(xid);

        assertThat(kept.events.get(0))
                .isEqualTo(xid.toBuilder()
                        .setBootId(IDENTITY.bootId())
                        .setCollectorStart(42)
                        .setSeq(1)
                        .setMonoNs(now.get())
                        .setWallNs(1_000_000_000_000_005L)
                        .build());
        assertThat(kept.events.get(1).getSeq()).isEqualTo(2);
    }

    @Test
    void theInventoryIsSentAtTheStartOnChangeAndEachMinute() throws InterruptedException {
        ScriptedSource source = new ScriptedSource("net", () -> told("a"));
        add(source);
        sampler.beat(now.get());
        assertThat(kept.inventories).hasSize(1);
        assertThat(kept.inventories.get(0).getMonoNs()).isEqualTo(7_000_000_000L);

        now.addAndGet(59_000_000_000L);
        sampler.beat(now.get());
        assertThat(kept.inventories).hasSize(1);

        source.script = () -> told("b");
        sampler.beat(now.get());
        assertThat(kept.inventories).hasSize(2);
        assertThat(kept.inventories.get(1).getNics(0).getName()).isEqualTo("b");

        now.addAndGet(60_000_000_000L);
        sampler.beat(now.get());
        assertThat(kept.inventories).hasSize(3);
    }

    @Test
    void theScheduleHoldsItsBeatAndLeavesOutWhatItMissedWhole() {
        long second = 1_000_000_000L;
        assertThat(Sampler.next(10 * second, 10 * second, second)).isEqualTo(11 * second);
        assertThat(Sampler.next(10 * second, 11 * second - 1, second)).isEqualTo(11 * second);
        assertThat(Sampler.next(10 * second, 11 * second, second)).isEqualTo(12 * second);
        assertThat(Sampler.next(10 * second, 14 * second + 5, second)).isEqualTo(15 * second);
    }

    private void add(ScriptedSource source) {
        SourceWorker worker = new SourceWorker(source, BEAT, BEAT, now::get, sampler::event);
        workers.add(worker);
        sampler.add(worker);
        worker.start();
    }

    private static NodeSample nic(String id) {
        return NodeSample.newBuilder()
                .addNics(NicReading.newBuilder().setId(id))
                .build();
    }

    private static Reading told(String name) {
        return new Reading(
                NodeSample.getDefaultInstance(),
                NodeInventory.newBuilder()
                        .addNics(NicInventory.newBuilder().setId("x").setName(name))
                        .build(),
                List.of());
    }

    private static final class Kept implements Sampler.Sink {
        private final List<NodeSample> samples = new ArrayList<>();
        private final List<NodeEvent> events = new ArrayList<>();
        private final List<NodeInventory> inventories = new ArrayList<>();

        @Override
        public void sample(NodeSample whole, Instant wall, long monoNs) {
            samples.add(whole);
        }

        @Override
        public void event(NodeEvent event, Instant wall, long monoNs) {
            events.add(event);
        }

        @Override
        public void inventory(NodeInventory inventory, Instant wall, long monoNs) {
            inventories.add(inventory);
        }
    }
}

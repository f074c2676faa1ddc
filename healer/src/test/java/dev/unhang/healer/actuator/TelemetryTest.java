package dev.unhang.healer.actuator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.ActionResult;
import dev.unhang.events.v1.Claim;
import dev.unhang.events.v1.ProbeResult;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TelemetryTest {

    private static final long S = 1_000_000_000L;

    private final AtomicLong now = new AtomicLong();
    private final MockProducer<String, byte[]> producer =
            new MockProducer<>(false, null, new StringSerializer(), new ByteArraySerializer());
    private final Telemetry telemetry = new Telemetry(
            producer, "unhang.telemetry", "n1", "n1/b/s", Clock.fixed(Instant.EPOCH, ZoneOffset.UTC), now::get);

    @AfterEach
    void close() {
        boolean more = true;
        while (more) {
            more = producer.completeNext();
        }
        telemetry.close();
    }

    private static ActionResult result(String command, ActionEnd end) {
        return ActionResult.newBuilder().setCommandId(command).setEnd(end).build();
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        for (int i = 0; i < 1000 && !condition.getAsBoolean(); i++) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
        assertThat(condition.getAsBoolean()).isTrue();
    }

    @Test
    void aResultIsSentAgainUntilTheLogHasItAndHasTheNodeAsItsKey() throws InterruptedException {
        telemetry.start();
        telemetry.say(result("c-1", ActionEnd.ACTION_DONE));
        await(() -> producer.history().size() == 1);
        producer.errorNext(new TimeoutException("the broker is away"));
        assertThat(telemetry.waiting()).isEqualTo(1);
        now.addAndGet(S);
        await(() -> producer.history().size() == 2);
        producer.completeNext();
        await(() -> telemetry.waiting() == 0);
        assertThat(producer.history()).allSatisfy(record -> {
            assertThat(record.key()).isEqualTo("n1");
            assertThat(record.topic()).isEqualTo("unhang.telemetry");
        });
    }

    @Test
    void ofACommandOnlyTheLastResultIsKept() {
        telemetry.say(result("c-1", ActionEnd.ACTION_TIMED_OUT));
        telemetry.say(result("c-2", ActionEnd.ACTION_DONE));
        telemetry.say(result("c-1", ActionEnd.ACTION_FAILED));
        assertThat(telemetry.waiting()).isEqualTo(2);
    }

    @Test
    void anEarlierResultThatFailsIsNotSentAfterTheLaterOne() throws InterruptedException {
        telemetry.start();
        telemetry.say(result("c-1", ActionEnd.ACTION_TIMED_OUT));
        await(() -> producer.history().size() == 1);
        telemetry.say(result("c-1", ActionEnd.ACTION_DONE));
        await(() -> producer.history().size() == 2);
        producer.errorNext(new TimeoutException("the broker is away"));
        producer.completeNext();
        await(() -> telemetry.waiting() == 0);
        now.addAndGet(10 * S);
        telemetry.say(result("c-2", ActionEnd.ACTION_DONE));
        await(() -> producer.history().size() == 3);
    }

    @Test
    void aClaimThatIsOlderThanItsGrantCouldBeIsNotSentAnyMore() throws InterruptedException {
        telemetry.say(Claim.newBuilder().setCommandId("c-1").build());
        telemetry.say(Claim.newBuilder().setCommandId("c-2").build());
        now.set(5 * S + 1);
        telemetry.say(Claim.newBuilder().setCommandId("c-3").build());
        telemetry.start();
        await(() -> producer.history().size() == 1);
        assertThat(telemetry.waiting()).isEqualTo(1);
    }

    @Test
    void whenTooMuchWaitsALookGoesBeforeAResult() {
        for (int i = 0; i < 500; i++) {
            telemetry.say(result("c-" + i, ActionEnd.ACTION_DONE));
            telemetry.say(ProbeResult.newBuilder().setProbeId("p-" + i).build());
        }
        for (int i = 500; i < 1000; i++) {
            telemetry.say(result("c-" + i, ActionEnd.ACTION_DONE));
        }
        assertThat(telemetry.waiting()).isEqualTo(1024);
        telemetry.start();
        while (telemetry.waiting() > 0) {
            producer.completeNext();
        }
        assertThat(producer.history().stream()
                        .filter(record -> new String(
                                        record.headers().lastHeader("ce_type").value(),
                                        java.nio.charset.StandardCharsets.UTF_8)
                                .endsWith("ActionResult"))
                        .count())
                .isEqualTo(1000);
    }
}

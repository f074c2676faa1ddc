package dev.unhang.collector.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.NodeSample;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LocalCommandsTest {

    private final FakeServed served = new FakeServed();
    private final List<Duration> leases = new ArrayList<>();
    private final LocalCommands commands = new LocalCommands(served, new GpuLease() {
        @Override
        public Outcome release(Duration lease) {
            leases.add(lease);
            return new Outcome(false, "NVML is still open");
        }

        @Override
        public Outcome giveBack() {
            return new Outcome(true, "the GPUs are read again");
        }
    });

    @Test
    void aReleaseTellsHowItEnded() {
        JsonObject answer = commands.answer("release-gpus 300\n");

        assertThat(leases).containsExactly(Duration.ofMinutes(5));
        assertThat(answer.getBoolean("ok")).isFalse();
        assertThat(answer.getString("detail")).isEqualTo("NVML is still open");
        assertThat(commands.answer("give-back-gpus").getBoolean("ok")).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "release-gpus",
                "release-gpus 0",
                "release-gpus 3601",
                "release-gpus -5",
                "release-gpus 1h",
                "release-gpus 99999999999999999999",
                "release-gpus 5 6",
                "give-back-gpus now",
                "status x",
                "",
                "dance"
            })
    void whatIsNoCommandIsRefusedWithASentence(String line) {
        JsonObject answer = commands.answer(line);

        assertThat(answer.getBoolean("ok")).isFalse();
        assertThat(answer.getString("detail")).contains("release-gpus");
        assertThat(leases).isEmpty();
    }

    @Test
    void theLongestLeaseIsAnHour() {
        commands.answer("release-gpus 3600");
        assertThat(leases).containsExactly(Duration.ofHours(1));
    }

    @Test
    void theStatusTellsOfSourcesBacklogAndLosses() {
        served.sample = NodeSample.newBuilder().setSeq(9).build();
        served.losses.count("event");

        JsonObject status = commands.answer("status");

        assertThat(status.getJsonArray("sources").getJsonObject(0).getString("status"))
                .isEqualTo("stuck");
        assertThat(status.getJsonObject("backlog").getInteger("records")).isEqualTo(3);
        assertThat(status.getJsonObject("lost").getLong("event")).isEqualTo(1);
    }

    @Test
    void aCollectorIsAliveWhileItsLastSampleIsAtMostThreeIntervalsOld() {
        assertThat(commands.alive()).isFalse();
        served.sample = NodeSample.newBuilder().setSeq(1).build();
        served.ageMs = 3000;
        assertThat(commands.alive()).isTrue();
        served.ageMs = 3001;
        assertThat(commands.alive()).isFalse();
    }
}

package dev.unhang.healer.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.Phase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TraceTest {

    private static final String HEADER = "{\"trace\":\"x\",\"format\":1,\"hz\":1}\n";
    private static final String RECORD = "{\"t\":%s,\"node\":\"node-0\",\"gpus\":[{\"uuid\":"
            + "\"GPU-00000000-0000-4000-8000-000000000001\",\"util\":98,\"energy_mj\":5,\"pids\":[7]}],"
            + "\"nics\":[{\"name\":\"eth1\",\"operstate\":\"lowerlayerdown\",\"rx_bytes\":10,\"tx_bytes\":null}],"
            + "\"ranks\":[{\"job\":\"j\",\"epoch\":2,\"rank\":1,\"world\":2,\"pid\":7,"
            + "\"gpu\":\"GPU-00000000-0000-4000-8000-000000000001\",\"state\":\"R\",\"cpu_ticks\":3,"
            + "\"io_write_bytes\":null,\"step\":4,\"phase\":\"TRAIN\",\"progress_t\":1.5}]}\n";

    @TempDir
    Path folder;

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("x.jsonl"), text);
    }

    private static List<Trace.Item> all(Path file, boolean heartbeats) throws IOException {
        List<Trace.Item> items = new ArrayList<>();
        try (Trace trace = Trace.open(file, heartbeats)) {
            for (Trace.Item item = trace.next(); item != null; item = trace.next()) {
                items.add(item);
            }
        }
        return items;
    }

    private static List<NodeSample> samples(List<Trace.Item> items) {
        return items.stream()
                .filter(Trace.Item.Sample.class::isInstance)
                .map(item -> ((Trace.Item.Sample) item).sample())
                .toList();
    }

    @Test
    void aRecordBecomesTheSampleOfACollector() throws IOException {
        NodeSample sample =
                samples(all(file(HEADER + RECORD.formatted("2")), true)).get(0);

        assertThat(sample.getSeq()).isPositive();
        assertThat(sample.getBootId().size()).isEqualTo(16);
        assertThat(sample.getGpus(0).getUuid().size()).isEqualTo(16);
        assertThat(sample.getGpus(0).getUtil()).isEqualTo(98);
        assertThat(sample.getGpus(0).hasMemUtil()).isFalse();
        assertThat(sample.getNics(0).getState()).isEqualTo(OperState.OPER_STATE_LOWER_LAYER_DOWN);
        assertThat(sample.getNics(0).hasTxBytes()).isFalse();
        assertThat(sample.getRanks(0).getProgressAgeMs()).isEqualTo(500);
        assertThat(sample.getRanks(0).getPhase()).isEqualTo(Phase.PHASE_TRAIN);
        assertThat(sample.getRanks(0).getGpusList()).containsExactly(0);
        assertThat(sample.getRanks(0).hasIoWriteKib()).isFalse();
        assertThat(sample.getJobs(0).getHeartbeat()).isEqualTo("j");
        assertThat(sample.getJobs(0).getEpoch()).isEqualTo(2);
    }

    @Test
    void recordsAreNumberedAsTheyWereTakenAndNotAsTheyArrived() throws IOException {
        List<NodeSample> samples = samples(all(
                file(HEADER
                        + RECORD.formatted("2")
                        + RECORD.formatted("4")
                        + RECORD.formatted("4")
                        + RECORD.formatted("3")),
                true));

        assertThat(samples.get(1).getSeq()).isGreaterThan(samples.get(0).getSeq());
        assertThat(samples.get(2).getSeq()).isEqualTo(samples.get(1).getSeq());
        assertThat(samples.get(3).getSeq())
                .isBetween(samples.get(0).getSeq() + 1, samples.get(1).getSeq() - 1);
    }

    @Test
    void withoutHeartbeatsTheLoopHasReportedNothing() throws IOException {
        NodeSample sample =
                samples(all(file(HEADER + RECORD.formatted("2")), false)).get(0);

        assertThat(sample.getRanks(0).hasStep()).isFalse();
        assertThat(sample.getRanks(0).hasProgressAgeMs()).isFalse();
        assertThat(sample.getRanks(0).getPhase()).isEqualTo(Phase.PHASE_NONE);
        assertThat(sample.getJobs(0).getHeartbeat()).isEmpty();
        assertThat(sample.getJobs(0).getTorchelastic()).isEqualTo("j");
    }

    @Test
    void aPulseFollowsAllRecordsOfEachWholeSecond() throws IOException {
        String lines = RECORD.formatted("-1.5") + RECORD.formatted("0") + RECORD.formatted("2.4");
        List<Long> pulses = new ArrayList<>();
        List<Long> stamps = new ArrayList<>();
        for (Trace.Item item : all(file(HEADER + lines), true)) {
            stamps.add(item.stampMs() - Trace.EPOCH_MS);
            if (item instanceof Trace.Item.Beat) {
                pulses.add(item.stampMs() - Trace.EPOCH_MS);
            }
        }

        assertThat(pulses).containsExactly(-1000L, 0L, 1000L, 2000L, 3000L);
        assertThat(stamps).containsExactly(-1500L, -1000L, 0L, 0L, 1000L, 2000L, 2400L, 3000L);
    }

    @Test
    void aRecordingAtTenHertzIsThinnedToASampleASecond() throws IOException {
        StringBuilder lines = new StringBuilder(HEADER.replace("\"hz\":1", "\"hz\":10"));
        for (int i = 0; i < 31; i++) {
            lines.append(RECORD.formatted(String.valueOf(i / 10.0)));
        }
        List<NodeSample> samples = samples(all(file(lines.toString()), true));

        assertThat(samples).hasSize(4);
        assertThat(samples.get(3).getMonoNs() - samples.get(0).getMonoNs()).isEqualTo(3_000_000_000L);
    }

    @Test
    void anErrorSaysWhichFileAndWhichLine() throws IOException {
        String good = RECORD.formatted("1");
        assertError(HEADER + good + "{\"t\":2,\"node\":", "x.jsonl, line 3: ");
        assertError(HEADER + good + "{\"node\":\"n\"}\n", "x.jsonl, line 3: the record has no time `t`");
        assertError(HEADER + "{\"t\":1}\n", "x.jsonl, line 2: the record has no `node`");
        assertError(HEADER + "7\n", "x.jsonl, line 2: a record must be a JSON object");
        assertError("{\"trace\":\"x\",\"format\":9}\n", "x.jsonl, line 1: format 9 is not known");
        assertError("{\"format\":1}\n", "x.jsonl, line 1: the header has no field `trace`");
        assertError("", "a trace begins with its header");
        assertError(HEADER + good.replace("TRAIN", "DREAM"), "phase `DREAM` is not known");
        assertError(HEADER + good.replace("\"pid\":7", "\"pid\":\"seven\""), "line 2: ");
    }

    @Test
    void aFileThatCannotBeOpenedIsNamedAndNoLine() {
        Path none = folder.resolve("none.gz");
        assertThatThrownBy(() -> all(none, true)).hasMessage(none + ": there is no such file");
        assertThatThrownBy(() -> all(folder, true)).hasMessageStartingWith(folder + ": it is a folder");
    }

    @Test
    void aFileThatIsCutOffIsNamed() throws IOException {
        byte[] whole = Files.readAllBytes(Path.of("../lab/traces/rank-stopped.jsonl.gz"));
        Path cut = folder.resolve("cut.jsonl.gz");
        Files.write(cut, java.util.Arrays.copyOf(whole, whole.length / 2));

        assertThatThrownBy(() -> all(cut, true))
                .isInstanceOf(TraceException.class)
                .hasMessageContaining("cut.jsonl.gz");
    }

    private void assertError(String text, String message) throws IOException {
        Path file = file(text);
        assertThatThrownBy(() -> all(file, true))
                .isInstanceOf(TraceException.class)
                .hasMessageContaining(message);
    }
}

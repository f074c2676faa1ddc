package dev.unhang.lab.compose;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.Phase;
import dev.unhang.events.v1.RankReading;
import dev.unhang.healer.replay.Trace;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What a seed composes is a trace that the reader reads, and shows what its labels say. */
class ComposerTest {

    private static final Path HOME = Path.of("..");
    private static final Trouble NONE = new Trouble(0, 0, 0, List.of(), new Trouble.Gap(-1, 0, 0), List.of());

    private static Segments segments;

    /** A sample and when it was taken, seconds of the trace. */
    private record Taken(String node, double seconds, NodeSample sample) {}

    @BeforeAll
    static void readTheRecordings() throws IOException {
        segments = Segments.read(HOME.resolve("lab/traces"));
    }

    private static byte[] bytes(long seed) throws IOException {
        try (ComposedTrace trace = new ComposedTrace(Planner.plan(seed), segments)) {
            return trace.readAllBytes();
        }
    }

    private static List<Taken> taken(Plan plan) throws IOException {
        List<Taken> all = new ArrayList<>();
        try (Trace trace = Trace.read(plan.name(), new ComposedTrace(plan, segments), true)) {
            for (Trace.Item item = trace.next(); item != null; item = trace.next()) {
                if (item instanceof Trace.Item.Sample sample) {
                    double seconds = (sample.stampMs() - Trace.EPOCH_MS) / 1000.0;
                    all.add(new Taken(sample.node(), seconds, sample.sample()));
                }
            }
        }
        all.sort(Comparator.comparingDouble(Taken::seconds));
        return all;
    }

    /** The first plan from seed 0 on whose first fault is of that cause. */
    private static Plan planOf(Cause cause) {
        return LongStream.range(0, 2000)
                .mapToObj(Planner::plan)
                .filter(plan -> plan.labels().size() == 1
                        && plan.labels().get(0).cause().equals(cause.words()))
                .findFirst()
                .orElseThrow();
    }

    private static List<RankReading> readings(List<Taken> taken, int rank, double from, double to) {
        return taken.stream()
                .filter(each -> each.seconds() > from && each.seconds() <= to)
                .flatMap(each -> each.sample().getRanksList().stream())
                .filter(reading -> reading.getRank() == rank)
                .toList();
    }

    @Test
    void oneSeedGivesTheSameBytesAndAnotherGivesOthers() throws IOException {
        for (long seed = 0; seed < 3; seed++) {
            assertThat(bytes(seed)).isEqualTo(bytes(seed)).isNotEqualTo(bytes(seed + 100));
        }
    }

    @Test
    void allDimensionsAreDrawn() {
        List<Plan> plans = LongStream.range(0, 500).mapToObj(Planner::plan).toList();

        assertThat(plans).extracting(plan -> plan.setting().world()).contains(2, 4, 8, 16, 32, 64);
        assertThat(plans).extracting(plan -> plan.setting().perNode()).contains(1, 4, 8);
        assertThat(plans).extracting(plan -> plan.setting().path()).contains(Setting.Path.values());
        assertThat(plans).extracting(plan -> plan.setting().tells()).contains(Setting.Tells.values());
        assertThat(plans).extracting(plan -> plan.setting().io()).contains(Setting.Io.values());
        assertThat(plans)
                .flatExtracting(Plan::labels)
                .extracting(Label::cause)
                .contains(Stream.of(Cause.values())
                        .filter(cause -> cause != Cause.SLOW)
                        .map(Cause::words)
                        .toArray(String[]::new));
        assertThat(plans).flatExtracting(Plan::labels).anyMatch(Label::clears).anyMatch(label -> !label.clears());
        assertThat(plans).anyMatch(plan -> !plan.restarts().isEmpty());
        assertThat(plans).allMatch(plan -> plan.seconds() >= 300 && plan.seconds() <= 3900);
    }

    @Test
    void countersFallOnlyWhereAResetIsLabelledOrAProcessIsNew() throws IOException {
        for (long seed = 0; seed < 6; seed++) {
            Plan plan = Planner.plan(seed);
            boolean reset = new ComposedTrace(plan, segments)
                    .occasions().stream().anyMatch(each -> each.kind().equals("NIC counter reset"));
            Map<String, Long> last = new HashMap<>();
            int fallenNics = 0;
            for (Taken each : taken(plan)) {
                for (GpuReading gpu : each.sample().getGpusList()) {
                    String uuid = HexFormat.of().formatHex(gpu.getUuid().toByteArray());
                    notFallen(last, "energy " + uuid, gpu.getEnergyMj());
                    notFallen(last, "nvlink " + uuid, gpu.getNvlinkRxKib());
                }
                for (RankReading rank : each.sample().getRanksList()) {
                    notFallen(last, "cpu " + each.node() + " " + rank.getPid(), rank.getCpuTicks());
                    notFallen(last, "written " + each.node() + " " + rank.getPid(), rank.getIoWriteKib());
                }
                long in =
                        each.sample().getNics(each.sample().getNicsCount() - 1).getRxBytes();
                Long before = last.put("nic " + each.node(), in);
                fallenNics += before != null && in < before ? 1 : 0;
            }
            assertThat(fallenNics).as("seed %d", seed).isLessThanOrEqualTo(reset ? 1 : 0);
        }
    }

    private static void notFallen(Map<String, Long> last, String counter, long now) {
        Long before = last.put(counter, now);
        assertThat(now).as(counter).isGreaterThanOrEqualTo(before == null ? 0 : before);
    }

    @Test
    void aStoppedRankIsInStateTFromItsOnsetOnAndNotBefore() throws IOException {
        Plan plan = planOf(Cause.STOPPED);
        Label label = plan.labels().get(0);
        int rank = label.ranks().get(0).rank();
        List<Taken> taken = taken(plan);
        double end = Math.min(label.cleared(), plan.seconds());

        assertThat(readings(taken, rank, label.onset() + 1, end))
                .isNotEmpty()
                .allMatch(reading -> reading.getState() == 'T');
        assertThat(readings(taken, rank, label.onset() - 20, label.onset() + 0.5))
                .isNotEmpty()
                .noneMatch(reading -> reading.getState() == 'T');
    }

    @Test
    void aKilledRankLeavesAndTheOthersTakeNoStep() throws IOException {
        Plan plan = planOf(Cause.KILLED);
        Label label = plan.labels().get(0);
        int rank = label.ranks().get(0).rank();
        int other = rank == 0 ? 1 : 0;
        List<Taken> taken = taken(plan);
        double end = Math.min(label.cleared(), plan.seconds());

        assertThat(readings(taken, rank, label.onset() + 1, end)).isEmpty();
        assertThat(readings(taken, rank, label.onset() - 20, label.onset() + 0.5))
                .isNotEmpty();
        assertThat(readings(taken, other, label.onset() + 1, end))
                .isNotEmpty()
                .extracting(RankReading::getStep)
                .containsOnly(
                        readings(taken, other, label.onset() + 1, end).get(0).getStep());
    }

    @Test
    void aRankThatIsAbsentNeverShows() throws IOException {
        Plan plan = planOf(Cause.ABSENT);

        for (Label.Culprit culprit : plan.labels().get(0).ranks()) {
            assertThat(readings(taken(plan), culprit.rank(), -1, plan.seconds()))
                    .isEmpty();
        }
    }

    @Test
    void aSilentNodeSaysNothingFromTheOnsetOn() throws IOException {
        Plan plan = planOf(Cause.NODE_SILENT);
        Label label = plan.labels().get(0);
        double end = Math.min(label.cleared(), plan.seconds());

        assertThat(taken(plan))
                .filteredOn(each -> each.seconds() > label.onset() + 1 && each.seconds() <= end)
                .isNotEmpty()
                .extracting(Taken::node)
                .doesNotContain(label.nodes().get(0));
    }

    @Test
    void twoRanksThatOnlyTrainGrowAtTheRatesOfTheRecordings() {
        Setting setting = new Setting(
                2,
                1,
                Setting.Path.NIC,
                0.08,
                1,
                1,
                0,
                Setting.Tells.PHASES,
                Setting.Io.COUNTED,
                false,
                'S',
                0,
                false,
                0);
        Plan plan = new Plan(1, "x", setting, List.of(), List.of(), null, List.of(), List.of(), 200);
        Player player = new Player(plan, segments, NONE, new Draw(1));
        RankCounters rank = player.ranks().get(0);
        player.play(1);
        double energy = rank.energy;
        double cpu = rank.cpu;
        double in = player.nic(0).in;
        long step = rank.step;
        for (int second = 2; second <= 1 + 22 * 9; second++) {
            player.play(second);
        }
        double seconds = 22 * 9;

        // Boards differ by 3 %, seconds by as much, and the recording is looped amid a pass.
        assertThat((rank.energy - energy) / seconds).isCloseTo(mean(Second::energy), near(Second::energy));
        assertThat((rank.cpu - cpu) / seconds).isCloseTo(mean(Second::cpu), near(Second::cpu));
        assertThat((player.nic(0).in - in) / seconds).isCloseTo(mean(Second::in), near(Second::in));
        assertThat((rank.step - step) / seconds).isCloseTo(1 / 0.08, within(0.6));
        assertThat(rank.phase).isEqualTo(Phase.PHASE_TRAIN);
    }

    private static double mean(ToDoubleFunction<Second> of) {
        return segments.all(Part.TRAINS, 0).stream().mapToDouble(of).average().orElseThrow();
    }

    private static Offset<Double> near(ToDoubleFunction<Second> of) {
        return within(0.05 * mean(of));
    }

    @Test
    void aPauseIsNoStepAndAfterItStepsGoOn() {
        Setting setting = new Setting(
                2, 1, Setting.Path.NIC, 3, 1, 1, 0, Setting.Tells.PHASES, Setting.Io.COUNTED, false, 'S', 0, false, 0);
        Episode pause =
                Episode.of(60, 90, Act.WAITS).with(List.of(0), Act.WRITES).phase(Phase.PHASE_CHECKPOINT);
        Plan plan = new Plan(1, "x", setting, List.of(pause), List.of(), null, List.of(), List.of(), 200);
        Player player = new Player(plan, segments, NONE, new Draw(1));
        RankCounters writer = player.ranks().get(0);
        RankCounters reader = player.ranks().get(1);
        play(player, 1, 60);
        long step = writer.step;
        double written = writer.written;

        play(player, 61, 90);
        assertThat(writer.step).isEqualTo(step).isBetween(18L, 21L);
        assertThat(writer.phase).isEqualTo(Phase.PHASE_CHECKPOINT);
        assertThat(writer.progress).isBetween(60.0, 61.0);
        assertThat(writer.written - written).isBetween(30 * 120e6, 30 * 190e6);
        assertThat(reader.now.util()).isEqualTo(100);
        assertThat(writer.now.util()).isZero();

        play(player, 91, 120);
        assertThat(writer.step).isBetween(step + 8, step + 11);
        assertThat(writer.phase).isEqualTo(Phase.PHASE_TRAIN);
    }

    private static void play(Player player, int from, int to) {
        for (int second = from; second <= to; second++) {
            player.play(second);
        }
    }

    @Test
    void stepsThatAreSlowTakeSoManyTimesTheirTime() {
        for (double seconds : new double[] {0.1, 3}) {
            Steps steps = new Steps(new Draw(1), seconds);
            for (int second = 1; second <= 300; second++) {
                steps.advance(second, 1);
            }
            long before = steps.done();
            for (int second = 301; second <= 900; second++) {
                steps.advance(second, 2);
            }
            assertThat((double) before).isCloseTo(300 / seconds, within(0.03 * 300 / seconds));
            assertThat((double) (steps.done() - before)).isCloseTo((double) before, within(0.04 * before));
            assertThat(steps.lastEnd()).isBetween(900 - 2.2 * seconds - 0.01, 900.0);
        }
    }

    @Test
    void writtenFilesAreReadAgain(@TempDir Path folder) throws IOException {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);
        int exit = new CommandLine(new ComposeCommand(HOME, nowhere, nowhere))
                .execute("write", "2", folder.toString(), "--seed", "3");

        assertThat(exit).isZero();
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).hasSize(2).allSatisfy(file -> {
                try (Trace trace = Trace.open(file, true)) {
                    int items = 0;
                    while (trace.next() != null) {
                        items++;
                    }
                    assertThat(items).isGreaterThan(300);
                }
            });
        }
    }
}

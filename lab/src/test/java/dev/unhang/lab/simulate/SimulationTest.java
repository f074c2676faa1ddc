package dev.unhang.lab.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.healer.command.Action;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The nine rules over seeds: {@code simulation.seeds} of them from 0, always the same, and with the tag {@code long} as
 * many from a range that is new each day. A seed that fails prints its last events and how it is replayed alone.
 */
class SimulationTest {

    private static final int SEEDS = Integer.getInteger("simulation.seeds", 1_000);

    /** Days are this far apart in seeds. */
    private static final long A_DAY = 10_000;

    @Test
    void noRuleIsBrokenWhateverCrashesInWhateverOrder() throws Exception {
        List<Outcome> outcomes = Seeds.run(0, SEEDS);

        assertThat(Seeds.told(outcomes)).isEmpty();
        assertThat(outcomes)
                .as("a run in which nothing is done proves nothing")
                .filteredOn(run -> run.begun() > 3)
                .hasSizeGreaterThan(SEEDS / 2);
        if (SEEDS >= 200) {
            Set<String> begun = new TreeSet<>();
            outcomes.forEach(run -> begun.addAll(run.attempts().keySet()));
            // No ladder here has a unit to restart.
            List<String> all = Arrays.stream(Action.values())
                    .filter(action -> action != Action.RELAUNCH_UNIT)
                    .map(Action::label)
                    .toList();
            assertThat(begun).containsExactlyInAnyOrderElementsOf(all);
        }
    }

    @Test
    @Tag("long")
    void noRuleIsBrokenByTodaysSeedsEither() throws Exception {
        long from =
                Long.getLong("simulation.from", LocalDate.now(ZoneOffset.UTC).toEpochDay() * A_DAY);

        assertThat(Seeds.told(Seeds.run(from, SEEDS))).as("seeds from %d", from).isEmpty();
    }

    @Test
    void aSeedGivesTheSameRunEachTime() {
        Outcome first = Simulation.run(Setup.of(12, 0, Plant.NONE));
        Outcome second = Simulation.run(Setup.of(12, 0, Plant.NONE));

        assertThat(second.digest()).isEqualTo(first.digest());
        assertThat(second.last()).isEqualTo(first.last());
        assertThat(Simulation.run(Setup.of(13, 0, Plant.NONE)).digest()).isNotEqualTo(first.digest());
    }

    @Test
    void clustersOfTwoNodesAndOfFiveHundredAreAmongThem() {
        assertThat(Setup.of(7, 0, Plant.NONE).nodes()).isEqualTo(2);
        assertThat(Setup.of(7, 0, Plant.NONE).filledPercent()).isEqualTo(100);
        assertThat(Setup.of(19, 0, Plant.NONE).nodes()).isEqualTo(500);
        assertThat(Setup.of(0, 0, Plant.NONE).nodes()).isBetween(20, 50);
    }
}

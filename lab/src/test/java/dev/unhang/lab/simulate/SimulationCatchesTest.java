package dev.unhang.lab.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shows that the simulation can fail: for each rule a fault that is put in on purpose is caught within some seeds. */
class SimulationCatchesTest {

    private static final int WITHIN = 60;

    @ParameterizedTest
    @EnumSource(value = Plant.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aPlantedFaultIsCaughtByTheCheckerOfItsRule(Plant plant) {
        Outcome caught = LongStream.range(0, WITHIN)
                .mapToObj(seed -> Setup.of(seed, 0, plant))
                .filter(setup -> setup.nodes() <= 50)
                .map(Simulation::run)
                .filter(Outcome::broken)
                .findFirst()
                .orElseThrow(() -> new AssertionError("nothing was caught within " + WITHIN + " seeds"));

        assertThat(caught.rule()).as(caught.told()).isEqualTo(plant.rule());
        assertThat(caught.last()).isNotEmpty().hasSizeLessThanOrEqualTo(50);
        assertThat(caught.told())
                .contains("rule " + plant.rule() + " is broken")
                .contains("./unhang simulate --seed " + caught.setup().seed())
                .contains("--plant " + plant.rule());
    }
}

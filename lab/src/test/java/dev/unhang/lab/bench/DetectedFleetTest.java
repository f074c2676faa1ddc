package dev.unhang.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.unhang.events.v1.IncidentKind;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class DetectedFleetTest {

    private final ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

    @ParameterizedTest
    @EnumSource
    void eachSceneIsWhatItIsCalled(Scene scene) {
        DetectedFleet fleet = new DetectedFleet(scene);

        fleet.liveMinutes(10);

        assertThat(fleet.learned()).isGreaterThanOrEqualTo(9);
        assertThat(fleet.findings(IncidentKind.JOB_HANG) > 0)
                .isEqualTo(scene == Scene.HANG || scene == Scene.HANG_WITHOUT_HEARTBEATS);
        assertThat(fleet.findings(IncidentKind.JOB_SLOW) > 0).isEqualTo(scene == Scene.SLOW);
    }

    /** One-sided: a compiler that finds out meanwhile what need not be allocated is welcome. */
    @ParameterizedTest
    @EnumSource(names = {"PEACE", "HANG"})
    void anHourLaterAMinuteAllocatesNoMoreThanBefore(Scene scene) {
        DetectedFleet fleet = new DetectedFleet(scene);
        fleet.liveMinutes(10);
        long early = allocatedInMinutes(fleet);
        fleet.liveMinutes(60);
        long late = allocatedInMinutes(fleet);

        assertThat((double) late).isLessThan(1.05 * early);
    }

    /** In two, since levels that are learned are written each minute. */
    private long allocatedInMinutes(DetectedFleet fleet) {
        long bytes = 0;
        for (int second = 0; second < 120; second++) {
            fleet.prepare();
            long before = threads.getCurrentThreadAllocatedBytes();
            fleet.detect();
            bytes += threads.getCurrentThreadAllocatedBytes() - before;
        }
        return bytes;
    }

    @Test
    void growthIsTheMedianOfTheLastTenthByThatOfTheFirst() {
        double[] values = new double[30];
        for (int i = 0; i < values.length; i++) {
            values[i] = i < 15 ? 2 : 3;
        }
        values[1] = 100;
        values[29] = 100;

        assertThat(DetectionSpeed.growth(values)).isEqualTo(1.5);
    }
}

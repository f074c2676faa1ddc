package dev.unhang.healer.detect.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.Standing;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CommonCauseTest {

    private final CommonCause cause = new CommonCause();

    private static Finding job(String name, long ageMs, IncidentKind kind, Standing standing) {
        return Finding.newBuilder()
                .setJob(name)
                .setAgeMs(ageMs)
                .setKind(kind)
                .setStanding(standing)
                .addNodes("n-" + name)
                .build();
    }

    private static Finding hang(String name, long ageMs) {
        return job(name, ageMs, IncidentKind.JOB_HANG, Standing.SUSPECTED);
    }

    private List<Finding> look(Finding... standing) {
        List<Finding> out = new ArrayList<>();
        cause.look(List.of(standing), 7, out);
        return out;
    }

    @Test
    void twoJobsThatStoppedWithinHalfAMinuteHaveOneCause() {
        assertThat(look(hang("a", 40_000), hang("b", 10_000))).singleElement().satisfies(finding -> {
            assertThat(finding.getKind()).isEqualTo(IncidentKind.COMMON_CAUSE);
            assertThat(finding.getSubject()).isEqualTo("cluster");
            assertThat(finding.getStanding()).isEqualTo(Standing.SUSPECTED);
            assertThat(finding.getEvidenceList()).containsExactly("2 jobs came to a standstill within 30 s: a, b");
            assertThat(finding.getNodesList()).containsExactly("n-a", "n-b");
            assertThat(finding.getAgeMs()).isEqualTo(40_000);
        });
    }

    @Test
    void moreThanHalfAMinuteApartTheyDoNot() {
        assertThat(look(hang("a", 40_001), hang("b", 10_000))).isEmpty();
    }

    @Test
    void oneJobHasItsOwn() {
        assertThat(look(hang("a", 10_000))).isEmpty();
    }

    @Test
    void slowJobsDoNotStandStill() {
        assertThat(look(hang("a", 10_000), job("b", 10_000, IncidentKind.JOB_SLOW, Standing.CONFIRMED)))
                .isEmpty();
        assertThat(look(hang("a", 10_000), job("b", 10_000, IncidentKind.INPUT_STALL, Standing.SUSPECTED)))
                .hasSize(1);
    }

    @Test
    void itIsConfirmedWhenTwoOfThemAreAndStaysSo() {
        Finding sure = job("a", 10_000, IncidentKind.JOB_HANG, Standing.CONFIRMED);
        Finding other = job("b", 10_000, IncidentKind.RANK_MISSING, Standing.CONFIRMED);
        assertThat(look(sure, hang("b", 10_000)))
                .extracting(Finding::getStanding)
                .containsExactly(Standing.SUSPECTED);
        assertThat(look(sure, other)).extracting(Finding::getStanding).containsExactly(Standing.CONFIRMED);
        assertThat(look(sure, hang("c", 10_000)))
                .extracting(Finding::getStanding)
                .containsExactly(Standing.CONFIRMED);
    }

    @Test
    void theSameIsSaidOnceAndAThirdJobIsNews() {
        look(hang("a", 10_000), hang("b", 10_000));
        assertThat(look(hang("a", 11_000), hang("b", 11_000))).isEmpty();
        assertThat(look(hang("a", 12_000), hang("b", 12_000), hang("c", 1_000))).hasSize(1);
    }

    @Test
    void itIsWellWhenFewerThanTwoStand() {
        look(hang("a", 10_000), hang("b", 10_000));
        assertThat(look(hang("a", 11_000))).extracting(Finding::getStanding).containsExactly(Standing.WELL);
        assertThat(cause.standing()).isEmpty();
        assertThat(look(hang("a", 12_000))).isEmpty();
    }

    @Test
    void theLargestGroupCountsAndAnOlderStandstillIsNotPartOfIt() {
        assertThat(look(hang("old", 500_000), hang("a", 30_000), hang("b", 5_000)))
                .singleElement()
                .satisfies(finding -> assertThat(finding.getNodesList()).containsExactly("n-a", "n-b"));
    }
}

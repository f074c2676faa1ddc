package dev.unhang.healer.detect.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.OperState;
import dev.unhang.healer.detect.job.HardSign.Kind;
import java.util.List;
import org.junit.jupiter.api.Test;

class HardSignTest {

    private static final OperState DOWN = OperState.OPER_STATE_DOWN;
    private static final OperState NO_LINK = OperState.OPER_STATE_LOWER_LAYER_DOWN;

    private static List<HardSign> signs(Crew crew, int stillSeconds) {
        return HardSign.of(crew.roll(), 1000L * stillSeconds, 0, false);
    }

    private static List<String> words(Crew crew, int stillSeconds) {
        return signs(crew, stillSeconds).stream().map(HardSign::words).toList();
    }

    @Test
    void aStoppedProcessIsASign() {
        assertThat(words(new Crew(4).still(20).stopped(22, 1), 20))
                .containsExactly("rank 1 on n1 is in process state T (stopped) for 22 s");
    }

    @Test
    void whoWasStoppedMoreThanTenSecondsLaterWasStoppedByWhoeverLooksIntoIt() {
        assertThat(signs(new Crew(4).still(60).stopped(50, 1), 60)).hasSize(1);
        assertThat(signs(new Crew(4).still(60).stopped(49, 1), 60)).isEmpty();
    }

    @Test
    void aProcessUnderADebuggerIsNoSign() {
        Crew crew = new Crew(4).still(20).stopped(22, 1);
        crew.rank(1).setTracerPid(7);

        assertThat(signs(crew, 20)).isEmpty();
    }

    @Test
    void halfOfTheRanksMayBeStoppedButNotMore() {
        assertThat(signs(new Crew(4).still(20).stopped(22, 0, 1), 20)).hasSize(2);
        assertThat(signs(new Crew(4).still(20).stopped(22, 0, 1, 2), 20)).isEmpty();
        assertThat(signs(new Crew(1).still(20).stopped(22, 0), 20)).isEmpty();
    }

    @Test
    void aRankThatLeftLongBeforeTheOthersStoppedIsNotWhomTheyWaitFor() {
        assertThat(signs(new Crew(4).still(20).gone(140, 1), 20)).hasSize(1);
        assertThat(signs(new Crew(4).still(20).gone(141, 1), 20)).isEmpty();
        assertThat(HardSign.of(new Crew(4).still(20).gone(36, 1).roll(), 20_000, 1_000, false))
                .as("with steps of a second")
                .hasSize(1);
        assertThat(HardSign.of(new Crew(4).still(20).gone(37, 1).roll(), 20_000, 1_000, false))
                .as("with steps of a second")
                .isEmpty();
    }

    @Test
    void aPortThatWentDownWithTheStandstillIsASign() {
        assertThat(words(new Crew(4).still(20).portDown(1, 22, DOWN, true), 20))
                .containsExactly("a network port of n1 (rank 1) is down for 22 s");
        assertThat(words(new Crew(4).still(20).portDown(1, 22, NO_LINK, true), 20))
                .containsExactly("a network port of n1 (rank 1) has no link for 22 s: the other end, or the cable");
    }

    @Test
    void aPortThatWasDownBeforeOrLaterIsNone() {
        assertThat(signs(new Crew(4).still(60).portDown(1, 75, DOWN, true), 60)).hasSize(1);
        assertThat(signs(new Crew(4).still(60).portDown(1, 76, DOWN, true), 60)).isEmpty();
        assertThat(signs(new Crew(4).still(60).portDown(1, 45, DOWN, true), 60)).hasSize(1);
        assertThat(signs(new Crew(4).still(60).portDown(1, 44, DOWN, true), 60)).isEmpty();
    }

    @Test
    void whatHappensWithinAStepStopsTheOthersAtItsEnd() {
        Crew port = new Crew(4).still(20).portDown(1, 65, DOWN, true);
        assertThat(HardSign.of(port.roll(), 20_000, 29_999, false)).isEmpty();
        assertThat(HardSign.of(port.roll(), 20_000, 30_000, false)).hasSize(1);

        Crew xid = new Crew(4).still(20);
        xid.rank(1).setFatalXid(79).setLastXid(79).setLastXidAgeMs(65_000);
        assertThat(HardSign.of(xid.roll(), 20_000, 29_999, false)).isEmpty();
        assertThat(HardSign.of(xid.roll(), 20_000, 30_000, false)).hasSize(1);
    }

    @Test
    void ofBothEndsTheOneThatIsDownItselfIsTheSign() {
        Crew crew = new Crew(4).still(20).portDown(1, 22, DOWN, true).portDown(2, 22, NO_LINK, true);

        assertThat(signs(crew, 20)).extracting(HardSign::kind).containsExactly(Kind.PORT_DOWN);
    }

    @Test
    void whatHoldsForMostNodesIsTheSwitch() {
        Crew half = new Crew(4).still(20).portDown(0, 22, DOWN, true).portDown(1, 22, DOWN, true);
        assertThat(signs(half, 20)).hasSize(2);
        assertThat(signs(half.portDown(2, 22, DOWN, true), 20)).isEmpty();
    }

    @Test
    void aPortOfWhichNobodyKnowsWhetherTheJobUsesItIsAWeakSign() {
        assertThat(signs(new Crew(4).still(20).portDown(1, 22, DOWN, true), 20)
                        .get(0)
                        .weak())
                .isFalse();
        assertThat(signs(new Crew(4).still(20).portDown(1, 22, DOWN, false), 20)
                        .get(0)
                        .weak())
                .isTrue();
    }

    @Test
    void aNodeThatFellSilentIsASign() {
        assertThat(words(new Crew(4).still(20).silent(21, 3), 20))
                .containsExactly("node n3 of rank 3 is silent for 21 s");
        assertThat(signs(new Crew(4).still(60).silent(45, 3), 60)).hasSize(1);
        assertThat(signs(new Crew(4).still(60).silent(44, 3), 60)).isEmpty();
        assertThat(signs(new Crew(4).still(60).silent(76, 3), 60)).isEmpty();
    }

    @Test
    void aQuarterOfTheNodesMayFallSilentButNotMore() {
        assertThat(signs(new Crew(8).still(20).silent(21, 3, 4), 20)).hasSize(2);
        assertThat(signs(new Crew(8).still(20).silent(21, 3, 4, 5), 20)).isEmpty();
    }

    @Test
    void aFatalXidIsASignAndAnyOtherIsNot() {
        Crew crew = new Crew(4).still(20);
        crew.rank(1).setLastXid(31).setLastXidAgeMs(21_000);
        assertThat(signs(crew, 20)).isEmpty();
        crew.rank(1).setFatalXid(79).setLastXid(79);
        assertThat(words(crew, 20)).containsExactly("Xid 79 on a GPU of rank 1 on n1 21 s ago");
        crew.rank(1).setLastXidAgeMs(36_000);
        assertThat(signs(crew, 20)).isEmpty();
    }

    @Test
    void aProcessThatIsGoneIsAWeakSignUnlessTheJobEnds() {
        Crew crew = new Crew(4).still(20).gone(21, 1);
        assertThat(words(crew, 20)).containsExactly("the process of rank 1 on n1 is gone for 21 s");
        assertThat(signs(crew, 20).get(0).weak()).isTrue();
        assertThat(HardSign.of(crew.roll(), 20_000, 0, true)).isEmpty();
        assertThat(signs(new Crew(2).gone(21, 0, 1), 20)).isEmpty();
    }

    @Test
    void aSignMustStandBesideTheStandstillAndItsAgeBeforeDoesNotCount() {
        Crew crew = new Crew(4).still(20).stopped(300, 1);
        SignsHeld held = new SignsHeld();

        assertThat(held.seconds(signs(crew, 20), false, crew.nowMs)).isEqualTo(2);
        assertThat(held.seconds(signs(crew, 20), false, crew.nowMs + 18_000)).isEqualTo(20);
    }

    @Test
    void aSignThatGoesAndComesBackBeginsAnew() {
        Crew crew = new Crew(4).still(20).stopped(300, 1);
        SignsHeld held = new SignsHeld();
        held.seconds(signs(crew, 20), false, crew.nowMs);
        held.seconds(List.of(), false, crew.nowMs + 10_000);

        assertThat(held.seconds(signs(crew, 20), false, crew.nowMs + 11_000)).isEqualTo(2);
    }

    @Test
    void asLongAsProcessesGoOnToVanishTheYoungestCounts() {
        Crew crew = new Crew(4).still(20).gone(60, 1).gone(3, 2);

        assertThat(new SignsHeld().seconds(signs(crew, 20), true, crew.nowMs)).isEqualTo(3);
    }
}

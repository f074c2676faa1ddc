package dev.unhang.healer.detect.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.unhang.events.v1.JobProfile;
import dev.unhang.events.v1.LearnedPauses;
import dev.unhang.healer.detect.job.Picture.Kind;
import java.util.List;
import org.junit.jupiter.api.Test;

class StandstillTest {

    private static final Picture ALL_SPIN = new Picture(Kind.ALL_SPIN, List.of());
    private static final Picture ONE_IDLE = new Picture(Kind.FEW_IDLE, List.of(0));

    private final Pauses pauses = new Pauses();
    private final Standstill still = new Standstill(0);
    private long nowMs;

    private void goOn(int seconds, Picture picture, double limit) {
        goOn(seconds, picture, limit, false, false);
    }

    private void goOn(int seconds, Picture picture, double limit, boolean fault, boolean announced) {
        for (int i = 0; i < seconds; i++) {
            nowMs += 1000;
            still.goOn(picture, limit, fault, announced, nowMs);
        }
    }

    private boolean ends() {
        nowMs += 1000;
        assertThat(still.works(true, nowMs)).isTrue();
        return still.teach(pauses);
    }

    private JobProfile learned() {
        JobProfile.Builder profile = JobProfile.newBuilder();
        pauses.save(profile);
        return profile.build();
    }

    @Test
    void theTimeInEachPictureCountsAsAShareOfItsOwnLimit() {
        goOn(30, ALL_SPIN, 60);
        assertThat(still.used()).isEqualTo(0.5, within(1e-9));
        goOn(59, ONE_IDLE, 120);
        assertThat(still.used()).isLessThan(1);
        goOn(1, ONE_IDLE, 120);
        assertThat(still.used()).isEqualTo(1, within(1e-9));
    }

    @Test
    void unknownTimeStretchesNothing() {
        goOn(10, ALL_SPIN, 60);
        nowMs += 300_000;
        still.blind(nowMs);
        goOn(10, ALL_SPIN, 60);

        assertThat(still.seconds(nowMs)).isEqualTo(20);
        assertThat(still.countedSeconds(nowMs)).isEqualTo(20);
        assertThat(still.used()).isEqualTo(20 / 60.0, within(1e-9));
    }

    @Test
    void whileItIsExplainedNothingCountsAndAfterwardsItCountsFromThere() {
        goOn(40, ALL_SPIN, 60);
        nowMs += 1000;
        still.explained(pauses, nowMs);
        nowMs += 99_000;
        still.explained(pauses, nowMs);
        assertThat(still.explainedSeconds(nowMs)).isEqualTo(99);
        assertThat(still.used()).isZero();
        still.unexplained();
        goOn(5, ALL_SPIN, 60);

        assertThat(still.seconds(nowMs)).isEqualTo(145);
        assertThat(still.countedSeconds(nowMs)).isEqualTo(5);
        assertThat(still.explainedSeconds(nowMs)).isZero();
    }

    @Test
    void whatGoesOnAfterTheLongestExplanationDoesNotBeginAnewAtEachLook() {
        nowMs += 1000;
        still.explained(pauses, nowMs);
        goOn(50, ALL_SPIN, 60);

        assertThat(still.explainedSeconds(nowMs)).isEqualTo(50);
        assertThat(still.countedSeconds(nowMs)).isEqualTo(50);
    }

    @Test
    void workSeenAtTwoLooksEndsItAndProgressAtOnce() {
        goOn(10, ALL_SPIN, 60);
        assertThat(still.works(false, nowMs + 1000)).isFalse();
        assertThat(still.works(false, nowMs + 1899)).isFalse();
        assertThat(still.works(false, nowMs + 1900)).isTrue();
        assertThat(new Standstill(0).works(true, 10)).isTrue();
    }

    @Test
    void aMomentOfWorkInBetweenEndsNothing() {
        goOn(10, ALL_SPIN, 60);
        assertThat(still.works(false, nowMs + 1000)).isFalse();
        nowMs += 1000;
        goOn(1, ALL_SPIN, 60);
        assertThat(still.works(false, nowMs + 1000)).isFalse();
        assertThat(still.seconds(nowMs)).isEqualTo(12);
    }

    @Test
    void aPauseThatEndsTeaches() {
        goOn(20, ONE_IDLE, 600);
        assertThat(ends()).isTrue();

        assertThat(learned().getPausesList())
                .containsExactly(LearnedPauses.newBuilder()
                        .setPicture("FEW_IDLE")
                        .addWho(0)
                        .addLengthsMs(20_000)
                        .build());
        assertThat(learned().getLengthsMsList()).containsExactly(21_000);
    }

    @Test
    void whatStillStandsTeachesNothing() {
        goOn(20, ONE_IDLE, 600);

        assertThat(still.teach(pauses)).isFalse();
    }

    @Test
    void aPauseThatAFaultExplainsTeachesNothing() {
        goOn(19, ONE_IDLE, 600);
        goOn(1, ONE_IDLE, 600, true, false);

        assertThat(ends()).isFalse();
        assertThat(learned()).isEqualTo(JobProfile.getDefaultInstance());
    }

    @Test
    void aPauseThatWasAnnouncedForMoreThanHalfOfItTeachesNothing() {
        goOn(9, ONE_IDLE, 600, false, false);
        goOn(11, ONE_IDLE, 600, false, true);
        assertThat(ends()).isFalse();

        Standstill other = new Standstill(nowMs);
        for (int i = 0; i < 20; i++) {
            nowMs += 1000;
            other.goOn(ONE_IDLE, 600, false, i < 9, nowMs);
        }
        other.works(true, nowMs);
        assertThat(other.teach(pauses)).isTrue();
    }

    @Test
    void aPauseIsLearnedUpToWhereItWasExplained() {
        goOn(20, ONE_IDLE, 600);
        nowMs += 1000;
        still.explained(pauses, nowMs);
        nowMs += 60_000;
        still.explained(pauses, nowMs);
        still.unexplained();
        goOn(3, ALL_SPIN, 60);
        assertThat(ends()).isTrue();

        assertThat(learned().getLengthsMsList()).containsExactly(20_000, 4_000);
    }

    @Test
    void whatWasTakenForAHangIsNoPauseYet() {
        goOn(50, ALL_SPIN, 45);
        still.alarmed();
        assertThat(ends()).isTrue();

        assertThat(learned().getLengthsMsList()).isEmpty();
        assertThat(learned().getPausesList())
                .singleElement()
                .satisfies(pause -> assertThat(pause.getAlarm()).isTrue());
    }
}

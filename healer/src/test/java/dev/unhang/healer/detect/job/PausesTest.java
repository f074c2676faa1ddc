package dev.unhang.healer.detect.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.unhang.events.v1.JobProfile;
import dev.unhang.events.v1.LearnedPauses;
import dev.unhang.healer.detect.job.Pauses.Limits;
import dev.unhang.healer.detect.job.Pauses.Witness;
import dev.unhang.healer.detect.job.Picture.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PausesTest {

    private static final Path PAGE = Path.of("..", "docs", "reference", "detection-limits.md");
    private static final String AGAIN =
            "`mvn -pl healer -am test -Dtest=PausesTest -Dunhang.docs=write -Dsurefire.failIfNoSpecifiedTests=false`";

    private static final Picture ALL_SPIN = picture(Kind.ALL_SPIN);
    private static final Picture RANK_0 = picture(Kind.FEW_IDLE, 0);
    private static final Picture RANK_3 = picture(Kind.FEW_IDLE, 3);

    private final Pauses pauses = new Pauses();

    private static Picture picture(Kind kind, Integer... who) {
        return new Picture(kind, List.of(who));
    }

    /** One row of the table; a witness counts only where a rank idles while others wait for it. */
    record Floor(Kind kind, Witness witness, Limits withHeartbeats, Limits without) {}

    static List<Floor> floors() {
        return List.of(
                floor(Kind.ALL_SPIN, Witness.NOTHING, 45, 90),
                floor(Kind.FEW_IDLE, Witness.PHASES, 45, 45),
                floor(Kind.FEW_IDLE, Witness.IO, 75, 150),
                floor(Kind.FEW_IDLE, Witness.NOTHING, 600, 600),
                floor(Kind.SOME_IDLE, Witness.PHASES, 120, 120),
                floor(Kind.SOME_IDLE, Witness.IO, 300, 300),
                floor(Kind.SOME_IDLE, Witness.NOTHING, 600, 600),
                floor(Kind.FEW_WORK, Witness.NOTHING, 180, 900),
                floor(Kind.ALL_IDLE, Witness.NOTHING, 900, 900),
                floor(Kind.NOTHING_KNOWN, Witness.NOTHING, 900, 900),
                floor(Kind.WORK, Witness.NOTHING, 1_800, 1_800));
    }

    private static Floor floor(Kind kind, Witness witness, double withHeartbeats, double without) {
        return new Floor(kind, witness, new Limits(6, withHeartbeats), new Limits(10, without));
    }

    @ParameterizedTest
    @MethodSource("floors")
    void aJobWhosePausesAreNotKnownHasTheFloors(Floor floor) {
        Picture picture = picture(floor.kind());

        assertThat(pauses.limits(picture, true, floor.witness())).isEqualTo(floor.withHeartbeats());
        assertThat(pauses.limits(picture, false, floor.witness())).isEqualTo(floor.without());
    }

    @Test
    void eachKindOfPictureIsInTheTable() {
        assertThat(floors()).extracting(Floor::kind).contains(Kind.values());
    }

    @Test
    void thePageIsTheCodes() throws IOException {
        StringBuilder page = new StringBuilder("""
                # How long a standstill may last

                Seconds before a standstill is suspected and before it is confirmed, for a job whose pauses are not known; with heartbeats and
                without. This page is printed from the code (`Pauses`, `PausesTest`); change it there and run
                %s.
                [How a hung job is found](../detection.md) says why the limits are what they are.

                | what it looks like | what would tell a pause from a hang | suspected, with heartbeats | confirmed | suspected, without | confirmed |
                |---|---|---|---|---|---|
                """.formatted(AGAIN));
        for (Floor floor : floors()) {
            page.append(String.format(
                    Locale.ROOT,
                    "| %s | %s | %.0f | %.0f | %.0f | %.0f |\n",
                    words(floor.kind()),
                    words(floor.kind(), floor.witness()),
                    floor.withHeartbeats().suspect(),
                    floor.withHeartbeats().confirm(),
                    floor.without().suspect(),
                    floor.without().confirm()));
        }
        page.append("""

                A hard sign that began with the standstill (a stopped process, a process that is gone, a silent node, a port of its own traffic
                that is down, a fatal Xid) suspects it after 5 s and confirms it after 20 s, whatever the table says.

                What changes these limits:

                - A pause of the same picture that ended by itself: suspected at 1.25 times its length and 2 s, confirmed not before 1.5 times
                  and 15 s. For `SOME_IDLE` every pause of that kind counts.
                - Three pauses of 5 s or more that all look alike: where all ranks wait, or a few idle, 45 s are enough (60 without heartbeats),
                  or twice the longest pause of that picture and 15 s (2.5 times without).
                - A standstill that was taken for a hang and ended by itself: the next one like it is suspected as early as ever and confirmed
                  not before 1.5 times its length and 15 s. After the second it is a pause of this job like any other.
                - A step of some seconds: where ranks wait, confirmed not before two usual steps and 15 s; where ranks compute, not suspected
                  before 300 s and five usual steps, or 2.5 steps where the others wait for them, nor confirmed before three.
                - A phase that the job has announced (CHECKPOINT, EVAL, DATA, COMPILE, INIT): confirmed after 1,800 s, or three times the longest
                  it has had of that phase, suspected after a third of that.
                - Two hours are the most.
                """);
        if ("write".equals(System.getProperty("unhang.docs"))) {
            Files.writeString(PAGE, page);
        }
        assertThat(PAGE).as("run with -Dunhang.docs=write").hasContent(page.toString());
    }

    private static String words(Kind kind) {
        String what = switch (kind) {
            case ALL_SPIN -> "all ranks wait in a collective";
            case FEW_IDLE ->
                "one rank, an eighth of them, or all of one node of several are idle while the others wait";
            case SOME_IDLE -> "more ranks are idle while the others wait";
            case FEW_WORK -> "one rank, or an eighth of them, compute while the others wait";
            case ALL_IDLE -> "no rank computes or communicates";
            case WORK -> "ranks compute, and none makes progress";
            case NOTHING_KNOWN -> "the GPUs of no rank are seen";
        };
        return what + " (`" + kind + "`)";
    }

    private static String words(Kind kind, Witness witness) {
        if (kind != Kind.FEW_IDLE && kind != Kind.SOME_IDLE) {
            return "";
        }
        return switch (witness) {
            case PHASES -> "the job announces its pauses, and has not announced this one";
            case IO -> "the idle ranks' reads and writes are seen and move nothing, or its saves announce themselves";
            case NOTHING -> "nothing";
        };
    }

    private void pause(double seconds, Picture picture) {
        pauses.learn(seconds, Map.of(picture, seconds), false);
    }

    private Limits limits(Picture picture) {
        return pauses.limits(picture, true, Witness.NOTHING);
    }

    @Test
    void aPauseOfThisJobLengthensTheLimitsOfItsPictureAndOfNoOther() {
        pause(100, ALL_SPIN);

        assertThat(limits(ALL_SPIN)).isEqualTo(new Limits(127, 165));
        assertThat(limits(RANK_0)).isEqualTo(new Limits(6, 600));
    }

    @Test
    void aRankThatPausesIsNoExcuseForAnother() {
        pause(500, RANK_0);

        assertThat(limits(RANK_0)).isEqualTo(new Limits(627, 765));
        assertThat(limits(RANK_3)).isEqualTo(new Limits(6, 600));
    }

    @Test
    void wherePausesOfSeveralRanksAreKnownAnyRankMayPause() {
        pause(500, RANK_0);
        pause(500, RANK_3);

        assertThat(limits(picture(Kind.FEW_IDLE, 5))).isEqualTo(new Limits(627, 765));
    }

    @Test
    void shortPausesArePartOfAStepWhicheverRankHasThem() {
        pause(4.9, RANK_0);
        assertThat(limits(RANK_3).suspect()).isEqualTo(2.5 * 4.9 + 1);
        pause(5, picture(Kind.ALL_SPIN));
        assertThat(limits(ALL_SPIN).suspect()).isEqualTo(1.25 * 5 + 2);
    }

    @Test
    void twoHoursAreTheMost() {
        pause(10_000, ALL_SPIN);

        assertThat(limits(ALL_SPIN).confirm()).isEqualTo(7_200);
    }

    @Test
    void uniformPausesAreKnownAfterThree() {
        pause(20, RANK_0);
        pause(20, RANK_0);
        assertThat(limits(RANK_0).confirm()).isEqualTo(600);
        pause(20, RANK_0);
        assertThat(limits(RANK_0).confirm()).isEqualTo(55);
        assertThat(pauses.limits(RANK_0, false, Witness.NOTHING).confirm()).isEqualTo(65);
        assertThat(limits(RANK_3).confirm()).isEqualTo(45);
    }

    @Test
    void whatIsShorterThanFiveSecondsIsNoPauseThatIsKnown() {
        for (int i = 0; i < 3; i++) {
            pause(4.9, RANK_0);
        }
        assertThat(limits(RANK_0).confirm()).isEqualTo(600);
        for (int i = 0; i < 3; i++) {
            pause(5, RANK_0);
        }
        assertThat(limits(RANK_0).confirm()).isEqualTo(45);
    }

    @Test
    void pausesOfSeveralPicturesAreNotUniform() {
        for (int i = 0; i < 5; i++) {
            pause(20, RANK_0);
        }
        pause(20, ALL_SPIN);

        assertThat(limits(RANK_3).confirm()).isEqualTo(600);
    }

    @Test
    void pausesInWhichManyIdleAreNeverUniform() {
        for (int i = 0; i < 5; i++) {
            pause(20, picture(Kind.ALL_IDLE));
        }

        assertThat(limits(RANK_0).confirm()).isEqualTo(600);
    }

    @Test
    void onlyPicturesThatWereSeenForAGoodPartOfThePauseAreLearned() {
        pauses.learn(100, Map.of(RANK_0, 86.0, ALL_SPIN, 14.0), false);
        assertThat(limits(ALL_SPIN)).isEqualTo(new Limits(6, 45));
        pauses.learn(100, Map.of(RANK_0, 85.0, ALL_SPIN, 15.0), false);
        assertThat(limits(ALL_SPIN).suspect()).isEqualTo(1.25 * 15 + 2);
    }

    @Test
    void oneAlarmIsChanceAndTheNextIsSuspectedAsEarlyButConfirmedLater() {
        pauses.learn(100, Map.of(ALL_SPIN, 100.0), true);

        assertThat(limits(ALL_SPIN)).isEqualTo(new Limits(6, 165));
    }

    @Test
    void twoAlarmsAreAHabit() {
        pauses.learn(100, Map.of(ALL_SPIN, 100.0), true);
        pauses.learn(50, Map.of(ALL_SPIN, 50.0), true);

        assertThat(limits(ALL_SPIN)).isEqualTo(new Limits(127, 165));
    }

    @Test
    void anAlarmThatWasMuchShorterIsAnotherChance() {
        pauses.learn(100, Map.of(ALL_SPIN, 100.0), true);
        pauses.learn(49, Map.of(ALL_SPIN, 49.0), true);

        assertThat(limits(ALL_SPIN).suspect()).isEqualTo(6);
    }

    @Test
    void anAlarmMakesNoPauseKnown() {
        for (int i = 0; i < 6; i++) {
            pauses.learn(20, Map.of(RANK_0, 20.0), true);
        }

        assertThat(limits(RANK_3).confirm()).isEqualTo(600);
    }

    @Test
    void aThousandDifferentPicturesTakeNoMoreRoomThanForty() {
        List<Integer> sizes = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            for (int j = 0; j < 10; j++) {
                pause(10 + j, picture(Kind.FEW_IDLE, i));
                pauses.learn(10, Map.of(picture(Kind.SOME_IDLE, i), 10.0), true);
            }
            sizes.add(saved(pauses).getSerializedSize());
        }
        assertThat(saved(pauses).getPausesCount()).isLessThanOrEqualTo(80);
        assertThat(saved(pauses).getLengthsMsCount()).isEqualTo(200);
        assertThat(sizes.get(999)).isLessThanOrEqualTo(sizes.get(200) + 200);
    }

    @Test
    void whatIsSavedAndRestoredGivesTheSameLimits() {
        List<Kind> kinds = List.of(Kind.values());
        for (int i = 0; i < 90; i++) {
            Kind kind = kinds.get(i % kinds.size());
            double seconds = 1.005 + 0.37 * i;
            pauses.learn(seconds, Map.of(picture(kind, i % 5), seconds), i % 11 == 0);
        }
        Pauses next = new Pauses();
        pause(3, RANK_0);
        next.restore(saved(pauses));

        for (Kind kind : Kind.values()) {
            for (int rank = 0; rank < 6; rank++) {
                for (Witness witness : Witness.values()) {
                    Picture picture = picture(kind, rank);
                    Limits before = pauses.limits(picture, true, witness);
                    Limits after = next.limits(picture, true, witness);
                    assertThat(after.suspect()).as("%s", picture).isEqualTo(before.suspect(), within(0.002));
                    assertThat(after.confirm()).as("%s", picture).isEqualTo(before.confirm(), within(0.002));
                }
            }
        }
        assertThat(saved(next)).isEqualTo(saved(pauses));
    }

    @Test
    void aPictureThatThisVersionDoesNotKnowIsLeftOut() {
        pauses.restore(JobProfile.newBuilder()
                .addPauses(LearnedPauses.newBuilder().setPicture("DANCING").addLengthsMs(90_000))
                .addPauses(LearnedPauses.newBuilder().setPicture("ALL_SPIN").addLengthsMs(90_000))
                .build());

        assertThat(saved(pauses).getPausesList())
                .extracting(LearnedPauses::getPicture)
                .containsExactly("ALL_SPIN");
    }

    private static JobProfile saved(Pauses pauses) {
        JobProfile.Builder profile = JobProfile.newBuilder();
        pauses.save(profile);
        return profile.build();
    }
}

package dev.unhang.healer.detect.job;

import static dev.unhang.events.v1.IncidentKind.JOB_HANG;
import static dev.unhang.events.v1.IncidentKind.RANK_MISSING;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NewsTest {

    private static final long AT_MS = 70_000;

    private final News news = new News();

    @Test
    void theSameIsWorthWordsAgainAfterFiveSecondsLessTheJitterOfALook() {
        assertThat(news.worthWords(JOB_HANG, false, 7, AT_MS)).isTrue();
        assertThat(news.worthWords(JOB_HANG, false, 7, AT_MS + 1_000)).isFalse();
        assertThat(news.worthWords(JOB_HANG, false, 7, AT_MS + 4_899)).isFalse();
        assertThat(news.worthWords(JOB_HANG, false, 7, AT_MS + 4_900)).isTrue();
        assertThat(news.worthWords(JOB_HANG, false, 7, AT_MS + 5_900)).isFalse();
    }

    @Test
    void anotherKindIsNewsAtOnce() {
        news.worthWords(JOB_HANG, false, 7, AT_MS);

        assertThat(news.worthWords(RANK_MISSING, false, 7, AT_MS + 1_000)).isTrue();
    }

    @Test
    void whatIsSureNowIsNewsAtOnce() {
        news.worthWords(JOB_HANG, false, 7, AT_MS);

        assertThat(news.worthWords(JOB_HANG, true, 7, AT_MS + 1_000)).isTrue();
    }

    @Test
    void whatRestsOnSomethingElseIsNewsAtOnce() {
        news.worthWords(JOB_HANG, false, 7, AT_MS);

        assertThat(news.worthWords(JOB_HANG, false, 8, AT_MS + 1_000)).isTrue();
    }

    @Test
    void afterNothingWasSaidTheSameIsNewsAgain() {
        news.worthWords(JOB_HANG, false, 7, AT_MS);
        news.nothing();

        assertThat(news.worthWords(JOB_HANG, false, 7, AT_MS + 1_000)).isTrue();
    }
}

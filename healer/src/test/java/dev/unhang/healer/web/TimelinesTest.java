package dev.unhang.healer.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JournalEntry;
import org.junit.jupiter.api.Test;

class TimelinesTest {

    private static JournalEntry entry(String incident, boolean first, String sentence) {
        return JournalEntry.newBuilder()
                .setIncident(incident)
                .setFrom(first ? IncidentState.INCIDENT_STATE_NONE : IncidentState.INCIDENT_HELD)
                .setTo(IncidentState.INCIDENT_HELD)
                .setSentence(sentence)
                .build();
    }

    @Test
    void aTimelineThatBeginsWithTheOpeningIsComplete() {
        Timelines timelines = new Timelines(10);
        timelines.add(entry("a", true, "opened"));
        timelines.add(entry("a", false, "held"));
        timelines.add(entry("b", false, "held"));
        timelines.add(entry("", false, "of no incident"));
        assertThat(timelines.of("a").complete()).isTrue();
        assertThat(timelines.of("a").entries())
                .extracting(Timelines.Entry::sentence)
                .containsExactly("opened", "held");
        assertThat(timelines.of("b").complete()).isFalse();
        timelines.add(
                JournalEntry.newBuilder().setIncident("d").setRefused(true).build());
        assertThat(timelines.of("d").complete()).as("an answer opens nothing").isFalse();
        assertThat(timelines.of("c")).isEqualTo(Timelines.Timeline.NOTHING);
    }

    @Test
    void ofAVeryLongOneTheFirstAndTheNewestStay() {
        Timelines timelines = new Timelines(10_000);
        for (int i = 0; i < Timelines.MOST_OF_ONE + 5; i++) {
            timelines.add(entry("a", i == 0, "entry " + i));
        }
        assertThat(timelines.of("a").entries())
                .hasSize(Timelines.MOST_OF_ONE)
                .extracting(Timelines.Entry::sentence)
                .startsWith("entry 0", "entry 1")
                .endsWith("entry " + (Timelines.MOST_OF_ONE + 4))
                .doesNotContain("entry 20");
        assertThat(timelines.of("a").complete()).isFalse();
    }

    @Test
    void whenAllIsFullTheIncidentThatWasQuietForLongestLosesIts() {
        Timelines timelines = new Timelines(4);
        timelines.add(entry("a", true, "1"));
        timelines.add(entry("b", true, "2"));
        timelines.add(entry("a", false, "3"));
        timelines.add(entry("c", true, "4"));
        assertThat(timelines.of("b").entries()).hasSize(1);
        timelines.add(entry("c", false, "5"));
        assertThat(timelines.of("b").entries()).isEmpty();
        assertThat(timelines.of("a").entries()).hasSize(2);
        assertThat(timelines.of("c").entries()).hasSize(2);
    }

    @Test
    void aSentenceOfAnyLengthTakesBoundedMemory() {
        Timelines timelines = new Timelines(4);
        timelines.add(entry("a", true, "x".repeat(100_000)));
        assertThat(timelines.of("a").entries().get(0).sentence()).hasSize(4_001).endsWith("…");
    }
}

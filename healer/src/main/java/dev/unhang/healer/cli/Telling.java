package dev.unhang.healer.cli;

import dev.unhang.healer.text.SafeText;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** Times, counts and suspects as people read them. All that comes from a healer goes through {@link SafeText}. */
final class Telling {

    static final int NAME = 80;
    static final int SENTENCE = 600;

    private Telling() {}

    static String name(String text) {
        return SafeText.of(text, NAME);
    }

    static String sentence(String text) {
        return SafeText.of(text, SENTENCE);
    }

    /** {@code 2026-01-01T00:00:00Z (3 min ago)}; a time that cannot be read is shown as it came. */
    static String when(String iso, Instant now) {
        try {
            Instant at = Instant.parse(iso);
            Duration age = Duration.between(at, now);
            String shown = at.truncatedTo(ChronoUnit.SECONDS).toString();
            return age.isNegative() ? shown : shown + " (" + duration(age) + " ago)";
        } catch (DateTimeException e) {
            return name(iso);
        }
    }

    static String duration(Duration duration) {
        long seconds = duration.toSeconds();
        if (seconds < 100) {
            return seconds + " s";
        }
        if (seconds < 100 * 60) {
            return seconds / 60 + " min";
        }
        return seconds < 48 * 3600 ? seconds / 3600 + " h" : seconds / 86_400 + " days";
    }

    static String count(long count, String one, String many) {
        return count + " " + (count == 1 ? one : many);
    }

    /** {@code node-1 rank 3 GPU-… (high)}. */
    static String suspect(Answer suspect) {
        StringBuilder text = new StringBuilder(name(suspect.text("node")));
        if (suspect.has("rank")) {
            text.append(" rank ").append(suspect.number("rank"));
        }
        if (!suspect.text("gpu").isEmpty()) {
            text.append(' ').append(name(suspect.text("gpu")));
        }
        if (!suspect.text("confidence").isEmpty()) {
            text.append(" (").append(name(suspect.text("confidence"))).append(')');
        }
        return text.toString();
    }

    /** Who is to blame, shortly: the best suspect, else the nodes that the incident touches. */
    static String blame(Answer incident) {
        if (!incident.objects("suspects").isEmpty()) {
            int others = incident.objects("suspects").size() - 1;
            return suspect(incident.objects("suspects").get(0)) + (others > 0 ? " and " + others + " more" : "");
        }
        return names(incident, "nodes", 3);
    }

    static String names(Answer answer, String member, int most) {
        var names = answer.texts(member);
        String shown =
                String.join(", ", names.stream().limit(most).map(Telling::name).toList());
        return names.size() > most ? shown + " and " + (names.size() - most) + " more" : shown;
    }

    static String number(double value) {
        return String.format(Locale.ROOT, Math.abs(value) < 10 ? "%.3f" : "%.1f", value);
    }
}

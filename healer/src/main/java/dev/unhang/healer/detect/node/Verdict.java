package dev.unhang.healer.detect.node;

import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.Severity;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.Suspect;
import java.util.List;
import java.util.Map;

/**
 * What a watch holds of one subject now.
 *
 * @param sameness what must differ before the same standing is said again: a measured number in the evidence moves all
 *     the time and is no news
 */
record Verdict(
        IncidentKind kind,
        String subject,
        Standing standing,
        Severity severity,
        long ageMs,
        String sameness,
        List<Suspect> suspects,
        List<String> evidence,
        Map<String, Double> figures) {

    Verdict {
        suspects = List.copyOf(suspects);
        evidence = List.copyOf(evidence);
        figures = Map.copyOf(figures);
    }

    static Verdict well(IncidentKind kind, String subject, String evidence) {
        return new Verdict(kind, subject, Standing.WELL, Severity.INFO, 0, "", List.of(), List.of(evidence), Map.of());
    }
}

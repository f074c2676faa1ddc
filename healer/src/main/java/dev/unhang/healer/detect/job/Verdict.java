package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.Suspect;
import java.util.List;
import java.util.Map;

/**
 * What a look at a job came to: a trouble with its evidence, or that the job is well. Suspects best first; evidence in
 * sentences that a person can check.
 *
 * @param kind {@code INCIDENT_KIND_UNSPECIFIED}: the job is well, and the evidence says why
 * @param ageMs how long ago it began
 * @param cause subject of the finding on a node, a port or a GPU that explains it; empty: none is known
 * @param figures what was measured, with the unit in the name
 */
record Verdict(
        IncidentKind kind,
        boolean confirmed,
        long ageMs,
        List<Suspect> suspects,
        List<String> evidence,
        String cause,
        Map<String, Double> figures) {

    Verdict {
        suspects = List.copyOf(suspects);
        evidence = List.copyOf(evidence);
        figures = Map.copyOf(figures);
    }

    static Verdict well(String why) {
        return new Verdict(IncidentKind.INCIDENT_KIND_UNSPECIFIED, false, 0, List.of(), List.of(why), "", Map.of());
    }

    boolean isWell() {
        return kind == IncidentKind.INCIDENT_KIND_UNSPECIFIED;
    }
}

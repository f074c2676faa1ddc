package dev.unhang.healer.web;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.GuardAnswer;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.Suspect;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;

/**
 * How an incident reads in JSON. The names are stable: scripts and the command line read them. Times are ISO 8601 from
 * the stamps of the log; what is not known is left out, never null.
 */
final class IncidentJson {

    private IncidentJson() {}

    static JsonObject of(Incident incident) {
        Finding finding = incident.getFinding();
        JsonObject json = new JsonObject()
                .put("id", incident.getId())
                .put("kind", Words.of(incident.getKind()))
                .put("subject", incident.getSubject())
                .put("state", Words.of(incident.getState()))
                .put("severity", Words.of(incident.getSeverity(), "SEVERITY_"))
                .put("open", Words.open(incident))
                .put("confirmed", Words.confirmed(incident))
                .put("nodes", new JsonArray(List.copyOf(finding.getNodesList())))
                .put("evidence", new JsonArray(List.copyOf(finding.getEvidenceList())))
                .put("suspects", suspects(finding))
                .put("attempts", incident.getAttempts());
        time(json, "since", incident.getOpenedStampMs());
        time(json, "onset", incident.getOnsetStampMs());
        time(json, "closed", incident.getClosedStampMs());
        text(json, "job", finding.getJob());
        text(json, "heldReason", incident.getHeldReason());
        text(json, "cause", incident.getCause());
        text(json, "closedBy", incident.getClosedBy());
        if (finding.getFiguresCount() > 0) {
            JsonObject figures = new JsonObject();
            finding.getFiguresMap().forEach((name, value) -> {
                if (Double.isFinite(value)) {
                    figures.put(name, value);
                }
            });
            json.put("figures", figures);
        }
        return json;
    }

    static JsonObject withTimeline(Incident incident, Timelines.Timeline timeline) {
        JsonArray entries = new JsonArray();
        timeline.entries().forEach(entry -> entries.add(entry(entry)));
        return of(incident).put("timeline", entries).put("timelineComplete", timeline.complete());
    }

    static void time(JsonObject json, String name, long stampMs) {
        if (stampMs != 0) {
            json.put(name, Instant.ofEpochMilli(stampMs).toString());
        }
    }

    static void text(JsonObject json, String name, String value) {
        if (!value.isEmpty()) {
            json.put(name, value);
        }
    }

    private static JsonObject entry(Timelines.Entry entry) {
        JsonObject json = new JsonObject();
        time(json, "at", entry.stampMs());
        json.put("from", Words.of(entry.from())).put("to", Words.of(entry.to())).put("sentence", entry.sentence());
        text(json, "who", entry.who());
        if (entry.refused()) {
            json.put("refused", true);
        }
        if (!entry.guards().isEmpty()) {
            JsonArray guards = new JsonArray();
            for (GuardAnswer guard : entry.guards()) {
                guards.add(new JsonObject()
                        .put("guard", guard.getGuard())
                        .put("allowed", guard.getAllowed())
                        .put("reason", guard.getReason()));
            }
            json.put("guards", guards);
        }
        return json;
    }

    private static JsonArray suspects(Finding finding) {
        JsonArray suspects = new JsonArray();
        for (Suspect suspect : finding.getSuspectsList()) {
            JsonObject json = new JsonObject().put("node", suspect.getNode());
            if (suspect.hasRank()) {
                json.put("rank", Integer.toUnsignedLong(suspect.getRank()));
            }
            text(json, "gpu", suspect.getGpu());
            if (Double.isFinite(suspect.getScore())) {
                json.put("score", suspect.getScore());
            }
            text(json, "confidence", suspect.getConfidence());
            json.put("evidence", new JsonArray(List.copyOf(suspect.getEvidenceList())));
            suspects.add(json);
        }
        return suspects;
    }
}

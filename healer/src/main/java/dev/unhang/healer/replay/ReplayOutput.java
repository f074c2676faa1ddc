package dev.unhang.healer.replay;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.Suspect;
import dev.unhang.healer.incident.Kinds;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Locale;

/** Prints what a replay decided: JSON lines for programs, a table for people. Not thread safe. */
final class ReplayOutput {

    private static final JsonFactory JSON = new JsonFactory();

    private final PrintWriter out;
    private final boolean json;

    ReplayOutput(PrintWriter out, boolean json) {
        this.out = out;
        this.json = json;
    }

    void heading() {
        if (!json) {
            out.println(String.format(
                    Locale.ROOT, "%-28s %8s  %-12s %-24s %s", "TRACE", "SECOND", "EVENT", "INCIDENT", "WHAT"));
        }
    }

    void line(String trace, Line line) throws IOException {
        if (json) {
            out.println(jsonOf(trace, line));
        } else if (!line.event().equals("updated")) {
            Incident incident = line.incident();
            out.println(String.format(
                    Locale.ROOT,
                    "%-28s %8.1f  %-12s %-24s %s",
                    trace,
                    line.seconds(),
                    line.event(),
                    incident == null ? "" : incident.getId(),
                    words(line)));
        }
    }

    private static String words(Line line) {
        Offer offer = line.offer();
        if (offer != null) {
            return offer.getAction() + " on " + offer.getNode() + ": " + line.sentence();
        }
        StringBuilder words = new StringBuilder();
        if (line.finding().getSuspectsCount() > 0) {
            Suspect first = line.finding().getSuspects(0);
            words.append(first.getNode());
            if (first.hasRank()) {
                words.append(" rank ").append(first.getRank());
            }
            words.append(" (").append(first.getConfidence()).append("): ");
        }
        return words.append(line.sentence()).toString();
    }

    void summary(Replay.Summary summary, long wallMs) throws IOException {
        if (!json) {
            out.println(String.format(
                    Locale.ROOT,
                    "%-28s %8.1f  %-12s %d records in %d ms",
                    summary.trace(),
                    summary.seconds(),
                    "end",
                    summary.records(),
                    wallMs));
            return;
        }
        StringWriter text = new StringWriter();
        try (JsonGenerator gen = JSON.createGenerator(text)) {
            gen.writeStartObject();
            gen.writeStringField("trace", summary.trace());
            gen.writeStringField("event", "summary");
            gen.writeNumberField("records", summary.records());
            gen.writeNumberField("seconds", Math.round(summary.seconds() * 10) / 10.0);
            gen.writeNumberField("wall_ms", wallMs);
            gen.writeEndObject();
        }
        out.println(text);
    }

    private static String jsonOf(String trace, Line line) throws IOException {
        StringWriter text = new StringWriter();
        try (JsonGenerator gen = JSON.createGenerator(text)) {
            gen.writeStartObject();
            gen.writeStringField("trace", trace);
            gen.writeNumberField("t", line.seconds());
            gen.writeStringField("event", line.event());
            Incident incident = line.incident();
            Offer offer = line.offer();
            if (incident != null) {
                gen.writeStringField("incident", incident.getId());
                gen.writeStringField("kind", Kinds.name(incident.getKind()));
                gen.writeStringField("subject", incident.getSubject());
                gen.writeStringField("severity", incident.getSeverity().name().toLowerCase(Locale.ROOT));
                if (!line.finding().getJob().isEmpty()) {
                    gen.writeStringField("job", line.finding().getJob());
                }
                gen.writeNumberField("onset", line.onset());
                if (!incident.getCause().isEmpty()) {
                    gen.writeStringField("cause", incident.getCause());
                }
                suspects(gen, line);
            } else if (offer != null) {
                gen.writeStringField("incident", offer.getIncident());
                gen.writeStringField("action", offer.getAction());
                gen.writeStringField("node", offer.getNode());
            }
            gen.writeStringField("sentence", line.sentence());
            gen.writeEndObject();
        }
        return text.toString();
    }

    private static void suspects(JsonGenerator gen, Line line) throws IOException {
        gen.writeArrayFieldStart("suspects");
        for (Suspect suspect : line.finding().getSuspectsList()) {
            gen.writeStartObject();
            gen.writeStringField("node", suspect.getNode());
            if (suspect.hasRank()) {
                gen.writeNumberField("rank", suspect.getRank());
            }
            if (!suspect.getGpu().isEmpty()) {
                gen.writeStringField("gpu", suspect.getGpu());
            }
            gen.writeNumberField("score", suspect.getScore());
            gen.writeStringField("confidence", suspect.getConfidence());
            gen.writeEndObject();
        }
        gen.writeEndArray();
        gen.writeArrayFieldStart("evidence");
        for (String sentence : line.finding().getEvidenceList()) {
            gen.writeString(sentence);
        }
        gen.writeEndArray();
    }
}

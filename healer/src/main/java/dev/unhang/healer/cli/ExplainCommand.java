package dev.unhang.healer.cli;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** One incident: what is wrong, the evidence, and what happened, in plain sentences. */
@Command(name = "explain", description = "Explains one incident: its evidence and what happened.")
final class ExplainCommand extends AskingCommand {

    @Parameters(paramLabel = "ID", description = "An incident, as job-hang-1a2b3c4d.")
    String id = "";

    ExplainCommand(Surroundings here) {
        super(here);
    }

    @Override
    HealerClient.Reply ask(HealerClient healer) {
        return healer.get("/api/v1/incidents/"
                + URLEncoder.encode(id, StandardCharsets.UTF_8).replace("+", "%20"));
    }

    @Override
    int exit(Answer incident) {
        return incident.flag("confirmed") ? Exit.WRONG : Exit.WELL;
    }

    @Override
    void tell(Answer incident) {
        line(here.bold(Telling.name(incident.text("id")), incident.flag("confirmed") ? 31 : 33) + ": "
                + Telling.name(incident.text("kind")) + " of " + Telling.name(incident.text("subject")) + ", "
                + Telling.name(incident.text("state")) + ", " + Telling.name(incident.text("severity")));
        time("It began", incident, "onset");
        time("It was noticed", incident, "since");
        time("It was closed", incident, "closed");
        String nodes = Telling.names(incident, "nodes", 20);
        if (!nodes.isEmpty()) {
            line("It touches " + nodes + ".");
        }
        if (!incident.text("heldReason").isEmpty()) {
            line("It is held: " + Telling.sentence(incident.text("heldReason")));
        }
        if (!incident.text("cause").isEmpty()) {
            line("It is explained by " + Telling.name(incident.text("cause")) + ".");
        }
        if (!incident.text("closedBy").isEmpty()) {
            line("Why it was closed: " + Telling.sentence(incident.text("closedBy")));
        }
        evidence(incident);
        timeline(incident);
    }

    private void time(String what, Answer incident, String member) {
        if (incident.has(member)) {
            line(what + " at " + Telling.when(incident.text(member), here.now().get()) + ".");
        }
    }

    private void evidence(Answer incident) {
        List<String> sentences = incident.texts("evidence");
        if (!sentences.isEmpty()) {
            line("");
            line("Evidence");
            sentences.forEach(sentence -> line("  - " + Telling.sentence(sentence)));
        }
        List<Answer> suspects = incident.objects("suspects");
        if (!suspects.isEmpty()) {
            line("");
            line("Suspects, best first");
            for (Answer suspect : suspects) {
                line("  - " + Telling.suspect(suspect) + ", score " + Telling.number(suspect.real("score")));
                suspect.texts("evidence").forEach(sentence -> line("      " + Telling.sentence(sentence)));
            }
        }
    }

    private void timeline(Answer incident) {
        line("");
        line("What happened");
        if (!incident.flag("timelineComplete")) {
            line("  (older entries are in the journal only)");
        }
        for (Answer entry : incident.objects("timeline")) {
            String from = entry.text("from");
            String to = entry.text("to");
            String who = entry.text("who");
            line("  " + Telling.name(entry.text("at")) + "  "
                    + (from.equals(to) ? "" : Telling.name(to) + ": ")
                    + Telling.sentence(entry.text("sentence"))
                    + (who.isEmpty() ? "" : " (by " + Telling.name(who) + ")"));
            for (Answer guard : entry.objects("guards")) {
                line("      guard " + Telling.name(guard.text("guard"))
                        + (guard.flag("allowed") ? " allows" : " refuses")
                        + (guard.text("reason").isEmpty() ? "" : ": " + Telling.sentence(guard.text("reason"))));
            }
        }
    }
}

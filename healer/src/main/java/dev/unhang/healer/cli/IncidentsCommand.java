package dev.unhang.healer.cli;

import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The incidents, worst first. */
@Command(name = "incidents", description = "Lists the open incidents, worst first.")
final class IncidentsCommand extends AskingCommand {

    @Option(names = "--all", description = "Also those that are closed.")
    boolean all;

    IncidentsCommand(Surroundings here) {
        super(here);
    }

    @Override
    HealerClient.Reply ask(HealerClient healer) {
        return healer.get("/api/v1/incidents?state=" + (all ? "all" : "open"));
    }

    @Override
    int exit(Answer answer) {
        return answer.objects("incidents").stream().anyMatch(incident -> incident.flag("confirmed"))
                ? Exit.WRONG
                : Exit.WELL;
    }

    @Override
    void tell(Answer answer) {
        List<Answer> incidents = answer.objects("incidents");
        if (incidents.isEmpty()) {
            line(all ? "There are no incidents." : "There are no open incidents.");
            return;
        }
        Table table = new Table("INCIDENT", "SUBJECT", "STATE", "SEVERITY", "SINCE", "WHO");
        for (Answer incident : incidents) {
            table.row(
                    incident.text("id"),
                    incident.text("subject"),
                    incident.text("state"),
                    incident.text("severity"),
                    Telling.when(incident.text("since"), here.now().get()),
                    Telling.blame(incident));
        }
        table.lines().forEach(this::line);
        if (answer.number("total") > incidents.size()) {
            line("and " + (answer.number("total") - incidents.size()) + " more");
        }
    }
}

package dev.unhang.healer.cli;

import java.util.List;
import picocli.CommandLine.Command;

/** Is anything wrong, what, who is to blame, who is watched, is the healer blind, in which mode does it run. */
@Command(name = "status", description = "Tells whether anything is wrong, and what.")
final class StatusCommand extends AskingCommand {

    StatusCommand(Surroundings here) {
        super(here);
    }

    @Override
    HealerClient.Reply ask(HealerClient healer) {
        return healer.get("/api/v1/status");
    }

    @Override
    int exit(Answer status) {
        return switch (status.text("verdict")) {
            case "well", "suspected" -> Exit.WELL;
            default -> Exit.WRONG;
        };
    }

    @Override
    void tell(Answer status) {
        line(verdict(status));
        for (Answer incident : status.objects("incidents")) {
            incident(incident);
        }
        long shown = status.objects("incidents").size();
        long all = status.number("confirmed") + status.number("suspected");
        if (all > shown) {
            line("  and " + (all - shown) + " more: see `unhang incidents`");
        }
        Answer nodes = status.object("nodes");
        line("Nodes: " + nodes.number("watched") + " watched, " + counted(nodes, "silent", "silentNames") + ", "
                + counted(nodes, "unwatched", "unwatchedNames")
                + (nodes.number("unknown") > 0 ? ", " + nodes.number("unknown") + " not heard of lately" : "")
                + (nodes.number("notCovered") > 0 ? ", " + nodes.number("notCovered") + " not covered now" : ""));
        Answer gpus = status.object("gpus");
        Answer nics = status.object("nics");
        line("GPUs: " + gpus.number("seen") + " seen, " + gpus.number("faulty") + " faulty; NICs: "
                + nics.number("seen") + " seen, " + nics.number("down") + " down");
        List<String> blind = status.texts("blind");
        if (blind.isEmpty()) {
            line("Sight: the healer sees all of its log");
        }
        for (String reason : blind) {
            line(here.bold("Blind:", 31) + " " + Telling.sentence(reason));
        }
        line("Mode: " + mode(status));
    }

    private String verdict(Answer status) {
        long confirmed = status.number("confirmed");
        long suspected = status.number("suspected");
        return switch (status.text("verdict")) {
            case "well" ->
                nobody(status.object("nodes"))
                        ? "Nothing is watched yet: no node has reported"
                        : here.bold("All is well", 32) + ": nothing is wrong on what is watched";
            case "suspected" ->
                here.bold("Nothing is certain yet", 33) + ": " + Telling.count(suspected, "suspicion", "suspicions");
            case "wrong" ->
                here.bold("Something is wrong", 31) + ": "
                        + Telling.count(confirmed, "incident", "incidents")
                        + (suspected > 0 ? " and " + Telling.count(suspected, "suspicion", "suspicions") : "")
                        + (status.texts("blind").isEmpty() ? "" : ", and the healer does not see all");
            case "blind" ->
                here.bold("The healer is blind", 31) + ": what it does not see may be wrong"
                        + (suspected > 0 ? "; " + Telling.count(suspected, "suspicion", "suspicions") : "");
            default -> "The healer says '" + Telling.name(status.text("verdict")) + "'";
        };
    }

    private static boolean nobody(Answer nodes) {
        return nodes.number("watched") + nodes.number("silent") + nodes.number("unwatched") + nodes.number("unknown")
                == 0;
    }

    private void incident(Answer incident) {
        line("  " + Telling.name(incident.text("id")) + "  " + Telling.name(incident.text("subject")) + "  "
                + Telling.name(incident.text("state")) + ", " + Telling.name(incident.text("severity")) + ", since "
                + Telling.when(incident.text("since"), here.now().get()));
        String blame = Telling.blame(incident);
        if (!blame.isEmpty()) {
            line("      " + (incident.objects("suspects").isEmpty() ? "touches: " : "to blame: ") + blame);
        }
        incident.texts("evidence").stream().limit(1).forEach(sentence -> line("      " + Telling.sentence(sentence)));
        if (!incident.text("heldReason").isEmpty()) {
            line("      held: " + Telling.sentence(incident.text("heldReason")));
        }
    }

    private static String counted(Answer nodes, String watch, String names) {
        String some = Telling.names(nodes, names, 5);
        return nodes.number(watch) + " " + watch + (some.isEmpty() ? "" : " (" + some + ")");
    }

    private static String mode(Answer status) {
        String mode = Telling.name(status.text("mode"));
        String meaning = switch (mode) {
            case "observe" -> " (it tells and acts on nothing)";
            case "approve" -> " (it acts when a person approves)";
            case "enforce" -> " (it acts by itself)";
            default -> "";
        };
        return mode
                + meaning
                + (status.flag("paused")
                        ? ", paused by " + Telling.name(status.text("pausedBy")) + ": "
                                + Telling.sentence(status.text("pausedWhy"))
                        : "");
    }
}

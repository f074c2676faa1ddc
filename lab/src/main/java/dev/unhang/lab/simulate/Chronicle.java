package dev.unhang.lab.simulate;

import dev.unhang.events.v1.Command;
import dev.unhang.events.v1.CommandState;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.StateChange;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The journal, read by the rules' own eyes: the story of each command and each incident. Confined to one thread. */
final class Chronicle {

    /** One value of a command with the entry that wrote it. */
    record Page(int at, JournalEntry entry, Command command) {}

    /** A step of an incident. */
    record Turn(int at, JournalEntry entry, IncidentState from, IncidentState to) {}

    private final Map<String, List<Page>> commands = new LinkedHashMap<>();
    private final Map<String, Incident> incidents = new LinkedHashMap<>();
    private final Map<String, List<Turn>> turns = new LinkedHashMap<>();
    private int entries;

    void take(List<JournalEntry> committed) {
        for (JournalEntry entry : committed) {
            for (StateChange change : entry.getChangesList()) {
                if (change.hasValue() && change.getValue().hasCommand()) {
                    Command command = change.getValue().getCommand();
                    commands.computeIfAbsent(command.getId(), id -> new ArrayList<>())
                            .add(new Page(entries, entry, command));
                } else if (change.hasValue() && change.getValue().hasIncident()) {
                    Incident incident = change.getValue().getIncident();
                    incidents.put(incident.getId(), incident);
                }
            }
            if (!entry.getIncident().isEmpty() && entry.getFrom() != entry.getTo()) {
                turns.computeIfAbsent(entry.getIncident(), id -> new ArrayList<>())
                        .add(new Turn(entries, entry, entry.getFrom(), entry.getTo()));
            }
            entries++;
        }
    }

    int entries() {
        return entries;
    }

    List<Page> story(String command) {
        return commands.getOrDefault(command, List.of());
    }

    /** When the command first was in a state, or null. */
    @Nullable
    Page first(String command, CommandState state) {
        for (Page page : story(command)) {
            if (page.command().getState() == state) {
                return page;
            }
        }
        return null;
    }

    @Nullable
    Command last(String command) {
        List<Page> story = story(command);
        return story.isEmpty() ? null : story.get(story.size() - 1).command();
    }

    Map<String, List<Page>> commands() {
        return commands;
    }

    @Nullable
    Incident incident(String id) {
        return incidents.get(id);
    }

    Map<String, Incident> incidents() {
        return incidents;
    }

    List<Turn> turns(String incident) {
        return turns.getOrDefault(incident, List.of());
    }
}

package dev.unhang.healer.replay;

import dev.unhang.events.v1.Command;
import dev.unhang.events.v1.CommandState;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.StateChange;
import dev.unhang.healer.incident.Kinds;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One line of what a replay prints: a transition of an incident, another change of it, or an action that would have been
 * offered.
 *
 * @param seconds when, in seconds of the trace
 * @param event the new state, {@code updated} or {@code action}
 * @param sentence why, for people
 * @param incident null for an action without one
 * @param offer the action, or null
 */
public record Line(
        double seconds,
        String event,
        String sentence,
        @Nullable Incident incident,
        @Nullable Offer offer) {

    static List<Line> of(JournalEntry entry) {
        List<Line> lines = new ArrayList<>(1);
        double seconds = seconds(entry.getStampMs());
        for (StateChange change : entry.getChangesList()) {
            if (change.getValue().hasIncident()) {
                String event = entry.getFrom() == entry.getTo() ? "updated" : Kinds.name(entry.getTo());
                lines.add(new Line(
                        seconds, event, entry.getSentence(), change.getValue().getIncident(), null));
            }
        }
        for (StateChange change : entry.getChangesList()) {
            if (change.getValue().hasCommand()) {
                Command command = change.getValue().getCommand();
                if (command.getState() == CommandState.COMMAND_OFFERED) {
                    lines.add(new Line(seconds, "action", entry.getSentence(), null, command.getOffer()));
                }
            }
        }
        return lines;
    }

    static double seconds(long stampMs) {
        return (stampMs - Trace.EPOCH_MS) / 1000.0;
    }

    /** When what is wrong began, in seconds of the trace. */
    public double onset() {
        Incident of = incident;
        return of == null ? seconds : seconds(of.getOnsetStampMs());
    }

    /** What the incident rests on: suspects and evidence. */
    public Finding finding() {
        Incident of = incident;
        return of == null ? Finding.getDefaultInstance() : of.getFinding();
    }
}

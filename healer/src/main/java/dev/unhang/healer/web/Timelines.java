package dev.unhang.healer.web;

import dev.unhang.events.v1.GuardAnswer;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JournalEntry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What the journal says of each incident, in its order. Bounded: at most {@code most} entries in all, of which the
 * incidents that were quiet for longest lose theirs first, and at most {@link #MOST_OF_ONE} of one incident, of which
 * the first few and the newest are kept. A timeline that lost entries says so. One thread adds, any thread reads.
 */
final class Timelines {

    static final int MOST_OF_ONE = 400;
    private static final int KEPT_FIRST = 20;
    private static final int MOST_TEXT = 4_000;

    /** One line of a timeline: what of a journal entry concerns people, without the state that it changed. */
    record Entry(
            long stampMs,
            IncidentState from,
            IncidentState to,
            String sentence,
            String who,
            boolean refused,
            List<GuardAnswer> guards) {
        Entry {
            guards = List.copyOf(guards);
        }

        /** Whether it is the first of its incident; an answer that changed nothing has no states at all. */
        boolean opens() {
            return from == IncidentState.INCIDENT_STATE_NONE && to != IncidentState.INCIDENT_STATE_NONE;
        }

        static Entry of(JournalEntry entry) {
            return new Entry(
                    entry.getStampMs(),
                    entry.getFrom(),
                    entry.getTo(),
                    shortened(entry.getSentence()),
                    entry.getWho(),
                    entry.getRefused(),
                    entry.getGuardsList());
        }
    }

    /** What is known of one incident. {@code complete} is false when older entries are no longer in memory. */
    record Timeline(List<Entry> entries, boolean complete) {
        static final Timeline NOTHING = new Timeline(List.of(), false);
    }

    private final int most;
    private final Map<String, Timeline> byIncident = new ConcurrentHashMap<>();
    private final Set<String> quietestFirst = java.util.Collections.newSetFromMap(new LinkedHashMap<>());
    private int held;

    Timelines(int most) {
        this.most = most;
    }

    void add(JournalEntry journaled) {
        String id = journaled.getIncident();
        if (id.isEmpty()) {
            return;
        }
        Entry entry = Entry.of(journaled);
        @Nullable Timeline before = byIncident.get(id);
        List<Entry> entries = before == null ? new ArrayList<>() : new ArrayList<>(before.entries());
        boolean complete = before == null ? entry.opens() : before.complete();
        entries.add(entry);
        held++;
        if (entries.size() > MOST_OF_ONE) {
            entries.remove(KEPT_FIRST);
            complete = false;
            held--;
        }
        byIncident.put(id, new Timeline(List.copyOf(entries), complete));
        quietestFirst.remove(id);
        quietestFirst.add(id);
        while (held > most && quietestFirst.size() > 1) {
            String quietest = quietestFirst.iterator().next();
            quietestFirst.remove(quietest);
            held -= Objects.requireNonNull(byIncident.remove(quietest))
                    .entries()
                    .size();
        }
    }

    Timeline of(String incident) {
        return byIncident.getOrDefault(incident, Timeline.NOTHING);
    }

    static String shortened(String sentence) {
        return sentence.length() <= MOST_TEXT ? sentence : sentence.substring(0, MOST_TEXT) + "…";
    }

    void clear() {
        byIncident.clear();
        quietestFirst.clear();
        held = 0;
    }
}

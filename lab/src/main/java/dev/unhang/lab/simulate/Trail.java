package dev.unhang.lab.simulate;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;

/**
 * The last events of a run, for whoever reads why a seed failed: faults, crashes, what was decided and done. What goes on
 * each second is left out. Confined to one thread.
 */
final class Trail {

    static final int KEPT = 50;

    private record Event(long atNs, String what) {}

    private final Deque<Event> last = new ArrayDeque<>();
    private final Agenda agenda;
    private final int kept;
    private long events;

    Trail(Agenda agenda, int kept) {
        this.agenda = agenda;
        this.kept = kept;
    }

    void note(String what) {
        events++;
        last.addLast(new Event(agenda.nowNs(), what));
        if (last.size() > kept) {
            last.removeFirst();
        }
    }

    long events() {
        return events;
    }

    List<String> lines() {
        List<String> lines = new ArrayList<>(last.size());
        for (Event event : last) {
            lines.add(String.format(Locale.ROOT, "%10.3f s  %s", event.atNs() / 1e9, event.what()));
        }
        return lines;
    }
}

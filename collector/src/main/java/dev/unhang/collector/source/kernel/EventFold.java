package dev.unhang.collector.source.kernel;

import dev.unhang.events.v1.KernelEvent;
import dev.unhang.events.v1.KernelKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Folds equal lines into one event with a count, for a driver can print the same line hundreds of thousands of times.
 * Equal is what has the same kind, code, address, process, instance, link and severity. The first goes out at the next
 * flush, what follows each ten seconds with its count; whatever is not equal goes out at once. Where one GPU's code
 * comes with ever new pids, those beyond 32 are folded together, so the memory is bounded. Confined to one thread.
 */
final class EventFold {

    static final long EACH_NS = 10_000_000_000L;
    static final int MOST_PIDS = 32;
    private static final int MOST_KEYS = 1024;
    private static final int OVERFLOW_PID = -1;

    private record Key(KernelKind kind, int code, String pci, int pid, int instance, int link, String severity) {}

    private record Subject(KernelKind kind, int code, String pci) {}

    private static final class Entry {
        KernelEvent first = KernelEvent.getDefaultInstance();
        int count;
        long sentNs;
        boolean sent;
    }

    private final Map<Key, Entry> entries = new LinkedHashMap<>();
    private final Map<Subject, Integer> pids = new HashMap<>();

    void add(KernelEvent event) {
        Key key = key(event, event.getPid());
        Entry entry = entries.get(key);
        if (entry == null) {
            Subject subject = new Subject(event.getKind(), event.getCode(), event.getPci());
            if (pids.getOrDefault(subject, 0) >= MOST_PIDS || entries.size() >= MOST_KEYS) {
                key = key(event, OVERFLOW_PID);
                entry = entries.get(key);
            }
            if (entry == null) {
                if (entries.size() >= 2 * MOST_KEYS) {
                    key = new Key(event.getKind(), 0, "", OVERFLOW_PID, 0, 0, "");
                }
                entry = entries.computeIfAbsent(key, ignored -> new Entry());
                pids.merge(subject, 1, Integer::sum);
            }
        }
        if (entry.count == 0) {
            entry.first = event;
        }
        entry.count += Math.max(1, event.getCount());
    }

    /** What is due, in the order of the log. */
    List<KernelEvent> flush(long nowNs) {
        TreeMap<Long, List<KernelEvent>> due = new TreeMap<>();
        for (Iterator<Map.Entry<Key, Entry>> each = entries.entrySet().iterator(); each.hasNext(); ) {
            Map.Entry<Key, Entry> next = each.next();
            Entry entry = next.getValue();
            boolean waited = !entry.sent || nowNs - entry.sentNs >= EACH_NS;
            if (entry.count > 0 && waited) {
                due.computeIfAbsent(entry.first.getLogSeq(), ignored -> new ArrayList<>())
                        .add(entry.first.toBuilder().setCount(entry.count).build());
                entry.count = 0;
                entry.sent = true;
                entry.sentNs = nowNs;
            } else if (waited) {
                // Silent for ten seconds: the next of its kind is news again.
                each.remove();
                Subject subject = new Subject(
                        next.getKey().kind(),
                        next.getKey().code(),
                        next.getKey().pci());
                pids.computeIfPresent(subject, (ignored, count) -> count > 1 ? count - 1 : null);
            }
        }
        List<KernelEvent> events = new ArrayList<>();
        due.values().forEach(events::addAll);
        return events;
    }

    /** How many different lines are held. */
    int size() {
        return entries.size();
    }

    private static Key key(KernelEvent event, int pid) {
        return new Key(
                event.getKind(),
                event.getCode(),
                event.getPci(),
                pid,
                event.getHasGpuInstance() ? event.getGpuInstance() : -1,
                event.getLink(),
                event.getSeverity());
    }
}

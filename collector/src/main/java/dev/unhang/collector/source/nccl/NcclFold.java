package dev.unhang.collector.source.nccl;

import dev.unhang.events.v1.NcclEvent;
import dev.unhang.events.v1.NcclKind;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Folds equal words of one rank into one event with a count, and lets out a few at a time: a job that breaks says the same
 * thing thousands of times. The first of its kind goes out at once, what follows each ten seconds. Memory is bounded: when
 * too many differ, they are told without whom they name. Confined to one thread.
 */
final class NcclFold {

    static final int MOST_AT_ONCE = 8;
    static final long EACH_NS = 10_000_000_000L;
    static final int MOST_KEYS = 256;

    private record Key(int pid, long startTicks, NcclKind kind, String peer, int code, List<Integer> ranks) {}

    private static final class Entry {
        NcclEvent first = NcclEvent.getDefaultInstance();
        int count;
        boolean sent;
        long sentNs;
    }

    private final Map<Key, Entry> entries = new LinkedHashMap<>();

    void add(NcclEvent event) {
        Key key = new Key(
                event.getPid(),
                event.getStartTicks(),
                event.getKind(),
                event.getPeer(),
                event.getCode(),
                event.getRanksList());
        NcclEvent kept = event;
        if (!entries.containsKey(key) && entries.size() >= MOST_KEYS) {
            // The kinds and ranks of a node are few, so this ends.
            key = new Key(event.getPid(), event.getStartTicks(), event.getKind(), "", 0, List.of());
            kept = event.toBuilder().clearPeer().clearCode().clearRanks().build();
        }
        Entry entry = entries.computeIfAbsent(key, ignored -> new Entry());
        if (entry.count == 0) {
            entry.first = kept;
        }
        entry.count++;
    }

    /** What is due, eldest first. */
    List<NcclEvent> flush(long nowNs) {
        List<NcclEvent> due = new ArrayList<>();
        for (Iterator<Entry> each = entries.values().iterator(); each.hasNext(); ) {
            Entry entry = each.next();
            boolean waited = !entry.sent || nowNs - entry.sentNs >= EACH_NS;
            if (entry.count > 0 && waited && due.size() < MOST_AT_ONCE) {
                due.add(entry.first.toBuilder().setCount(entry.count).build());
                entry.count = 0;
                entry.sent = true;
                entry.sentNs = nowNs;
            } else if (entry.count == 0 && waited) {
                each.remove(); // silent for ten seconds: the next of its kind is news again
            }
        }
        return due;
    }

    int size() {
        return entries.size();
    }
}

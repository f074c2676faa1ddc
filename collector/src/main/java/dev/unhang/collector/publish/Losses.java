package dev.unhang.collector.publish;

import dev.unhang.events.v1.Loss;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/** How many records were dropped since the collector started, by kind. Any thread counts and reads. */
public final class Losses {

    /** Larger than the broker takes. */
    public static final String OVERSIZE = "oversize";

    /** The broker refuses what is in the record itself; sending it again would end the same. */
    public static final String REFUSED = "refused";

    private final Map<String, AtomicLong> counts = new ConcurrentSkipListMap<>();

    public void count(String kind) {
        counts.computeIfAbsent(kind, ignored -> new AtomicLong()).incrementAndGet();
    }

    public long of(String kind) {
        AtomicLong count = counts.get(kind);
        return count == null ? 0 : count.get();
    }

    /** For the next sample: only kinds that lost something, in the order of their names. */
    public List<Loss> all() {
        List<Loss> all = new ArrayList<>();
        counts.forEach((kind, count) ->
                all.add(Loss.newBuilder().setKind(kind).setCount(count.get()).build()));
        return all;
    }
}

package dev.unhang.collector.source.nccl;

import dev.unhang.collector.source.Source;
import dev.unhang.collector.source.libc.RegularFile;
import dev.unhang.events.v1.Loss;
import dev.unhang.events.v1.NcclEvent;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeSample;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the ranks of this node say in their own NCCL and PyTorch logs: which peer does not answer, which device failed. A
 * file is read from where it ends when its rank is first seen, and stays open as long as the rank lives and five seconds
 * more, for the last words are the ones that count. Reads at most 1 MiB a call. A file that may not be read is told of
 * once, in the collector's own log. Confined to its worker thread.
 */
public final class NcclSource implements Source {

    private static final Logger log = LoggerFactory.getLogger(NcclSource.class);

    private static final Duration DEADLINE = Duration.ofSeconds(2);
    static final long LINGER_NS = 5_000_000_000L;
    private static final long LEFT_NS = 60_000_000_000L;
    static final int MOST_FILES = 128;
    static final int MOST_BYTES = 1024 * 1024;
    private static final int MOST_REFUSED = 1024;

    private static final class Rank {
        final RankLogs logs;
        long seenNs;

        Rank(RankLogs logs) {
            this.logs = logs;
        }
    }

    private static final class Log {
        final LogTail tail;
        final NcclLines lines = new NcclLines();
        final Set<RankProcess> owners = new LinkedHashSet<>();
        Speaker last = Speaker.UNKNOWN;
        long usedNs;

        Log(LogTail tail) {
            this.tail = tail;
        }
    }

    private final Path proc;
    private final Supplier<List<RankProcess>> ranks;
    private final LongSupplier monoNs;
    private final Map<RankProcess, Rank> known = new HashMap<>();
    private final Map<Object, Log> logs = new LinkedHashMap<>();
    private final Set<Object> refused = new HashSet<>();
    private final NcclFold fold = new NcclFold();
    private final byte[] buffer = LogTail.newBuffer();
    private int turn;
    private long skips;

    /** @param ranks the ranks on this node as found last, without those that are not to be watched; any thread */
    public NcclSource(Path proc, Supplier<List<RankProcess>> ranks, LongSupplier monoNs) {
        this.proc = proc;
        this.ranks = ranks;
        this.monoNs = monoNs;
    }

    @Override
    public String name() {
        return "nccl";
    }

    @Override
    public Duration deadline() {
        return DEADLINE;
    }

    @Override
    public Reading read() {
        long now = monoNs.getAsLong();
        for (RankProcess each : ranks.get()) {
            Rank rank = known.get(each);
            boolean first = rank == null;
            if (rank == null) {
                rank = new Rank(RankLogs.of(proc, each));
                known.put(each, rank);
            }
            rank.seenNs = now;
            look(rank.logs, first, now);
        }
        drain(now);
        forget(now);
        NodeSample.Builder part = NodeSample.newBuilder();
        long lost = skips
                + logs.values().stream().mapToLong(each -> each.tail.skips()).sum();
        if (lost > 0) {
            part.addLost(Loss.newBuilder().setKind("nccl-log").setCount(lost));
        }
        List<NodeEvent> events = fold.flush(now).stream()
                .map(event -> NodeEvent.newBuilder().setNccl(event).build())
                .toList();
        return new Reading(part.build(), null, events);
    }

    @Override
    public void close() {
        logs.values().forEach(each -> each.tail.close());
        logs.clear();
    }

    /** How many files are open. */
    int open() {
        return logs.size();
    }

    private void look(RankLogs rank, boolean first, long now) {
        for (RankLogs.Place place : rank.places()) {
            Object identity = RegularFile.identity(place.path());
            if (identity == null || refused.contains(identity)) {
                continue;
            }
            Log one = logs.get(identity);
            if (one == null && logs.size() < MOST_FILES) {
                one = open(rank, place, identity, place.begunByNccl() && !first);
            }
            if (one != null) {
                one.owners.add(rank.process());
                one.usedNs = now;
            }
        }
    }

    private @Nullable Log open(RankLogs rank, RankLogs.Place place, Object identity, boolean fromStart) {
        try {
            RegularFile file = RegularFile.open(place.path(), identity);
            Log opened = new Log(fromStart ? LogTail.fromStart(file, buffer) : LogTail.fromEnd(file, buffer));
            logs.put(identity, opened);
            return opened;
        } catch (IOException e) {
            refuse(identity);
            log.atInfo()
                    .addKeyValue("pid", rank.process().pid())
                    .log(
                            "the log of rank {} ({}) cannot be read ({}), so the peers that it names stay unknown",
                            rank.process().rank(),
                            place.words(),
                            e.getClass().getSimpleName());
            return null;
        }
    }

    private void refuse(Object identity) {
        if (refused.size() >= MOST_REFUSED) {
            refused.clear();
        }
        refused.add(identity);
    }

    /** Each file in turn, so that a chatty one does not silence the others. */
    private void drain(long now) {
        List<Map.Entry<Object, Log>> all = new ArrayList<>(logs.entrySet());
        int left = MOST_BYTES;
        int done = 0;
        for (; done < all.size() && left > 0; done++) {
            Map.Entry<Object, Log> each = all.get(Math.floorMod(turn + done, all.size()));
            Log one = each.getValue();
            try {
                int length = one.tail.drain(line -> accept(one, line));
                left -= length;
                one.usedNs = length > 0 ? now : one.usedNs;
            } catch (IOException e) {
                // As ESTALE of a file server: it will not become better by asking again.
                log.atDebug().setCause(e).log("a rank's log cannot be read any more");
                refuse(each.getKey());
                close(each.getKey(), one);
            }
        }
        turn = all.isEmpty() ? 0 : Math.floorMod(turn + done, all.size());
    }

    private void accept(Log one, String line) {
        Speaker speaker = Speaker.of(line);
        if (speaker.known()) {
            one.last = speaker;
        }
        NcclEvent.Builder event = one.lines.parse(line);
        RankProcess who = event == null ? null : owner(one);
        if (event != null && who != null) {
            fold.add(event.setPid(who.pid()).setStartTicks(who.startTicks()).build());
        }
    }

    /** The rank of this node that spoke last in the file; null where that was another's, or nobody can tell. */
    private @Nullable RankProcess owner(Log one) {
        if (!one.last.known()) {
            return one.owners.size() == 1 ? one.owners.iterator().next() : null;
        }
        for (RankProcess each : one.owners) {
            Rank rank = known.get(each);
            if (rank != null && rank.logs.said(one.last)) {
                return each;
            }
        }
        return null;
    }

    private void forget(long now) {
        known.values().removeIf(rank -> now - rank.seenNs > LINGER_NS);
        for (Map.Entry<Object, Log> each : List.copyOf(logs.entrySet())) {
            Log one = each.getValue();
            one.owners.retainAll(known.keySet());
            if (one.owners.isEmpty() || now - one.usedNs > LEFT_NS) {
                close(each.getKey(), one);
            }
        }
    }

    private void close(Object identity, Log one) {
        one.tail.close();
        skips += one.tail.skips();
        logs.remove(identity);
    }
}

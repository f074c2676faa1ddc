package dev.unhang.healer.decide;

import dev.unhang.events.v1.CoverState;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.Origin;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Which telemetry partitions are covered: only what is covered can be well. A partition is covered while its owner's
 * last {@code Covered} is younger than 5 s of the inbox's log time and told of a lag under 5 s. It also knows the newest
 * generation of each partition, so that what an older owner still says is ignored. Confined to one thread.
 */
final class Coverage {

    static final long FRESH_MS = 5_000;
    static final long LAG_MS = 5_000;

    private record Cover(long generation, long atMs, long lagMs, long goodMs) {}

    private final TreeMap<Integer, Cover> covers = new TreeMap<>();

    Coverage(List<CoverState> states) {
        for (CoverState state : states) {
            covers.put(
                    state.getPartition(),
                    new Cover(
                            state.getGeneration(), state.getAtLogTimeMs(), state.getLagMs(), state.getGoodLogTimeMs()));
        }
    }

    /** Whether what this origin says counts: false for a generation that has been followed by another. */
    boolean heard(Origin origin, long nowMs) {
        Cover known = covers.get(origin.getPartition());
        if (known == null) {
            covers.put(origin.getPartition(), new Cover(origin.getGeneration(), nowMs, Long.MAX_VALUE, nowMs));
            return true;
        }
        if (origin.getGeneration() < known.generation()) {
            return false;
        }
        if (origin.getGeneration() > known.generation()) {
            covers.put(
                    origin.getPartition(),
                    new Cover(origin.getGeneration(), known.atMs(), known.lagMs(), known.goodMs()));
        }
        return true;
    }

    /** Takes what the owner says of itself. Its origin was heard before. */
    void covered(Covered record, long nowMs) {
        int partition = record.getOrigin().getPartition();
        Cover known = covers.get(partition);
        boolean good = record.getLagMs() < LAG_MS;
        long goodMs = good || known == null ? nowMs : known.goodMs();
        covers.put(partition, new Cover(record.getOrigin().getGeneration(), nowMs, record.getLagMs(), goodMs));
    }

    boolean covers(int partition, long nowMs) {
        Cover cover = covers.get(partition);
        return cover != null && nowMs - cover.atMs() < FRESH_MS && cover.lagMs() < LAG_MS;
    }

    /** How long ago the partition was last said to be covered, ms of log time; 0 for one that never spoke. */
    long blindMs(int partition, long nowMs) {
        Cover cover = covers.get(partition);
        return cover == null ? 0 : nowMs - cover.goodMs();
    }

    /** The newest generation that spoke for the partition, or null. */
    @Nullable
    Long generation(int partition) {
        Cover cover = covers.get(partition);
        return cover == null ? null : cover.generation();
    }

    List<CoverState> states() {
        List<CoverState> states = new ArrayList<>(covers.size());
        covers.forEach((partition, cover) -> states.add(CoverState.newBuilder()
                .setPartition(partition)
                .setGeneration(cover.generation())
                .setAtLogTimeMs(cover.atMs())
                .setLagMs(cover.lagMs())
                .setGoodLogTimeMs(cover.goodMs())
                .build()));
        return states;
    }
}

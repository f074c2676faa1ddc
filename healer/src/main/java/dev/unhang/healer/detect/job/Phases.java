package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.Phase;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;

/**
 * The phase of a job as its ranks tell it, and how long each phase has lasted at most. One rank in a checkpoint puts the
 * whole job in it; training is what remains. Times are ms of log time.
 */
final class Phases {

    private static final int LAST = Phase.PHASE_END.getNumber();

    private final Map<Phase, Long> longestMs = new EnumMap<>(Phase.class);
    private Phase now = Phase.PHASE_NONE;
    private long sinceMs;
    private boolean announces;

    /** Goes on from what is known of the job's earlier epochs. */
    Phases(boolean announces, Map<Phase, Long> longestMs, long nowMs) {
        this.announces = announces;
        this.longestMs.putAll(longestMs);
        this.sinceMs = nowMs;
    }

    /** True when the phase is another than at the last look. */
    boolean follow(Collection<RankView> ranks, boolean beats, long nowMs) {
        Phase next = beats ? vote(ranks) : Phase.PHASE_NONE;
        if (next == now) {
            return false;
        }
        announces |= next == Phase.PHASE_CHECKPOINT;
        if (now != Phase.PHASE_NONE && now != Phase.PHASE_TRAIN) {
            longestMs.merge(now, nowMs - sinceMs, Math::max);
        }
        now = next;
        sinceMs = nowMs;
        return true;
    }

    private static Phase vote(Collection<RankView> ranks) {
        int[] votes = new int[LAST + 1];
        for (RankView rank : ranks) {
            votes[rank.phase().getNumber()]++;
        }
        Phase first = Phase.PHASE_NONE;
        int most = 0;
        boolean special = false;
        for (int number = 1; number <= LAST; number++) {
            Phase phase = Phase.forNumber(number);
            int vote = votes[number];
            if (phase == null || vote == 0) {
                continue;
            }
            boolean other = phase != Phase.PHASE_TRAIN && phase != Phase.PHASE_END;
            if ((other && !special) || (other == special && vote > most)) {
                first = phase;
                most = vote;
                special |= other;
            }
        }
        return first;
    }

    Phase now() {
        return now;
    }

    /** It does something else than to train, and has said so. */
    boolean special() {
        return now != Phase.PHASE_NONE && now != Phase.PHASE_TRAIN;
    }

    /** It is not training yet. */
    boolean starting() {
        return now == Phase.PHASE_INIT || now == Phase.PHASE_COMPILE;
    }

    /** Some rank has said that it ends, or most are gone. */
    boolean ending(RollCall roll) {
        return roll.ends || roll.count(RankView.Doing.GONE) * 2 > roll.size();
    }

    /** Its checkpoints are announced: it has announced one. Who announces only evaluations may still save in silence. */
    boolean announces() {
        return announces;
    }

    /** How long the phase that it is in has lasted at most, s; 0 while unknown. */
    double longestSeconds() {
        return longestMs.getOrDefault(now, 0L) / 1000.0;
    }

    /** For people. */
    String words() {
        return now.name().substring("PHASE_".length());
    }

    Map<Phase, Long> longestMs() {
        return Map.copyOf(longestMs);
    }
}

package dev.unhang.healer.detect.job;

import dev.unhang.healer.detect.job.RankView.Doing;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * All ranks of a job as they are at one look: what each does, seen beside the others. Among ranks without GPUs the one
 * that burns its CPU, or that is stopped, is the one that the blocked ones wait for; alone neither could be told.
 */
final class RollCall {

    /**
     * Millicores: a process that waits blocked uses next to nothing, and one that is busy much more than those. On a
     * machine that has more to do than cores a busy one may get a tenth of one, but it is runnable at each look.
     */
    private static final int BUSY = 100;

    private static final int BLOCKED = 30;

    final long nowMs;
    final Map<RankView, Doing> doing;
    final Picture picture;

    /** The training loop of a rank that lives reports progress. What a dead one said last tells nothing of now. */
    final boolean beats;

    private final EnumMap<Doing, Integer> count = new EnumMap<>(Doing.class);

    RollCall(Collection<RankView> ranks, long nowMs) {
        this.nowMs = nowMs;
        Map<RankView, Doing> each = new LinkedHashMap<>();
        for (RankView rank : ranks) {
            each.put(rank, rank.doing(nowMs));
        }
        compareProcesses(each);
        this.doing = each;
        each.values().forEach(one -> count.merge(one, 1, Integer::sum));
        this.picture = Picture.of(each);
        this.beats = each.entrySet().stream()
                .anyMatch(one -> one.getValue() != Doing.GONE
                        && one.getValue() != Doing.SILENT
                        && one.getKey().hasProgress());
    }

    private static void compareProcesses(Map<RankView, Doing> ranks) {
        int busy = 0;
        int blocked = 0;
        for (Map.Entry<RankView, Doing> each : ranks.entrySet()) {
            if (idleProcess(each)) {
                busy += busy(each.getKey()) ? 1 : 0;
                blocked += blocked(each.getKey()) ? 1 : 0;
            }
        }
        if (busy == 0 || busy > blocked) {
            return;
        }
        ranks.entrySet().stream()
                .filter(each -> idleProcess(each) && blocked(each.getKey()))
                .forEach(each -> each.setValue(Doing.SPIN));
    }

    private static boolean idleProcess(Map.Entry<RankView, Doing> rank) {
        return rank.getValue() == Doing.IDLE && !rank.getKey().hasGpu();
    }

    private static boolean busy(RankView rank) {
        return rank.stopped() || rank.report().getState() == 'R' || rank.millicores() >= BUSY;
    }

    private static boolean blocked(RankView rank) {
        return !busy(rank) && rank.millicores() >= 0 && rank.millicores() <= BLOCKED;
    }

    int size() {
        return doing.size();
    }

    int count(Doing what) {
        return count.getOrDefault(what, 0);
    }

    /** Ranks of which something is known now; one that is gone is known. */
    int known() {
        return size() - count(Doing.UNKNOWN);
    }

    /**
     * Too little is seen to judge: when half of a job's nodes fall silent at once, it is the telemetry that is ill. One node
     * may well be half of a small job.
     */
    boolean blind() {
        Set<String> silent = new HashSet<>();
        those(Doing.SILENT).forEach(rank -> silent.add(rank.node()));
        return known() - count(Doing.SILENT) < Math.max(1, size() / 2.0)
                || (silent.size() > 1 && 2 * silent.size() >= nodes().size());
    }

    List<RankView> those(Doing what) {
        return doing.entrySet().stream()
                .filter(each -> each.getValue() == what)
                .map(Map.Entry::getKey)
                .toList();
    }

    Set<String> nodes() {
        Set<String> nodes = new TreeSet<>();
        doing.keySet().forEach(rank -> nodes.add(rank.node()));
        return nodes;
    }
}

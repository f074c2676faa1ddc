package dev.unhang.healer.detect.job;

import dev.unhang.healer.detect.job.RankView.Doing;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

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
    final Picture picture;

    /** The training loop of a rank that lives reports progress. What a dead one said last tells nothing of now. */
    final boolean beats;

    /** Some rank has said that its work is done. */
    final boolean ends;

    /** The longest usual step of a rank, s; 0 while none is known. */
    final double usualStep;

    private final RankView[] ranks;
    private final Doing[] doing;
    private int work;
    private int spin;
    private int idle;
    private int gone;
    private int silent;
    private int unknown;

    RollCall(Collection<RankView> all, long nowMs) {
        this.nowMs = nowMs;
        this.ranks = all.toArray(new RankView[0]);
        this.doing = new Doing[ranks.length];
        for (int i = 0; i < ranks.length; i++) {
            doing[i] = ranks[i].doing(nowMs);
        }
        compareProcesses();
        boolean progress = false;
        boolean end = false;
        int longestUs = 0;
        for (int i = 0; i < ranks.length; i++) {
            counted(doing[i]);
            progress |= doing[i] != Doing.GONE && doing[i] != Doing.SILENT && ranks[i].hasProgress();
            end |= ranks[i].ends();
            longestUs = Math.max(longestUs, ranks[i].report().getUsualStepUs());
        }
        this.beats = progress;
        this.ends = end;
        this.usualStep = longestUs / 1e6;
        this.picture = Picture.of(this);
    }

    private void counted(Doing one) {
        switch (one) {
            case WORK -> work++;
            case SPIN -> spin++;
            case IDLE -> idle++;
            case GONE -> gone++;
            case SILENT -> silent++;
            case UNKNOWN -> unknown++;
        }
    }

    private void compareProcesses() {
        int busy = 0;
        int blocked = 0;
        for (int i = 0; i < ranks.length; i++) {
            if (idleProcess(i)) {
                busy += busy(ranks[i]) ? 1 : 0;
                blocked += blocked(ranks[i]) ? 1 : 0;
            }
        }
        if (busy == 0 || busy > blocked) {
            return;
        }
        for (int i = 0; i < ranks.length; i++) {
            if (idleProcess(i) && blocked(ranks[i])) {
                doing[i] = Doing.SPIN;
            }
        }
    }

    private boolean idleProcess(int i) {
        return doing[i] == Doing.IDLE && !ranks[i].hasGpu();
    }

    private static boolean busy(RankView rank) {
        return rank.stopped() || rank.report().getState() == 'R' || rank.millicores() >= BUSY;
    }

    private static boolean blocked(RankView rank) {
        return !busy(rank) && rank.millicores() >= 0 && rank.millicores() <= BLOCKED;
    }

    int size() {
        return ranks.length;
    }

    /** The ranks in the order of their numbers: the one at a place, from 0. */
    RankView rank(int at) {
        return ranks[at];
    }

    /** What the one at that place does. */
    Doing doing(int at) {
        return doing[at];
    }

    int count(Doing what) {
        return switch (what) {
            case WORK -> work;
            case SPIN -> spin;
            case IDLE -> idle;
            case GONE -> gone;
            case SILENT -> silent;
            case UNKNOWN -> unknown;
        };
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
        if (known() - count(Doing.SILENT) < Math.max(1, size() / 2.0)) {
            return true;
        }
        if (count(Doing.SILENT) < 2) {
            return false;
        }
        Set<String> silentNodes = new HashSet<>();
        Set<String> nodes = new HashSet<>();
        for (int i = 0; i < ranks.length; i++) {
            nodes.add(ranks[i].node());
            if (doing[i] == Doing.SILENT) {
                silentNodes.add(ranks[i].node());
            }
        }
        return silentNodes.size() > 1 && 2 * silentNodes.size() >= nodes.size();
    }
}

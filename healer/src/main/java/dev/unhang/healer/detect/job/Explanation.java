package dev.unhang.healer.detect.job;

import dev.unhang.healer.detect.job.RankView.Doing;

/**
 * What makes a standstill a pause of its own kind: a rank that reads or writes as a checkpoint does, or was found in a call
 * to storage by a look; a debugger, an
 * operator who stopped them all. Stateless.
 */
final class Explanation {

    private Explanation() {}

    /** A sentence; empty: nothing explains it. */
    static String of(RollCall roll) {
        int stopped = 0;
        int there = 0;
        for (int i = 0; i < roll.size(); i++) {
            RankView rank = roll.rank(i);
            Doing doing = roll.doing(i);
            if (doing == Doing.GONE || doing == Doing.SILENT || doing == Doing.UNKNOWN) {
                continue;
            }
            there++;
            stopped += rank.stopped() ? 1 : 0;
            if (rank.traced()) {
                return "rank " + rank.rank + " is traced by process "
                        + rank.report().getTracerPid() + ": somebody looks into it";
            }
            if ((doing == Doing.IDLE || doing == Doing.SPIN) && rank.movesData()) {
                return "rank " + rank.rank + " reads or writes, as for a checkpoint";
            }
            if ((doing == Doing.IDLE || doing == Doing.SPIN) && rank.seenStoring(roll.nowMs)) {
                return "a look at rank " + rank.rank + ": "
                        + rank.look(roll.nowMs).words();
            }
        }
        return there > 1 && stopped == there ? "all ranks are stopped (T): somebody paused the job" : "";
    }
}

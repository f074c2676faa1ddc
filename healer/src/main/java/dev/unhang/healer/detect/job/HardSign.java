package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.NicReport;
import dev.unhang.events.v1.OperState;
import dev.unhang.healer.detect.job.RankView.Doing;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Something that explains a standstill by itself and began with it: a stopped process, a port that went down, a node that
 * fell silent, a GPU that gave up (Xid), a process that is gone. What holds for most ranks at once is no sign against any of them.
 */
record HardSign(RankView rank, Kind kind, long ageMs) {

    enum Kind {
        STOPPED(6),
        GONE(6),
        XID(6),
        SILENT(5),
        PORT_DOWN(5),
        PEER_PORT_DOWN(2);

        final double points;

        Kind(double points) {
            this.points = points;
        }
    }

    private static final long TOGETHER_MS = 15_000;

    /** Where no step is known, others may go on for so long without a rank that is gone, ms. */
    private static final long UNKNOWN_STEP_MS = 120_000;

    /** A process that was stopped later than this after the standstill began was stopped by somebody who looks into it. */
    private static final long STOPPED_AFTER_MS = 10_000;

    /**
     * @param stillMs for how long the job has stood still
     * @param stepMs its usual step: what happens within one stops the others at its end
     * @param ending it is about to end, so what is gone is no sign
     */
    static List<HardSign> of(RollCall roll, long stillMs, long stepMs, boolean ending) {
        List<HardSign> signs = new ArrayList<>(0);
        stopped(roll, stillMs, signs);
        ports(roll, stillMs, stepMs, signs);
        silent(roll, stillMs, stepMs, signs);
        xids(roll, stillMs, stepMs, signs);
        if (!ending) {
            gone(roll, stillMs, stepMs, signs);
        }
        return signs;
    }

    private static void stopped(RollCall roll, long stillMs, List<HardSign> signs) {
        List<RankView> stopped = new ArrayList<>(0);
        for (int i = 0; i < roll.size(); i++) {
            if (roll.rank(i).stopped() && roll.doing(i) != Doing.GONE && roll.doing(i) != Doing.SILENT) {
                stopped.add(roll.rank(i));
            }
        }
        if (stopped.size() == roll.size() || stopped.size() > Math.max(1, roll.size() / 2)) {
            return;
        }
        for (RankView rank : stopped) {
            if (rank.stoppedMs(roll.nowMs) >= stillMs - STOPPED_AFTER_MS) {
                signs.add(new HardSign(rank, Kind.STOPPED, rank.stoppedMs(roll.nowMs)));
            }
        }
    }

    private static void ports(RollCall roll, long stillMs, long stepMs, List<HardSign> signs) {
        List<HardSign> found = new ArrayList<>(0);
        Set<String> ownEnd = new HashSet<>();
        for (int i = 0; i < roll.size(); i++) {
            RankView rank = roll.rank(i);
            NicReport port = rank.portDown();
            if (port == null || roll.doing(i) == Doing.GONE) {
                continue;
            }
            long down = rank.portDownMs(port, roll.nowMs);
            if (!together(down, stillMs, stepMs)) {
                continue; // it was down before and carried nothing of this job
            }
            boolean peer = port.getState() == OperState.OPER_STATE_LOWER_LAYER_DOWN;
            if (!peer) {
                ownEnd.add(rank.node());
            }
            found.add(new HardSign(rank, peer ? Kind.PEER_PORT_DOWN : Kind.PORT_DOWN, down));
        }
        if (ownEnd.size() > 1 && ownEnd.size() > nodes(roll) / 2) {
            return;
        }
        for (HardSign sign : found) {
            if (ownEnd.isEmpty() || ownEnd.contains(sign.rank().node())) {
                signs.add(sign);
            }
        }
    }

    private static int nodes(RollCall roll) {
        Set<String> nodes = new HashSet<>();
        for (int i = 0; i < roll.size(); i++) {
            nodes.add(roll.rank(i).node());
        }
        return nodes.size();
    }

    private static void silent(RollCall roll, long stillMs, long stepMs, List<HardSign> signs) {
        if (roll.count(Doing.SILENT) == 0) {
            return;
        }
        List<HardSign> found = new ArrayList<>();
        Set<String> silent = new HashSet<>();
        for (int i = 0; i < roll.size(); i++) {
            RankView rank = roll.rank(i);
            long quiet = rank.silentMs(roll.nowMs);
            if (roll.doing(i) == Doing.SILENT && together(quiet, stillMs, stepMs)) {
                silent.add(rank.node());
                found.add(new HardSign(rank, Kind.SILENT, quiet));
            }
        }
        int nodes = nodes(roll);
        if (silent.size() < nodes && silent.size() <= Math.max(1, nodes / 4)) {
            signs.addAll(found);
        }
    }

    /** It began with the standstill, or within the step before. */
    private static boolean together(long ageMs, long stillMs, long stepMs) {
        return ageMs >= stillMs - TOGETHER_MS && ageMs <= stillMs + stepMs + TOGETHER_MS;
    }

    private static void xids(RollCall roll, long stillMs, long stepMs, List<HardSign> signs) {
        for (int i = 0; i < roll.size(); i++) {
            RankView rank = roll.rank(i);
            long age = rank.fatalXidMs(roll.nowMs);
            if (age >= 0 && roll.doing(i) != Doing.GONE && together(age, stillMs, stepMs)) {
                signs.add(new HardSign(rank, Kind.XID, age));
            }
        }
    }

    /** A rank that left long before, while the others trained on, is not what they wait for. */
    private static void gone(RollCall roll, long stillMs, long stepMs, List<HardSign> signs) {
        if (roll.count(Doing.GONE) == 0) {
            return;
        }
        long within = stillMs + (stepMs > 0 ? stepMs + TOGETHER_MS : UNKNOWN_STEP_MS);
        List<HardSign> found = new ArrayList<>();
        for (int i = 0; i < roll.size(); i++) {
            RankView rank = roll.rank(i);
            if (roll.doing(i) == Doing.GONE && rank.goneMs(roll.nowMs) <= within) {
                found.add(new HardSign(rank, Kind.GONE, rank.goneMs(roll.nowMs)));
            }
        }
        if (found.size() < roll.size()) {
            signs.addAll(found);
        }
    }

    /**
     * It may go with a pause: processes that end one after the other, or a port of which nobody knows whether the job
     * uses it.
     */
    boolean weak() {
        return kind == Kind.GONE || ((kind == Kind.PORT_DOWN || kind == Kind.PEER_PORT_DOWN) && !rank.pathsKnown());
    }

    String words() {
        String who = "rank " + rank.rank + " on " + rank.node();
        return switch (kind) {
            case STOPPED -> who + " is in process state T (stopped) for " + ageMs / 1000 + " s";
            case GONE -> "the process of " + who + " is gone for " + ageMs / 1000 + " s";
            case XID -> "Xid " + rank.report().getFatalXid() + " on a GPU of " + who + " " + ageMs / 1000 + " s ago";
            case SILENT -> "node " + rank.node() + " of rank " + rank.rank + " is silent for " + ageMs / 1000 + " s";
            case PORT_DOWN ->
                "a network port of " + rank.node() + " (rank " + rank.rank + ") is down for " + ageMs / 1000 + " s";
            case PEER_PORT_DOWN ->
                "a network port of " + rank.node() + " (rank " + rank.rank + ") has no link for " + ageMs / 1000
                        + " s: the other end, or the cable";
        };
    }
}

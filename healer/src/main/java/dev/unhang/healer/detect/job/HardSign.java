package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.NicReport;
import dev.unhang.events.v1.OperState;
import dev.unhang.healer.detect.job.RankView.Doing;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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
        Map<RankView, Doing> ranks = roll.doing;
        long nowMs = roll.nowMs;
        List<HardSign> signs = new ArrayList<>();
        stopped(ranks, stillMs, nowMs, signs);
        ports(ranks, stillMs, stepMs, nowMs, signs);
        silent(ranks, stillMs, stepMs, nowMs, signs);
        xids(ranks, stillMs, stepMs, nowMs, signs);
        if (!ending) {
            gone(ranks, stillMs, stepMs, nowMs, signs);
        }
        return signs;
    }

    private static void stopped(Map<RankView, Doing> ranks, long stillMs, long nowMs, List<HardSign> signs) {
        List<RankView> stopped = ranks.entrySet().stream()
                .filter(each -> each.getValue() != Doing.GONE && each.getValue() != Doing.SILENT)
                .map(Map.Entry::getKey)
                .filter(RankView::stopped)
                .toList();
        if (stopped.size() == ranks.size() || stopped.size() > Math.max(1, ranks.size() / 2)) {
            return;
        }
        for (RankView rank : stopped) {
            if (rank.stoppedMs(nowMs) >= stillMs - STOPPED_AFTER_MS) {
                signs.add(new HardSign(rank, Kind.STOPPED, rank.stoppedMs(nowMs)));
            }
        }
    }

    private static void ports(Map<RankView, Doing> ranks, long stillMs, long stepMs, long nowMs, List<HardSign> signs) {
        List<HardSign> found = new ArrayList<>();
        Set<String> nodes = new HashSet<>();
        Set<String> ownEnd = new HashSet<>();
        ranks.forEach((rank, doing) -> {
            nodes.add(rank.node());
            NicReport port = rank.portDown();
            if (port == null || doing == Doing.GONE) {
                return;
            }
            long down = rank.portDownMs(port, nowMs);
            if (!together(down, stillMs, stepMs)) {
                return; // it was down before and carried nothing of this job
            }
            boolean peer = port.getState() == OperState.OPER_STATE_LOWER_LAYER_DOWN;
            if (!peer) {
                ownEnd.add(rank.node());
            }
            found.add(new HardSign(rank, peer ? Kind.PEER_PORT_DOWN : Kind.PORT_DOWN, down));
        });
        if (ownEnd.size() > Math.max(1, nodes.size() / 2)) {
            return;
        }
        for (HardSign sign : found) {
            if (ownEnd.isEmpty() || ownEnd.contains(sign.rank().node())) {
                signs.add(sign);
            }
        }
    }

    private static void silent(
            Map<RankView, Doing> ranks, long stillMs, long stepMs, long nowMs, List<HardSign> signs) {
        List<HardSign> found = new ArrayList<>();
        Set<String> nodes = new HashSet<>();
        Set<String> silent = new HashSet<>();
        ranks.forEach((rank, doing) -> {
            nodes.add(rank.node());
            long quiet = rank.silentMs(nowMs);
            if (doing == Doing.SILENT && together(quiet, stillMs, stepMs)) {
                silent.add(rank.node());
                found.add(new HardSign(rank, Kind.SILENT, quiet));
            }
        });
        if (silent.size() < nodes.size() && silent.size() <= Math.max(1, nodes.size() / 4)) {
            signs.addAll(found);
        }
    }

    /** It began with the standstill, or within the step before. */
    private static boolean together(long ageMs, long stillMs, long stepMs) {
        return ageMs >= stillMs - TOGETHER_MS && ageMs <= stillMs + stepMs + TOGETHER_MS;
    }

    private static void xids(Map<RankView, Doing> ranks, long stillMs, long stepMs, long nowMs, List<HardSign> signs) {
        ranks.forEach((rank, doing) -> {
            long age = rank.fatalXidMs(nowMs);
            if (doing != Doing.GONE && age >= 0 && together(age, stillMs, stepMs)) {
                signs.add(new HardSign(rank, Kind.XID, age));
            }
        });
    }

    /** A rank that left long before, while the others trained on, is not what they wait for. */
    private static void gone(Map<RankView, Doing> ranks, long stillMs, long stepMs, long nowMs, List<HardSign> signs) {
        long within = stillMs + (stepMs > 0 ? stepMs + TOGETHER_MS : UNKNOWN_STEP_MS);
        List<HardSign> found = new ArrayList<>();
        ranks.forEach((rank, doing) -> {
            if (doing == Doing.GONE && rank.goneMs(nowMs) <= within) {
                found.add(new HardSign(rank, Kind.GONE, rank.goneMs(nowMs)));
            }
        });
        if (found.size() < ranks.size()) {
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

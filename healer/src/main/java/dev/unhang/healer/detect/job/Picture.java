package dev.unhang.healer.detect.job;

import dev.unhang.healer.detect.job.RankView.Doing;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a standstill looks like, without names of nodes: the kind, and which ranks differ from the rest. Pauses of one job
 * are learned by picture, so that its checkpoints never lengthen the limit for another kind of standstill.
 */
record Picture(Kind kind, List<Integer> who) {

    enum Kind {
        /** All wait in a collective. */
        ALL_SPIN,
        /** One rank, a small share, or all ranks of one node among several are idle while the rest waits for them. */
        FEW_IDLE,
        SOME_IDLE,
        /** A few compute while the rest waits. */
        FEW_WORK,
        ALL_IDLE,
        /** They compute, or too many of them to be waited for, and none makes progress. */
        WORK,
        NOTHING_KNOWN;

        /** Null: no picture of this version has that name. */
        static @Nullable Kind named(String name) {
            for (Kind kind : values()) {
                if (kind.name().equals(name)) {
                    return kind;
                }
            }
            return null;
        }
    }

    private static final int MOST_NAMED = 16;

    Picture {
        who = List.copyOf(who);
    }

    static Picture of(Map<RankView, Doing> ranks) {
        List<Integer> idle = new ArrayList<>();
        List<Integer> work = new ArrayList<>();
        Set<String> idleNodes = new HashSet<>();
        Set<String> nodes = new HashSet<>();
        int spin = 0;
        for (Map.Entry<RankView, Doing> each : ranks.entrySet()) {
            RankView rank = each.getKey();
            nodes.add(rank.node());
            switch (each.getValue()) {
                case IDLE -> {
                    idle.add(rank.rank);
                    idleNodes.add(rank.node());
                }
                case WORK -> work.add(rank.rank);
                case SPIN -> spin++;
                case GONE, SILENT, UNKNOWN -> {}
            }
        }
        int known = idle.size() + work.size() + spin;
        if (known == 0) {
            return new Picture(Kind.NOTHING_KNOWN, List.of());
        }
        if (idle.isEmpty() && work.isEmpty()) {
            return new Picture(Kind.ALL_SPIN, List.of());
        }
        if (spin == 0) {
            return new Picture(work.isEmpty() ? Kind.ALL_IDLE : Kind.WORK, List.of());
        }
        if (idle.isEmpty()) {
            return work.size() <= Math.max(1, known / 8)
                    ? new Picture(Kind.FEW_WORK, work)
                    : new Picture(Kind.WORK, List.of());
        }
        boolean few = idle.size() <= Math.max(1, known / 8)
                || (idleNodes.size() == 1 && nodes.size() > 2 && wholeNode(ranks, idleNodes, idle.size()));
        if (few && idle.size() <= spin) {
            return new Picture(Kind.FEW_IDLE, idle);
        }
        return new Picture(Kind.SOME_IDLE, idle.size() <= MOST_NAMED ? idle : List.of(idle.size()));
    }

    private static boolean wholeNode(Map<RankView, Doing> ranks, Set<String> node, int idle) {
        return ranks.keySet().stream()
                        .filter(rank -> node.contains(rank.node()))
                        .count()
                == idle;
    }

    /** For evidence. */
    String words() {
        return switch (kind) {
            case ALL_SPIN -> "all ranks wait in a collective (GPU busy, power near idle, no traffic)";
            case FEW_IDLE -> ranks() + " in no collective while the others wait in one";
            case SOME_IDLE -> "some ranks are in no collective while the others wait in one";
            case FEW_WORK -> ranks() + " at work while the others wait in a collective";
            case ALL_IDLE -> "no rank computes or communicates";
            case WORK -> "ranks compute, and none makes progress";
            case NOTHING_KNOWN -> "the GPUs of no rank are seen";
        };
    }

    private String ranks() {
        List<String> names = who.stream().map(String::valueOf).toList();
        return (names.size() == 1 ? "rank " : "ranks ")
                + String.join(", ", names)
                + (names.size() == 1 ? " is" : " are");
    }
}

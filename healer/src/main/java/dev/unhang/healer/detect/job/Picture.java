package dev.unhang.healer.detect.job;

import dev.unhang.healer.detect.job.RankView.Doing;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
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

    static Picture of(RollCall roll) {
        int idle = roll.count(Doing.IDLE);
        int work = roll.count(Doing.WORK);
        int spin = roll.count(Doing.SPIN);
        int known = idle + work + spin;
        if (known == 0) {
            return new Picture(Kind.NOTHING_KNOWN, List.of());
        }
        if (idle == 0 && work == 0) {
            return new Picture(Kind.ALL_SPIN, List.of());
        }
        if (spin == 0) {
            return new Picture(work == 0 ? Kind.ALL_IDLE : Kind.WORK, List.of());
        }
        int few = Math.max(1, known / 8);
        if (idle == 0) {
            return work <= few
                    ? new Picture(Kind.FEW_WORK, those(roll, Doing.WORK))
                    : new Picture(Kind.WORK, List.of());
        }
        if (idle <= spin && (idle <= few || areOneOfSeveralNodes(roll))) {
            return new Picture(Kind.FEW_IDLE, those(roll, Doing.IDLE));
        }
        return new Picture(Kind.SOME_IDLE, idle <= MOST_NAMED ? those(roll, Doing.IDLE) : List.of(idle));
    }

    private static List<Integer> those(RollCall roll, Doing what) {
        List<Integer> those = new ArrayList<>(roll.count(what));
        for (int i = 0; i < roll.size(); i++) {
            if (roll.doing(i) == what) {
                those.add(roll.rank(i).rank);
            }
        }
        return those;
    }

    /** The idle ranks are all ranks of one node, and there are more than two. */
    private static boolean areOneOfSeveralNodes(RollCall roll) {
        Set<String> nodes = new HashSet<>();
        String idleNode = null;
        for (int i = 0; i < roll.size(); i++) {
            String node = roll.rank(i).node();
            nodes.add(node);
            if (roll.doing(i) == Doing.IDLE) {
                if (idleNode != null && !idleNode.equals(node)) {
                    return false;
                }
                idleNode = node;
            }
        }
        if (nodes.size() <= 2) {
            return false;
        }
        for (int i = 0; i < roll.size(); i++) {
            if (roll.doing(i) != Doing.IDLE && roll.rank(i).node().equals(idleNode)) {
                return false;
            }
        }
        return true;
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

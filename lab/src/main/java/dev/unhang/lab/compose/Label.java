package dev.unhang.lab.compose;

import java.util.List;

/**
 * A fault of a composed trace, as {@code FORMAT.md} has it.
 *
 * @param cleared infinite when it stays
 * @param cause what was done; the rows of the matrix
 * @param ranks the culprits
 * @param nodes nodes that may be named just as well
 * @param judged whether there is a culprit to be named
 */
record Label(
        String kind,
        double onset,
        double cleared,
        String cause,
        List<Culprit> ranks,
        List<String> nodes,
        boolean judged) {

    Label {
        ranks = List.copyOf(ranks);
        nodes = List.copyOf(nodes);
    }

    record Culprit(String node, int rank) {}

    boolean clears() {
        return !Double.isInfinite(cleared);
    }

    Label clearedAt(double second) {
        return new Label(kind, onset, second, cause, ranks, nodes, judged);
    }
}

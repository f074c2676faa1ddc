package dev.unhang.lab.compose;

import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.Phase;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A stretch of a job's history in which its ranks do something else than train. Times are seconds of the trace; an episode
 * shows in the records after {@code from}, up to that at {@code to}. Made by the planner, then only read.
 */
final class Episode {

    private final int from;
    private final int to;
    private final Act rest;
    private final Map<Integer, Act> acts = new HashMap<>();
    private final Map<Integer, Integer> delays = new HashMap<>();
    private final Map<Integer, OperState> links = new HashMap<>();
    private Phase phase = Phase.PHASE_TRAIN;
    private double slowness;
    private boolean sudden;
    private int silentNode = -1;

    private Episode(int from, int to, Act rest) {
        this.from = from;
        this.to = to;
        this.rest = rest;
    }

    static Episode of(int from, int to, Act rest) {
        return new Episode(from, to, rest);
    }

    Episode with(List<Integer> ranks, Act act) {
        ranks.forEach(rank -> acts.put(rank, act));
        return this;
    }

    /** This rank goes on waiting for so long before it does what the episode says. */
    Episode late(int rank, int seconds) {
        delays.put(rank, seconds);
        return this;
    }

    Episode phase(Phase told) {
        phase = told;
        return this;
    }

    /** Steps go on and take so many times their time. */
    Episode slow(double ratio) {
        slowness = ratio;
        return this;
    }

    /** It begins amid a step: those who only wait first finish what they compute. */
    Episode sudden() {
        sudden = true;
        return this;
    }

    /** The NIC that carries the job, on one node. */
    Episode link(int node, OperState state) {
        links.put(node, state);
        return this;
    }

    Episode silent(int node) {
        silentNode = node;
        return this;
    }

    int from() {
        return from;
    }

    int to() {
        return to;
    }

    boolean covers(int second) {
        return second > from && second <= to;
    }

    /** What that rank does in the second that ends then. */
    Act act(int rank, int second) {
        Integer delay = delays.get(rank);
        if (delay != null && second - from <= delay) {
            return rest == Act.GONE ? Act.ABORTED : Act.WAITS;
        }
        return acts.getOrDefault(rank, rest);
    }

    Phase phase() {
        return phase;
    }

    boolean steps() {
        return slowness > 0;
    }

    double slowness() {
        return slowness;
    }

    boolean isSudden() {
        return sudden;
    }

    @Nullable
    OperState link(int node) {
        return links.get(node);
    }

    boolean isSilent(int node) {
        return node == silentNode;
    }
}

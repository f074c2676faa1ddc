package dev.unhang.lab.compose;

import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.Phase;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What goes wrong in a job, with its label. Each begins now in its history. */
final class Faults {

    /** The recorded straggler's steps took 0.48 s, before 0.08 s. */
    static final double RECORDED_RATIO = 6;

    private final History history;
    private final Draw draw;
    private final Setting setting;

    Faults(History history) {
        this.history = history;
        this.draw = history.draw;
        this.setting = history.setting;
    }

    /** A hang that begins now and lasts. */
    void hang(Cause cause, double seconds) {
        int rank = draw.whole(0, setting.world() - 1);
        switch (cause) {
            case STOPPED -> by(cause, List.of(rank), Act.STOPPED, seconds);
            case LOOPS -> by(cause, List.of(rank), Act.LOOPS, seconds);
            case SLEEPS -> by(cause, List.of(rank), asleep(), seconds);
            case STUCK_KERNEL -> by(cause, List.of(rank), Act.COMPUTES, seconds);
            case RANK_0_AFTER_CHECKPOINTS ->
                by(cause, List.of(0), draw.one(List.of(asleep(), Act.LOOPS, Act.STOPPED)), seconds);
            case KILLED -> by(cause, List.of(rank), Act.GONE, seconds);
            case KILLED_ABORTED -> {
                Episode hang = by(cause, List.of(rank), Act.GONE, seconds);
                for (int other : draw.some(draw.whole(1, setting.world() - 1), setting.world())) {
                    if (other != rank) {
                        hang.with(List.of(other), Act.ABORTED).late(other, draw.whole(0, 25));
                    }
                }
            }
            case SEVERAL -> {
                List<Integer> culprits = draw.some(draw.whole(2, 4), setting.world());
                Act act = draw.one(List.of(Act.STOPPED, Act.LOOPS, asleep(), Act.GONE));
                Episode hang = by(cause, culprits, act, seconds);
                culprits.stream().skip(1).forEach(late -> hang.late(late, draw.whole(0, 2)));
            }
            case CHECKPOINT_NEVER_ENDS -> {
                label(cause, List.of(0), List.of(), true);
                history.next(seconds, Act.WAITS).with(List.of(0), asleep()).phase(history.told(Phase.PHASE_CHECKPOINT));
            }
            case NIC_DOWN -> nicDown(seconds);
            case NODE_SILENT -> {
                int node = draw.whole(0, setting.nodes() - 1);
                label(cause, history.ranksOn(node), List.of(Setting.nodeName(node)), true);
                history.next(seconds, Act.WAITS).silent(node).sudden();
            }
            case ALL_WAIT -> {
                label(cause, List.of(), List.of(), false);
                history.next(seconds, Act.WAITS).sudden();
            }
            case NO_PROGRESS -> {
                label(cause, List.of(), List.of(), false);
                history.next(seconds, Act.COMPUTES);
            }
            case EXIT_OUT_OF_STEP -> {
                List<Integer> left = draw.some(draw.whole(1, Math.max(1, setting.world() / 2)), setting.world());
                label(cause, left, List.of(), true);
                history.next(seconds, Act.WAITS).with(left, Act.GONE);
            }
            case ABSENT, SLOW -> throw new IllegalArgumentException(cause + " is no hang");
        }
    }

    private Act asleep() {
        return draw.chance(0.3) ? Act.SLEEPS_D : Act.SLEEPS;
    }

    private Episode by(Cause cause, List<Integer> culprits, Act act, double seconds) {
        label(cause, culprits, List.of(), true);
        return history.next(seconds, Act.WAITS).with(culprits, act).sudden();
    }

    private void nicDown(double seconds) {
        int node = draw.whole(0, setting.nodes() - 1);
        label(Cause.NIC_DOWN, history.ranksOn(node), List.of(Setting.nodeName(node)), true);
        Episode down = history.next(seconds, Act.CUT_OFF_PEER)
                .with(history.ranksOn(node), Act.CUT_OFF)
                .link(node, OperState.OPER_STATE_DOWN)
                .sudden();
        // Two nodes are joined by one cable; with more there is a switch between them.
        if (setting.nodes() == 2) {
            down.link(1 - node, OperState.OPER_STATE_LOWER_LAYER_DOWN);
        }
    }

    /** The job never starts. */
    void absent(double seconds) {
        List<Integer> missing = draw.some(setting.world() > 2 && draw.chance(0.2) ? 2 : 1, setting.world());
        // Where a rank belongs that never came can be told when only one node has room.
        label("rank-missing", Cause.ABSENT.words(), missing, List.of(), missing.size() == 1 && setting.perNode() == 1);
        history.next(seconds, Act.AWAITS_PEERS).with(missing, Act.GONE).phase(Phase.PHASE_INIT);
    }

    /** As it was recorded. */
    private void straggler(double seconds) {
        int rank = draw.whole(0, setting.world() - 1);
        label("job-slow", "slow as recorded, one rank's CPU", List.of(rank), List.of(), true);
        history.next(seconds, Act.STRAGGLES_PEER)
                .with(List.of(rank), Act.STRAGGLES)
                .slow(RECORDED_RATIO);
    }

    /**
     * Steps that take longer from now on.
     *
     * @param ratio to their length before; {@link #RECORDED_RATIO} for the straggler as it was recorded
     */
    void slow(double ratio, double seconds) {
        if (ratio == RECORDED_RATIO) {
            straggler(seconds);
            return;
        }
        String times = String.format(Locale.ROOT, "slow %.1fx, ", ratio);
        int rank = draw.whole(0, setting.world() - 1);
        int way = draw.whole(0, 2);
        if (way == 2) {
            label("job-slow", times + "all ranks", List.of(), List.of(), false);
            history.next(seconds, Act.SLOW_AS_ALL).slow(ratio);
            return;
        }
        label("job-slow", times + (way == 0 ? "one rank's CPU" : "one rank's GPU"), List.of(rank), List.of(), true);
        history.next(seconds, Act.SLOW_PEER)
                .with(List.of(rank), way == 0 ? Act.SLOW_ON_CPU : Act.SLOW_ON_GPU)
                .slow(ratio);
    }

    private void label(Cause cause, List<Integer> ranks, List<String> nodes, boolean judged) {
        label("job-hang", cause.words(), ranks, nodes, judged);
    }

    private void label(String kind, String cause, List<Integer> ranks, List<String> nodes, boolean judged) {
        List<Label.Culprit> culprits = new ArrayList<>();
        for (int rank : ranks) {
            culprits.add(new Label.Culprit(Setting.nodeName(setting.node(rank)), rank));
        }
        history.labels.add(new Label(kind, history.now, Double.POSITIVE_INFINITY, cause, culprits, nodes, judged));
    }

    /** What was labelled last is over now. */
    void cleared() {
        int last = history.labels.size() - 1;
        history.labels.set(last, history.labels.get(last).clearedAt(history.now));
    }
}

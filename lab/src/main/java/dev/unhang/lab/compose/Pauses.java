package dev.unhang.lab.compose;

import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.Phase;
import java.util.List;

/** The pauses of a healthy job, and what people and cables do to it. Each begins now in its history. */
final class Pauses {

    /** Who writes a checkpoint. */
    enum Writers {
        RANK_0("checkpoint by rank 0"),
        ALL("checkpoint by all"),
        SOME("checkpoint by some");

        private final String words;

        Writers(String words) {
            this.words = words;
        }
    }

    private final History history;
    private final Draw draw;
    private final Setting setting;

    Pauses(History history) {
        this.history = history;
        this.draw = history.draw;
        this.setting = history.setting;
    }

    /** Init, a compilation perhaps, and the first steps. */
    void start() {
        int from = history.now;
        history.next(draw.spread(4, 40), Act.STARTS).phase(Phase.PHASE_INIT);
        if (draw.chance(0.4)) {
            compile(Phase.PHASE_INIT);
            history.benign("warm-up and compile", from, history.announces, false);
        } else {
            history.benign("warm-up", from, setting.tells() != Setting.Tells.NOTHING, false);
        }
    }

    void recompile() {
        int from = history.now;
        compile(Phase.PHASE_TRAIN);
        history.benign("compile amid training", from, history.announces, false);
    }

    private void compile(Phase otherwise) {
        Phase phase = history.announces ? Phase.PHASE_COMPILE : otherwise;
        List<Integer> late = draw.some(draw.whole(1, Math.max(1, setting.world() / 2)), setting.world());
        history.next(draw.spread(15, 300), Act.WAITS).with(late, Act.COMPILES).phase(phase);
    }

    void checkpoint(Writers writers, double seconds, boolean growing) {
        int from = history.now;
        Phase phase = history.told(Phase.PHASE_CHECKPOINT);
        if (writers == Writers.ALL) {
            double tail = draw.one(List.of(0.0, 0.0, 0.1, 0.3));
            history.next(seconds * (1 - tail), Act.WRITES_SHARD).phase(phase);
            if (tail > 0) {
                history.next(seconds * tail, Act.WAITS)
                        .with(draw.some(1, setting.world()), Act.WRITES)
                        .phase(phase);
            }
        } else {
            int every = Math.max(2, setting.world() / 4);
            List<Integer> who = writers == Writers.RANK_0
                    ? List.of(0)
                    : history.allRanks().stream()
                            .filter(rank -> rank % every == 0)
                            .toList();
            history.next(seconds, Act.WAITS).with(who, Act.WRITES).phase(phase);
        }
        history.benign(
                (growing ? "growing " : "") + writers.words,
                from,
                history.announces,
                setting.io() == Setting.Io.COUNTED);
    }

    void evaluation() {
        int from = history.now;
        history.next(draw.spread(15, 500), Act.COMPUTES).phase(history.told(Phase.PHASE_EVAL));
        history.benign("evaluation", from, history.announces, false);
    }

    void inputStall() {
        int from = history.now;
        boolean told = history.announces && draw.chance(0.5);
        history.next(draw.spread(8, 300), Act.STARVES).phase(told ? Phase.PHASE_DATA : Phase.PHASE_TRAIN);
        history.benign("input stall of all ranks", from, told, false);
    }

    void hiccup() {
        int from = history.now;
        history.next(draw.between(2, 6), draw.one(List.of(Act.STARVES, Act.WAITS)));
        history.benign("hiccup", from, false, false);
    }

    void flap() {
        int from = history.now;
        int node = draw.whole(0, setting.nodes() - 1);
        Episode flap = history.next(draw.between(2, 9), Act.CUT_OFF_PEER).link(node, OperState.OPER_STATE_DOWN);
        if (setting.nodes() == 2) {
            flap.link(1 - node, OperState.OPER_STATE_LOWER_LAYER_DOWN);
        }
        history.benign("link flap", from, false, false);
    }

    /** The NIC that carries nothing of the job goes down, in half the cases while rank 0 writes a checkpoint. */
    void oldNic() {
        int from = history.now;
        int down = (int) draw.between(30, 200);
        history.oldNic = Episode.of(from, from + down, Act.TRAINS);
        if (draw.chance(0.5)) {
            history.now += down;
            history.benign("unused NIC down", from, false, false);
            return;
        }
        history.now += 5;
        history.next(down, Act.WAITS).with(List.of(0), Act.WRITES).phase(history.told(Phase.PHASE_CHECKPOINT));
        history.benign(
                "unused NIC down, checkpoint by rank 0", from, history.announces, setting.io() == Setting.Io.COUNTED);
    }

    void debugger() {
        int from = history.now;
        history.next(draw.between(3, 15), Act.WAITS).with(draw.some(1, setting.world()), Act.TRACED);
        history.benign("debugger on a rank", from, false, false);
    }

    void allStopped() {
        int from = history.now;
        Episode stop = history.next(draw.spread(30, 400), Act.STOPPED);
        history.allRanks().forEach(rank -> stop.late(rank, draw.whole(0, 2)));
        history.benign("all ranks stopped by an operator", from, false, false);
    }

    void restart() {
        int from = history.now;
        history.next(draw.between(5, 60), Act.GONE);
        history.restarts.add(history.now);
        history.next(draw.spread(4, 40), Act.STARTS).phase(Phase.PHASE_INIT);
        history.benign("restart", from, false, false);
    }

    void end() {
        int from = history.now;
        Phase phase = history.tellsEnd ? Phase.PHASE_END : Phase.PHASE_TRAIN;
        int way = draw.whole(0, 3);
        String kind = List.of(
                        "end, all together",
                        "end, one after the other",
                        "end, rank 0 saves alone",
                        "end, rank 0 saves while others wait")
                .get(way);
        if (way == 3) {
            history.next(draw.spread(15, 200), Act.WAITS)
                    .with(List.of(0), Act.WRITES)
                    .phase(phase);
        }
        double seconds = way == 2 ? draw.spread(60, 400) : draw.between(40, 100);
        Episode end = history.next(seconds, Act.GONE).phase(phase);
        history.allRanks().forEach(rank -> end.late(rank, draw.whole(0, way == 1 ? 12 : 2)));
        if (way == 2) {
            end.late(0, 0).with(List.of(0), Act.WRITES);
        }
        history.benign(kind, from, history.tellsEnd, way >= 2 && setting.io() == Setting.Io.COUNTED);
    }

    void notebook() {
        int from = history.now;
        history.next(draw.between(600, 1500), Act.HOLDS_MEMORY).phase(Phase.PHASE_INIT);
        history.benign("idle notebook", from, false, false);
    }
}

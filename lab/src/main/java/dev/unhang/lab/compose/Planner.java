package dev.unhang.lab.compose;

import dev.unhang.events.v1.Phase;
import java.util.List;
import java.util.Locale;

/** Draws the whole history of a job from a seed. */
final class Planner {

    private static final List<Cause> HANGS = List.of(
            Cause.STOPPED,
            Cause.LOOPS,
            Cause.SLEEPS,
            Cause.KILLED,
            Cause.KILLED_ABORTED,
            Cause.NIC_DOWN,
            Cause.NODE_SILENT,
            Cause.ALL_WAIT,
            Cause.SEVERAL,
            Cause.RANK_0_AFTER_CHECKPOINTS,
            Cause.CHECKPOINT_NEVER_ENDS,
            Cause.STUCK_KERNEL,
            Cause.NO_PROGRESS,
            Cause.EXIT_OUT_OF_STEP);

    private static final int[] LIKELY = {4, 4, 4, 3, 3, 3, 3, 2, 4, 4, 1, 2, 1, 2};
    private static final List<Double> RATIOS = List.of(1.1, 1.3, 1.5, 2.0, 3.0);

    private static final int LEAST_SECONDS = 300;

    /** What kind of history it is. */
    private enum Story {
        HANG,
        SLOW,
        PEACE,
        ABSENT,
        NOTEBOOK
    }

    private final Story story;
    private final Cause cause;
    private final History history;
    private final Draw draw;
    private final Pauses pauses;
    private final Faults faults;

    private Planner(Draw draw) {
        this.draw = draw;
        story = draw.weighted(List.of(Story.values()), 45, 16, 32, 4, 3);
        cause = draw.weighted(HANGS, LIKELY);
        Setting setting = Setting.draw(draw);
        while (story == Story.HANG && !cause.possible(setting)) {
            setting = Setting.draw(draw);
        }
        history = new History(draw, setting);
        pauses = new Pauses(history);
        faults = new Faults(history);
    }

    static Plan plan(long seed) {
        return new Planner(new Draw(seed)).draw(seed);
    }

    private Plan draw(long seed) {
        switch (story) {
            case NOTEBOOK -> pauses.notebook();
            case ABSENT -> faults.absent(draw.between(700, 1000));
            case PEACE -> peace();
            case SLOW -> slow();
            case HANG -> hang();
        }
        history.now = Math.max(history.now, LEAST_SECONDS);
        String what = story == Story.HANG ? cause.name() : story.name();
        return new Plan(
                seed,
                "s" + seed + "-" + what.toLowerCase(Locale.ROOT).replace('_', '-'),
                history.setting,
                history.episodes,
                history.restarts,
                history.oldNic,
                history.labels,
                history.occasions,
                history.now);
    }

    /** From the start to steady training. */
    private void warm() {
        pauses.start();
        double step = history.setting.stepSeconds();
        history.train(Math.max(40, 10 * step), Math.max(400, 15 * step));
    }

    private void peace() {
        warm();
        checkpoints(draw.one(List.of(0, 1, 2, 3, 5, 8)), 500, 120);
        for (int i = draw.whole(1, 3); i > 0 && history.left() > 300; i--) {
            incidental();
            history.train(60, 250);
        }
        if (draw.chance(0.7)) {
            pauses.end();
        } else {
            history.train(60, 120);
        }
    }

    private void slow() {
        warm();
        checkpoints(draw.one(List.of(0, 0, 1, 3)), 60, 700);
        history.train(150, 300);
        boolean recorded = history.setting.shortSteps() && history.setting.path() == Setting.Path.NIC;
        double ratio = recorded && draw.chance(0.2) ? Faults.RECORDED_RATIO : draw.one(RATIOS);
        faults.slow(
                ratio, Math.min(1200, Math.max(draw.between(300, 600), 12 * ratio * history.setting.stepSeconds())));
        if (draw.chance(0.3)) {
            faults.cleared();
            history.train(200, 300);
        }
    }

    private void hang() {
        warm();
        if (cause == Cause.RANK_0_AFTER_CHECKPOINTS || cause == Cause.CHECKPOINT_NEVER_ENDS) {
            regular(Pauses.Writers.RANK_0, draw.whole(7, 16), draw.spread(6, 30), 1, 500);
        } else {
            checkpoints(draw.one(List.of(0, 0, 1, 2, 3, 5)), 120, 600);
            if (draw.chance(0.3) && history.left() > 900) {
                incidental();
                history.train(60, 200);
            }
        }
        boolean last = cause == Cause.EXIT_OUT_OF_STEP || cause == Cause.CHECKPOINT_NEVER_ENDS;
        if (!last && draw.chance(0.2) && history.left() > 700) {
            passing();
        } else if (draw.chance(0.15) && history.left() > 600) {
            faults.hang(cause, draw.between(60, 250));
            relaunched();
        } else {
            faults.hang(cause, Math.min(draw.between(300, 800), Math.max(300, history.left())));
        }
    }

    /** It hangs, goes on by itself, and perhaps hangs again. */
    private void passing() {
        boolean dead = cause == Cause.KILLED || cause == Cause.KILLED_ABORTED;
        Cause passes = dead ? Cause.STOPPED : cause;
        faults.hang(passes, draw.spread(20, 200));
        faults.cleared();
        history.train(120, 250);
        if (draw.chance(0.4) && history.left() > 350) {
            faults.hang(passes, Math.min(600, history.left()));
        }
    }

    /** Somebody starts the job again: the hang is over with its processes. */
    private void relaunched() {
        faults.cleared();
        history.next(draw.between(8, 40), Act.GONE);
        history.restarts.add(history.now);
        history.next(draw.spread(4, 40), Act.STARTS).phase(Phase.PHASE_INIT);
        history.train(150, 250);
    }

    /** A number of checkpoints; {@code spare} seconds are kept for what comes after them. */
    private void checkpoints(int count, double most, int spare) {
        if (count == 0) {
            return;
        }
        Pauses.Writers writers = draw.weighted(List.of(Pauses.Writers.values()), 6, 3, 2);
        double growth = count > 2 && draw.chance(0.3) ? draw.between(1.15, 1.6) : 1;
        regular(writers, count, draw.spread(8, Math.max(10, most / Math.pow(growth, count - 1))), growth, spare);
    }

    private void regular(Pauses.Writers writers, int count, double seconds, double growth, int spare) {
        double every = draw.spread(40, 250);
        double next = seconds;
        for (int i = 0; i < count && history.left() > spare + next + every; i++) {
            pauses.checkpoint(writers, next * draw.between(0.85, 1.2), growth > 1);
            history.train(every * 0.95, every * 1.05);
            next *= growth;
        }
    }

    private void incidental() {
        switch (draw.whole(0, 8)) {
            case 0, 1 -> pauses.evaluation();
            case 2 -> pauses.inputStall();
            case 3 -> pauses.hiccup();
            case 4 -> pauses.allStopped();
            case 5 -> pauses.debugger();
            case 6 -> pauses.recompile();
            case 7 -> pauses.restart();
            default -> {
                if (history.setting.nodes() > 1 && history.setting.path() != Setting.Path.HIDDEN && draw.chance(0.6)) {
                    pauses.flap();
                } else if (history.setting.secondNic() && history.oldNic == null) {
                    pauses.oldNic();
                } else {
                    pauses.hiccup();
                }
            }
        }
    }
}

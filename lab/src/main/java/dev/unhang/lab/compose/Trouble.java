package dev.unhang.lab.compose;

import java.util.ArrayList;
import java.util.List;

/**
 * What happens to the records between a node and the log, drawn for one job.
 *
 * @param lost share of the records that never arrive; {@code twice} and {@code late} likewise
 * @param gaps collectors that are started anew
 * @param paused when nothing arrives from any node, or a stretch of no length
 * @param resets NICs whose counters begin anew
 */
record Trouble(double lost, double twice, double late, List<Gap> gaps, Gap paused, List<Reset> resets) {

    /** From a second up to another, that not included. */
    record Gap(int node, int from, int to) {
        boolean covers(int second) {
            return second >= from && second < to;
        }
    }

    record Reset(int node, int second) {}

    Trouble {
        gaps = List.copyOf(gaps);
        resets = List.copyOf(resets);
    }

    static Trouble draw(Draw draw, Plan plan) {
        double lost = share(draw);
        double twice = share(draw);
        double late = share(draw);
        int end = plan.seconds();
        List<Gap> gaps = new ArrayList<>();
        if (draw.chance(0.25)) {
            int node = draw.whole(0, plan.setting().nodes() - 1);
            int from = draw.whole(20, end - 30);
            gaps.add(new Gap(node, from, from + draw.whole(4, 25)));
        }
        Gap paused = new Gap(-1, 0, 0);
        if (draw.chance(0.12)) {
            int from = draw.whole(20, end - 60);
            paused = new Gap(-1, from, from + draw.whole(5, 45));
        }
        List<Reset> resets = new ArrayList<>();
        if (draw.chance(0.2)) {
            resets.add(new Reset(draw.whole(0, plan.setting().nodes() - 1), draw.whole(20, end - 10)));
        }
        return new Trouble(lost, twice, late, gaps, paused, resets);
    }

    private static double share(Draw draw) {
        return draw.chance(0.5) ? draw.between(0.01, 0.03) : 0;
    }

    boolean silences(int node, int second) {
        return paused.covers(second) || gaps.stream().anyMatch(gap -> gap.node() == node && gap.covers(second));
    }

    boolean resets(int node, int second) {
        return resets.contains(new Reset(node, second));
    }

    /** None of it is a fault of the job. */
    List<Occasion> occasions() {
        List<Occasion> occasions = new ArrayList<>();
        gaps.forEach(gap -> occasions.add(new Occasion("collector restart", gap.from(), gap.to(), true, false, false)));
        if (paused.to() > paused.from()) {
            occasions.add(new Occasion("telemetry paused", paused.from(), paused.to(), true, false, false));
        }
        resets.forEach(reset -> occasions.add(
                new Occasion("NIC counter reset", reset.second(), reset.second() + 2.0, true, false, false)));
        return occasions;
    }
}

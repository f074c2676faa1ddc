package dev.unhang.lab.compose;

import dev.unhang.events.v1.Phase;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A plan as it grows, from its start to its end. Not thread safe. */
final class History {

    final Draw draw;
    final Setting setting;
    final List<Episode> episodes = new ArrayList<>();
    final List<Label> labels = new ArrayList<>();
    final List<Occasion> occasions = new ArrayList<>();
    final List<Integer> restarts = new ArrayList<>();

    /** The loop announces its checkpoints and evaluations, not only its steps. */
    final boolean announces;

    /** The loop says when it ends. */
    final boolean tellsEnd;

    @Nullable
    Episode oldNic;

    int now;

    private final Set<String> seen = new HashSet<>();

    History(Draw draw, Setting setting) {
        this.draw = draw;
        this.setting = setting;
        announces = setting.tells() == Setting.Tells.PHASES;
        tellsEnd = announces || (setting.tells() == Setting.Tells.STEPS && draw.chance(0.7));
    }

    List<Integer> allRanks() {
        return IntStream.range(0, setting.world()).boxed().toList();
    }

    List<Integer> ranksOn(int node) {
        return allRanks().stream().filter(rank -> setting.node(rank) == node).toList();
    }

    /** Lets so many seconds of training pass, and at least a few steps. */
    void train(double low, double high) {
        now += (int) Math.round(Math.max(draw.between(low, high), draw.between(3, 6) * setting.stepSeconds()));
    }

    /** Seconds that are left before the history gets too long. */
    int left() {
        return setting.mostSeconds() - now;
    }

    /** Adds an episode that begins now, and goes to its end. */
    Episode next(double seconds, Act rest) {
        Episode episode = Episode.of(now, now + Math.max(1, (int) Math.round(seconds)), rest);
        episodes.add(episode);
        now = episode.to();
        return episode;
    }

    /** The phase that a heartbeat tells in a pause of that phase. */
    Phase told(Phase phase) {
        return announces ? phase : Phase.PHASE_TRAIN;
    }

    /** What was added since that second is no fault. */
    void benign(String kind, int from, boolean announced, boolean visible) {
        occasions.add(new Occasion(kind, from, now, seen.add(kind), announced, visible));
    }
}

package dev.unhang.lab.compose;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The history of one job, before it is played.
 *
 * @param episodes what happens beside training, none of them at the same time
 * @param restarts seconds from which on the job runs in its next epoch
 * @param oldNic when the NIC that carries nothing of the job goes down on the first node, or null
 * @param seconds where the trace ends
 */
record Plan(
        long seed,
        String name,
        Setting setting,
        List<Episode> episodes,
        List<Integer> restarts,
        @Nullable Episode oldNic,
        List<Label> labels,
        List<Occasion> occasions,
        int seconds) {

    Plan {
        episodes = List.copyOf(episodes);
        restarts = List.copyOf(restarts);
        labels = List.copyOf(labels);
        occasions = List.copyOf(occasions);
    }

    @Nullable
    Episode at(int second) {
        for (Episode episode : episodes) {
            if (episode.covers(second)) {
                return episode;
            }
        }
        return null;
    }

    int epoch(int second) {
        int epoch = 1;
        for (int restart : restarts) {
            if (second > restart) {
                epoch++;
            }
        }
        return epoch;
    }
}

package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.JobIdentity;
import java.util.List;

/**
 * A job as it is known at one moment, for whoever decides on it. It lives: a job all of whose ranks ended is not seen.
 *
 * @param world how many ranks it says to have; 0: not known
 * @param ranks how many are known, those that are gone included
 * @param nodes on which they are or were at this epoch, sorted
 * @param trains each rank that should be there is known, is there, and has made progress in this epoch: its step has
 *     moved, or where it tells none it was seen at work for long enough, and is
 * @param sinceMs since when it trains, log time of the inbox; -1 while it does not
 * @param mode the strictest that a rank asks for: {@code off}, {@code observe}, or empty
 * @param identity of its launcher, joined from its ranks
 */
public record JobSight(
        String name,
        int epoch,
        int world,
        int ranks,
        List<String> nodes,
        boolean trains,
        long sinceMs,
        String mode,
        JobIdentity identity) {

    public JobSight {
        nodes = List.copyOf(nodes);
    }
}

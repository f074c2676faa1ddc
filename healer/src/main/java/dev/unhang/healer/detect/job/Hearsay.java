package dev.unhang.healer.detect.job;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What others say against a rank: the logs of its peers, and the past. For one look at one job; the logs are weighed when
 * first asked, since most looks end without suspects.
 */
final class Hearsay {

    /** One piece of evidence: how much it weighs, and the sentence that a person can check. */
    record Point(double points, String words) {}

    private final Collection<RankView> ranks;
    private final AddressBook addresses;
    private final Collection<Offenders> past;
    private final long nowMs;
    private final Map<String, Integer> named = new HashMap<>();
    private @Nullable List<Accusations.Accused> accused;

    /** @param past of all jobs */
    Hearsay(Collection<RankView> ranks, AddressBook addresses, Collection<Offenders> past, long nowMs) {
        this.ranks = ranks;
        this.addresses = addresses;
        this.past = past;
        this.nowMs = nowMs;
    }

    /** @param stillMs for how long the job has stood still */
    List<Point> against(RankView rank, long stillMs) {
        List<Point> points = new ArrayList<>(0);
        for (Accusations.Accused each : accused(stillMs)) {
            if (each.means(rank.rank, rank.node())) {
                points.add(new Point(each.points(), each.sentence()));
            }
        }
        int times = named.computeIfAbsent(
                rank.node(),
                node -> past.stream()
                        .mapToInt(job -> job.before(node, nowMs - stillMs, nowMs))
                        .sum());
        if (times > 0) {
            points.add(new Point(
                    1,
                    "node " + rank.node() + " was named " + times + (times == 1 ? " time" : " times")
                            + " in the last seven days"));
        }
        return points;
    }

    private List<Accusations.Accused> accused(long stillMs) {
        List<Accusations.Accused> known = accused;
        if (known == null) {
            known = Accusations.of(
                    ranks.stream().map(rank -> rank.witness(nowMs)).toList(), addresses, stillMs);
            accused = known;
        }
        return known;
    }
}

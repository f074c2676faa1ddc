package dev.unhang.healer.detect.job;

import java.util.List;

/** What others say against a rank: its peers, and the past. */
@FunctionalInterface
interface Hearsay {

    /** One piece of evidence: how much it weighs, and the sentence that a person can check. */
    record Point(double points, String words) {}

    List<Point> against(RankView rank);
}

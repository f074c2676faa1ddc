package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.RankProcess;
import dev.unhang.events.v1.RankReport;
import dev.unhang.events.v1.Suspect;
import dev.unhang.healer.detect.job.RankView.Doing;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * One job at one epoch: keeps its ranks and has them judged once a second of log time. Before the first steps it may wait
 * for ranks that never came; then it may stand still, or be slow. What it learns of itself outlives the epoch.
 */
final class JobWatch {

    /** Share of the ranks that must have been seen at work before the job is judged. */
    private static final double ARMED = 0.9;

    private static final long FORGOTTEN_MS = 600_000;
    private static final int MOST_PROCESSES = 8;

    private static final Comparator<RankView> BY_NUMBER = Comparator.comparingInt(rank -> rank.rank);

    private final String name;
    private final int epoch;
    private final int world;
    private final Profile profile;
    private final Findings findings;
    private final Map<Integer, RankView> byNumber = new HashMap<>();

    /** In the order of their numbers. */
    private final List<RankView> ranks = new ArrayList<>();

    private @Nullable SortedSet<String> nodes;
    private final Phases phases;
    private final Stall stall;
    private final Slowness slowness = new Slowness();
    private final long bornMs;

    private boolean armed;

    /** It was said that ranks are awaited. */
    private boolean awaiting;

    private boolean ended;
    private long lastKnownMs;

    JobWatch(String name, int epoch, int world, Profile profile, long nowMs) {
        this.name = name;
        this.epoch = epoch;
        this.world = world;
        this.profile = profile;
        this.findings = new Findings(name, epoch);
        this.phases = profile.phases(nowMs);
        this.stall = new Stall(name, profile.pauses, phases);
        this.bornMs = nowMs;
        this.lastKnownMs = nowMs;
    }

    int epoch() {
        return epoch;
    }

    /** Takes what a node says of one of its ranks. {@code known}: as {@link #known} tells of it. */
    void heard(NodeReport report, RankReport rank, @Nullable RankView known, long nowMs) {
        RankView view = known;
        if (view == null) {
            view = new RankView(rank.getRank(), report.getNode());
            byNumber.put(view.rank, view);
            ranks.add(-1 - Collections.binarySearch(ranks, view, BY_NUMBER), view);
            nodes = null;
        } else if (!view.node().equals(report.getNode())) {
            nodes = null;
        }
        view.heard(report, rank, nowMs);
    }

    /** All nodes on which its ranks are or were, sorted. */
    SortedSet<String> nodes() {
        SortedSet<String> known = nodes;
        if (known == null) {
            known = new TreeSet<>();
            for (RankView rank : ranks) {
                known.add(rank.node());
            }
            nodes = known;
        }
        return known;
    }

    JobIdentity identity() {
        return Identities.join(ranks);
    }

    JobSight sight() {
        JobIdentity identity = identity();
        int most = Math.max(world, identity.getWorld());
        long since = ranks.size() < most ? -1 : trainsSinceMs();
        return new JobSight(
                name, epoch, most, ranks.size(), List.copyOf(nodes()), since >= 0, since, identity.getMode(), identity);
    }

    /** Since when all known ranks do; -1: one does not. */
    private long trainsSinceMs() {
        long since = -1;
        for (RankView rank : ranks) {
            if (rank.trainsSinceMs() < 0) {
                return -1;
            }
            since = Math.max(since, rank.trainsSinceMs());
        }
        return since;
    }

    /** Whom a repair may end: the suspects that still are, best first; without any the lowest rank that still is. */
    private List<RankProcess> processes(List<Suspect> suspects) {
        List<RankProcess> processes = new ArrayList<>();
        for (Suspect suspect : suspects) {
            RankView rank = suspect.hasRank() ? byNumber.get(suspect.getRank()) : null;
            if (rank != null && !rank.gone() && processes.size() < MOST_PROCESSES) {
                processes.add(rank.process());
            }
        }
        Iterator<RankView> lowest = ranks.iterator();
        while (processes.isEmpty() && lowest.hasNext()) {
            RankView rank = lowest.next();
            if (!rank.gone()) {
                processes.add(rank.process());
            }
        }
        return processes;
    }

    @Nullable
    RankView known(int number) {
        return byNumber.get(number);
    }

    Collection<RankView> ranks() {
        return ranks;
    }

    /** Nothing was said of it yet, and nothing is known of it that would be lost. */
    boolean mayBeRenamed() {
        return !armed && !findings.any();
    }

    boolean ended() {
        return ended;
    }

    /** Nothing has been heard of any rank for ten minutes of log time; of one that is there no more its node still tells. */
    boolean forgotten(long nowMs) {
        return nowMs - lastKnownMs > FORGOTTEN_MS
                && ranks.stream()
                        .map(rank -> rank.doing(nowMs))
                        .allMatch(doing -> doing == Doing.UNKNOWN || doing == Doing.SILENT);
    }

    /** What stands, as of now. */
    Collection<Finding> standing(long nowMs) {
        return findings.standing(nowMs);
    }

    /** The epoch is over: a new one has begun, or nothing is left of it. */
    void close(String why, long stampMs, List<Finding> out) {
        findings.over(why, stampMs, out);
        profile.offenders.over();
        ended = true;
    }

    /**
     * Looks at it.
     *
     * @param free nodes on which no rank of any job runs, where an absent one may belong
     */
    void look(long nowMs, long stampMs, Set<String> free, Hearsay hearsay, List<Finding> out) {
        if (ended || ranks.isEmpty()) {
            return;
        }
        if (atPeace()) {
            lastKnownMs = nowMs;
            slowness.pause(nowMs);
            return;
        }
        RollCall roll = new RollCall(ranks, nowMs);
        if (roll.count(Doing.GONE) == roll.size()) {
            close("all ranks of the job are gone", stampMs, out);
            return;
        }
        if (roll.known() > roll.count(Doing.SILENT)) {
            lastKnownMs = nowMs;
        }
        profile.follow(phases, ranks, roll.beats, nowMs);
        armed |= armedRanks() >= ARMED * Math.max(roll.size(), world);
        Verdict verdict = armed ? trains(roll, hearsay) : awaitRanks(nowMs, free);
        if (verdict == null) {
            return;
        }
        if (verdict.isWell()) {
            findings.allWell(verdict.evidence().get(0), stampMs, out);
            profile.offenders.over();
            return;
        }
        findings.say(verdict, nodes(), identity(), processes(verdict.suspects()), nowMs, stampMs, out);
        if (verdict.confirmed() && !verdict.suspects().isEmpty()) {
            profile.named(verdict.suspects().get(0).getNode(), nowMs - verdict.ageMs(), nowMs);
        }
    }

    private int armedRanks() {
        int count = 0;
        for (RankView rank : ranks) {
            count += rank.armed() ? 1 : 0;
        }
        return count;
    }

    private @Nullable Verdict trains(RollCall roll, Hearsay hearsay) {
        if (awaiting) {
            awaiting = false;
            return Verdict.well("the job trains, with " + roll.size() + " of " + world + " ranks seen");
        }
        return judge(roll, hearsay);
    }

    private @Nullable Verdict judge(RollCall roll, Hearsay hearsay) {
        Verdict standstill = stall.look(roll, hearsay);
        profile.changed(stall.taught());
        if (standstill != null || stall.stands()) {
            slowness.pause(roll.nowMs);
            return standstill;
        }
        return phases.special() || phases.ending(roll) ? null : slowness.look(name, roll);
    }

    /** A job at peace, on nodes that say that they are well, needs no look. */
    private boolean atPeace() {
        if (!armed || stall.stands() || findings.any() || slowness.concerned(ranks)) {
            return false;
        }
        for (RankView rank : ranks) {
            if (!rank.wellNode() || rank.phase() != phases.now()) {
                return false;
            }
        }
        return true;
    }

    /** A rank that never came, while the others wait for it. */
    private @Nullable Verdict awaitRanks(long nowMs, Set<String> free) {
        boolean absent =
                world > 0 && ranks.size() < world && ranks.stream().noneMatch(rank -> rank.armed() || rank.ends());
        if (absent) {
            Verdict verdict = Arrival.judge(name, world, ranks.size(), byNumber::containsKey, nowMs - bornMs, free);
            awaiting |= verdict != null;
            return verdict;
        }
        if (!awaiting) {
            return null;
        }
        awaiting = false;
        return Verdict.well(
                ranks.size() >= world ? "all " + world + " ranks have come" : "the ranks that are seen make steps");
    }
}

package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.Phase;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.Suspect;
import dev.unhang.healer.detect.job.RankView.Doing;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * One job at one epoch: whether it stands still, since when, and who is to blame. It is looked at once a second of log
 * time. A standstill is suspected early and confirmed late: a hard sign that began with it confirms it after a short
 * hold, otherwise it must last longer than this job's own pauses of that picture, with floors for a job whose pauses are
 * not known. Learned pauses outlive the epoch.
 */
final class JobWatch {

    /** Share of the known ranks that must stand still. */
    private static final double QUORUM = 0.9;

    /** Progress younger than this is progress now, ms. */
    private static final long MOVING_MS = 1_500;

    /** How long a hard sign must last, together with the standstill, s. */
    private static final double HARD_HOLD = 20;

    /** The same when many ranks are gone and nobody waits for them: the job may be ending. */
    private static final double GONE_HOLD_ENDING = 300;

    /** With a hard sign it is suspected after so long, s. */
    private static final double SUSPECT_HARD = 5;

    /** An announced checkpoint or evaluation may take so long, s. */
    private static final double PHASE_LIMIT = 1_800;

    /** A job of which some rank has said that it ends, s. */
    private static final double END_LIMIT = 600;

    private static final double END_SUSPECT = 60;

    /** A rank that never came: suspected and confirmed after so long, s. Rendezvous waits for ten minutes by default. */
    private static final double ABSENT_SUSPECT = 180;

    private static final double ABSENT_CONFIRM = 600;

    private final String name;
    private final int epoch;
    private final int world;
    private final Pauses pauses;
    private final Findings findings;
    private final Map<Integer, RankView> ranks = new TreeMap<>();
    private final Map<HardSign.Kind, Map<Integer, Long>> contrastSince = new EnumMap<>(HardSign.Kind.class);
    private final Map<Phase, Double> longest = new EnumMap<>(Phase.class);

    private @Nullable Standstill still;
    private boolean armed;
    private boolean ended;
    private boolean announced;
    private boolean progressed;
    private Phase phase = Phase.PHASE_NONE;
    private long phaseSinceMs;
    private long bornMs;

    JobWatch(String name, int epoch, int world, Pauses pauses, long nowMs) {
        this.name = name;
        this.epoch = epoch;
        this.world = world;
        this.pauses = pauses;
        this.findings = new Findings(name, epoch);
        this.bornMs = nowMs;
        this.phaseSinceMs = nowMs;
    }

    int epoch() {
        return epoch;
    }

    Pauses pauses() {
        return pauses;
    }

    RankView rank(int number, String node) {
        return ranks.computeIfAbsent(number, rank -> new RankView(rank, node));
    }

    @Nullable
    RankView known(int number) {
        return ranks.get(number);
    }

    boolean ended() {
        return ended;
    }

    /** Nothing has been heard of any rank for so long, ms of log time. */
    boolean forgotten(long nowMs) {
        return ranks.values().stream().allMatch(rank -> rank.doing(nowMs) == Doing.UNKNOWN)
                && nowMs - lastKnownMs > 600_000;
    }

    private long lastKnownMs;

    /** What stands. */
    Collection<Finding> standing() {
        return findings.standing();
    }

    /** The epoch is over: a new one has begun, or nothing is left of it. */
    void close(String why, long stampMs, List<Finding> out) {
        findings.allWell(why, stampMs, out);
        ended = true;
    }

    /**
     * Looks at it.
     *
     * @param free nodes on which no rank of any job runs, where an absent one may belong
     */
    void look(long nowMs, long stampMs, Set<String> free, List<Finding> out) {
        if (ended || ranks.isEmpty()) {
            return;
        }
        if (quiet()) {
            lastKnownMs = nowMs;
            return;
        }
        Map<RankView, Doing> doing = new LinkedHashMap<>();
        EnumMap<Doing, Integer> count = new EnumMap<>(Doing.class);
        for (RankView rank : ranks.values()) {
            Doing now = rank.doing(nowMs);
            doing.put(rank, now);
            count.merge(now, 1, Integer::sum);
        }
        int all = ranks.size();
        int gone = count.getOrDefault(Doing.GONE, 0);
        if (gone == all) {
            close("all ranks of the job are gone", stampMs, out);
            return;
        }
        int known = all - count.getOrDefault(Doing.UNKNOWN, 0);
        if (known > 0) {
            lastKnownMs = nowMs;
        }
        boolean beats = ranks.values().stream().anyMatch(RankView::hasProgress);
        followPhase(beats, nowMs);
        if (!armed) {
            armed = ranks.values().stream().filter(RankView::armed).count() >= QUORUM * Math.max(all, world);
            if (!armed) {
                lookForAbsent(nowMs, stampMs, free, out);
                return;
            }
            progressed = beats;
        }
        progressed |= beats;
        new Look(doing, known, gone, beats && progressed, nowMs, stampMs, out).judge();
    }

    /** A job at peace, on nodes that say that they are well, needs no look. */
    private boolean quiet() {
        if (!armed || still != null || findings.any()) {
            return false;
        }
        for (RankView rank : ranks.values()) {
            if (!rank.wellNode()) {
                return false;
            }
            if (rank.phase() != phase) {
                return false;
            }
        }
        return true;
    }

    private void followPhase(boolean beats, long nowMs) {
        Phase now = Phase.PHASE_NONE;
        if (beats) {
            Map<Phase, Integer> votes = new EnumMap<>(Phase.class);
            for (RankView rank : ranks.values()) {
                votes.merge(rank.phase(), 1, Integer::sum);
            }
            votes.remove(Phase.PHASE_NONE);
            int most = 0;
            boolean special = false;
            for (Map.Entry<Phase, Integer> vote : votes.entrySet()) {
                boolean other = vote.getKey() != Phase.PHASE_TRAIN && vote.getKey() != Phase.PHASE_END;
                if ((other && !special) || (other == special && vote.getValue() > most)) {
                    now = vote.getKey();
                    most = vote.getValue();
                    special |= other;
                }
            }
        }
        announced |= now == Phase.PHASE_CHECKPOINT || now == Phase.PHASE_EVAL || now == Phase.PHASE_DATA;
        if (now != phase) {
            longest.merge(phase, (nowMs - phaseSinceMs) / 1000.0, Math::max);
            phase = now;
            phaseSinceMs = nowMs;
        }
    }

    /** Before the first step: a rank that never came, while the others wait for it. */
    private void lookForAbsent(long nowMs, long stampMs, Set<String> free, List<Finding> out) {
        double age = (nowMs - bornMs) / 1000.0;
        boolean anyArmed = ranks.values().stream().anyMatch(RankView::armed);
        boolean absent = world > 0 && ranks.size() < world && !anyArmed && !endingRanks();
        if (!absent) {
            findings.well(IncidentKind.RANK_MISSING, "all " + world + " ranks have come", stampMs, out);
            return;
        }
        if (age < ABSENT_SUSPECT) {
            return;
        }
        List<Integer> missing = new ArrayList<>();
        for (int rank = 0; rank < world && missing.size() < 8; rank++) {
            if (!ranks.containsKey(rank)) {
                missing.add(rank);
            }
        }
        int absentCount = world - ranks.size();
        List<Suspect> suspects = new ArrayList<>();
        for (int rank : missing) {
            Suspect.Builder suspect =
                    Suspect.newBuilder().setRank(rank).setScore(4).setConfidence("medium");
            if (absentCount == 1 && free.size() == 1) {
                suspect.setNode(free.iterator().next());
            }
            suspects.add(suspect.build());
        }
        List<String> evidence = new ArrayList<>();
        evidence.add((world - ranks.size()) + " of " + world + " ranks of " + name + " have never been seen (" + missing
                + "), and the others have waited for " + (long) age + " s without a step");
        if (absentCount == 1 && free.size() == 1) {
            evidence.add("node " + free.iterator().next() + " has GPUs and runs no rank");
        }
        findings.say(
                IncidentKind.RANK_MISSING,
                age >= ABSENT_CONFIRM ? Standing.CONFIRMED : Standing.SUSPECTED,
                nowMs - bornMs,
                stampMs,
                suspects,
                evidence,
                nodes(),
                "",
                out);
    }

    private boolean endingRanks() {
        return ranks.values().stream().anyMatch(rank -> rank.phase() == Phase.PHASE_END);
    }

    private Set<String> nodes() {
        Set<String> nodes = new TreeSet<>();
        ranks.values().forEach(rank -> nodes.add(rank.node()));
        return nodes;
    }

    /** One look, with what it needs. */
    private final class Look {
        private final Map<RankView, Doing> doing;
        private final int known;
        private final int gone;
        private final boolean beats;
        private final long nowMs;
        private final long stampMs;
        private final List<Finding> out;
        private final Picture picture;
        private final boolean ending;

        Look(
                Map<RankView, Doing> doing,
                int known,
                int gone,
                boolean beats,
                long nowMs,
                long stampMs,
                List<Finding> out) {
            this.doing = doing;
            this.known = known;
            this.gone = gone;
            this.beats = beats;
            this.nowMs = nowMs;
            this.stampMs = stampMs;
            this.out = out;
            this.picture = Picture.of(doing);
            this.ending = endingRanks() || gone * 2 > doing.size();
        }

        void judge() {
            Standstill stretch = still;
            if (known < Math.max(1, doing.size() / 2.0)) {
                if (stretch != null) {
                    stretch.blind(nowMs);
                }
                return;
            }
            long age = age();
            boolean moves = beats && age < MOVING_MS;
            if (!moves && standsStill()) {
                if (stretch == null) {
                    stretch = new Standstill(nowMs - Math.max(0, age));
                    still = stretch;
                    contrastSince.clear();
                }
                stands(stretch);
            } else if (stretch != null && stretch.works(moves, nowMs)) {
                stretch.teach(pauses);
                still = null;
                findings.allWell("the job makes progress again", stampMs, out);
            }
        }

        /** For how long nobody has made progress; without heartbeats: nobody has been seen at work. */
        private long age() {
            long least = Long.MAX_VALUE;
            for (Map.Entry<RankView, Doing> each : doing.entrySet()) {
                RankView rank = each.getKey();
                switch (each.getValue()) {
                    case SPIN, IDLE -> least = Math.min(least, beats ? progressAge(rank) : rank.stillMs(nowMs));
                    case WORK -> least = Math.min(least, beats ? progressAge(rank) : Long.MAX_VALUE);
                    case UNKNOWN -> {
                        if (beats && rank.hasProgress()) {
                            least = Math.min(least, progressAge(rank));
                        }
                    }
                    case GONE, SILENT -> {}
                }
            }
            return least == Long.MAX_VALUE ? 1000 : least;
        }

        private long progressAge(RankView rank) {
            return rank.hasProgress() ? rank.progressAgeMs(nowMs) : Long.MAX_VALUE;
        }

        private boolean standsStill() {
            int work = 0;
            for (Doing each : doing.values()) {
                work += each == Doing.WORK ? 1 : 0;
            }
            if (known - work >= QUORUM * known) {
                return true;
            }
            return picture.kind() == Picture.Kind.FEW_WORK
                    && picture.who().size() <= Math.max(1, doing.size() / 8)
                    && doing.size() > 2;
        }

        private void stands(Standstill stretch) {
            List<HardSign> hard = HardSign.of(doing, nowMs - stretch.sinceMs(), ending, nowMs);
            boolean special = beats && phase != Phase.PHASE_NONE && phase != Phase.PHASE_TRAIN;
            boolean writing = hard.isEmpty() && writes();
            if (writing) {
                stretch.goOn(picture, PHASE_LIMIT, false, nowMs);
                stretch.restart(nowMs);
                findings.allWell("a rank writes: it is a checkpoint", stampMs, out);
                return;
            }
            Pauses.Limits limits = limits(special);
            stretch.goOn(picture, limits.confirm(), !hard.isEmpty(), nowMs);
            double counted = stretch.countedSeconds(nowMs);
            double suspect = limits.suspect();
            String sure = "";
            IncidentKind kind = IncidentKind.JOB_HANG;
            if (!hard.isEmpty()) {
                boolean onlyGone = hard.stream().allMatch(sign -> sign.kind() == HardSign.Kind.GONE);
                double hold = onlyGone && manyGoneAndNobodyWaits() ? GONE_HOLD_ENDING : HARD_HOLD;
                double held = held(hard, onlyGone) / 1000.0;
                kind = onlyGone ? IncidentKind.RANK_MISSING : IncidentKind.JOB_HANG;
                if (held >= 2) {
                    suspect = Math.min(suspect, SUSPECT_HARD);
                }
                boolean starting = special && (phase == Phase.PHASE_INIT || phase == Phase.PHASE_COMPILE);
                if (held >= hold && counted >= hold && !starting && !ending) {
                    sure = "this has lasted for " + (long) held + " s together with it";
                }
            }
            if (hard.isEmpty() && picture.kind() == Picture.Kind.ALL_IDLE) {
                kind = IncidentKind.INPUT_STALL;
            }
            boolean suspected = counted >= suspect && !(special && hard.isEmpty() && counted < limits.suspect());
            boolean confirmed = !sure.isEmpty() || (stretch.used() >= 1 && counted >= suspect);
            if (suspected || confirmed) {
                say(stretch, kind, confirmed, hard, sure, limits);
            }
        }

        private Pauses.Limits limits(boolean special) {
            Pauses.Telling telling =
                    !beats ? Pauses.Telling.NOTHING : announced ? Pauses.Telling.PHASES : Pauses.Telling.HEARTBEATS;
            Pauses.Limits limits = pauses.limits(picture, telling);
            double suspect = limits.suspect();
            double confirm = limits.confirm();
            if (special) {
                double most = Math.max(PHASE_LIMIT, 3 * longest.getOrDefault(phase, 0.0));
                suspect = Math.max(suspect, most / 3);
                confirm = Math.max(confirm, most);
            }
            if (ending) {
                suspect = Math.max(suspect, END_SUSPECT);
                confirm = Math.max(confirm, END_LIMIT);
            }
            return new Pauses.Limits(suspect, confirm);
        }

        /** A rank that others wait for, or all of them, writes as a checkpoint is written. */
        private boolean writes() {
            for (Map.Entry<RankView, Doing> each : doing.entrySet()) {
                if (each.getValue() == Doing.IDLE && each.getKey().writes()) {
                    return true;
                }
            }
            return false;
        }

        private boolean manyGoneAndNobodyWaits() {
            return gone * 3 > doing.size() && !beats && !doing.containsValue(Doing.SPIN);
        }

        /** How long the hard signs have stood beside the standstill, not each for itself, ms. */
        private long held(List<HardSign> hard, boolean onlyGone) {
            Map<HardSign.Kind, Map<Integer, Long>> now = new EnumMap<>(HardSign.Kind.class);
            long longestHeld = 0;
            long shortestGone = Long.MAX_VALUE;
            for (HardSign sign : hard) {
                long since = contrastSince
                        .getOrDefault(sign.kind(), Map.of())
                        .getOrDefault(sign.rank().rank, nowMs - Math.min(sign.ageMs(), 2_000));
                now.computeIfAbsent(sign.kind(), kind -> new HashMap<>()).put(sign.rank().rank, since);
                longestHeld = Math.max(longestHeld, Math.min(sign.ageMs(), nowMs - since));
                shortestGone = Math.min(shortestGone, sign.ageMs());
            }
            contrastSince.clear();
            contrastSince.putAll(now);
            return onlyGone ? shortestGone : longestHeld;
        }

        private void say(
                Standstill stretch,
                IncidentKind kind,
                boolean confirmed,
                List<HardSign> hard,
                String sure,
                Pauses.Limits limits) {
            Suspects suspects = new Suspects(doing, hard);
            List<Suspect> list = suspects.list();
            List<String> evidence = new ArrayList<>();
            evidence.add("no progress of " + name + " for " + (long) stretch.seconds(nowMs) + " s: " + picture.words());
            if (confirmed) {
                evidence.add(
                        sure.isEmpty()
                                ? "longer than a pause of this kind may take in this job, " + (long) limits.confirm()
                                        + " s"
                                : sure);
            }
            list.stream().limit(2).forEach(suspect -> evidence.addAll(suspect.getEvidenceList()));
            if (beats && phase != Phase.PHASE_NONE && phase != Phase.PHASE_TRAIN) {
                evidence.add("its phase is " + phase.name().substring("PHASE_".length()));
            }
            findings.say(
                    kind,
                    confirmed ? Standing.CONFIRMED : Standing.SUSPECTED,
                    nowMs - stretch.sinceMs(),
                    stampMs,
                    list,
                    evidence,
                    nodes(),
                    cause(hard, list),
                    out);
        }

        /** The finding on a node or a port that explains it, by its subject. */
        private String cause(List<HardSign> hard, List<Suspect> list) {
            for (HardSign sign : hard) {
                if (list.isEmpty() || !list.get(0).getNode().equals(sign.rank().node())) {
                    continue;
                }
                if (sign.kind() == HardSign.Kind.SILENT) {
                    return "node:" + sign.rank().node();
                }
                var port = sign.rank().portDown();
                if (sign.kind() == HardSign.Kind.PORT_DOWN && port != null) {
                    return "nic:" + sign.rank().node() + "/" + port.getId();
                }
            }
            return "";
        }
    }
}

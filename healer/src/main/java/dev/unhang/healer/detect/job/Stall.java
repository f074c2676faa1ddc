package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.NicReport;
import dev.unhang.events.v1.Suspect;
import dev.unhang.healer.detect.job.Pauses.Limits;
import dev.unhang.healer.detect.job.Pauses.Witness;
import dev.unhang.healer.detect.job.RankView.Doing;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whether a job at one epoch stands still. A standstill is suspected early and confirmed late: a hard sign that began with
 * it confirms it after a short hold; otherwise it must last longer than this job's own pauses of that picture, with floors
 * for a job whose pauses are not known. Looked at once a second of log time.
 */
final class Stall {

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

    /** An announced checkpoint or evaluation, or a pause that something explains, may take so long, s. */
    private static final double PHASE_LIMIT = 1_800;

    /** A job of which some rank has said that it ends, s. */
    private static final double END_LIMIT = 600;

    private static final double END_SUSPECT = 60;

    /** Ranks that compute and make no progress: a step may be long, s and in usual steps. */
    private static final double BUSY_SUSPECT = 300;

    private static final double BUSY_SUSPECT_STEPS = 5;

    private final String job;
    private final Pauses pauses;
    private final Phases phases;
    private final SignsHeld signsHeld = new SignsHeld();
    private final News news = new News();
    private @Nullable Standstill still;
    private boolean taught;

    Stall(String job, Pauses pauses, Phases phases) {
        this.job = job;
        this.pauses = pauses;
        this.phases = phases;
    }

    boolean stands() {
        return still != null;
    }

    /** Whether it has learned of a pause since this was last asked. */
    boolean taught() {
        boolean since = taught;
        taught = false;
        return since;
    }

    /**
     * Looks at the ranks.
     *
     * @param hearsay what other ranks and the past say against each
     * @return null: nothing to say, or nothing that was not said a moment ago
     */
    @Nullable
    Verdict look(RollCall roll, Hearsay hearsay) {
        Standstill stretch = still;
        if (roll.blind()) {
            if (stretch != null) {
                stretch.blind(roll.nowMs);
            }
            return null;
        }
        boolean beats = roll.beats;
        long age = age(roll, beats);
        boolean moves = beats && age < MOVING_MS;
        if (!moves && standsStill(roll, beats, age)) {
            if (stretch == null) {
                long overdue = beats ? Math.max(stillMs(roll), age - (long) (1000 * roll.usualStep)) : age;
                stretch = new Standstill(roll.nowMs - Math.max(0, Math.min(age, overdue)));
                still = stretch;
                signsHeld.clear();
            }
            return stands(stretch, roll, beats, hearsay);
        }
        if (stretch != null && stretch.works(moves, roll.nowMs)) {
            taught |= stretch.teach(pauses);
            still = null;
            news.nothing();
            return Verdict.well("the job makes progress again");
        }
        return null;
    }

    /** For how long nobody has made progress; without heartbeats: nobody has been seen at work. Ms. */
    private static long age(RollCall roll, boolean beats) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < roll.size(); i++) {
            RankView rank = roll.rank(i);
            long progress = rank.hasProgress() ? rank.progressAgeMs(roll.nowMs) : Long.MAX_VALUE;
            switch (roll.doing(i)) {
                case SPIN, IDLE -> least = Math.min(least, beats ? progress : rank.stillMs(roll.nowMs));
                case WORK, UNKNOWN -> least = Math.min(least, beats ? progress : Long.MAX_VALUE);
                case GONE, SILENT -> {}
            }
        }
        return least == Long.MAX_VALUE ? 1000 : least;
    }

    /** For how long nobody of those that wait or idle has been seen at work, ms. */
    private static long stillMs(RollCall roll) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < roll.size(); i++) {
            if (roll.doing(i) == Doing.SPIN || roll.doing(i) == Doing.IDLE) {
                least = Math.min(least, roll.rank(i).stillMs(roll.nowMs));
            }
        }
        return least == Long.MAX_VALUE ? 0 : least;
    }

    private static boolean standsStill(RollCall roll, boolean beats, long ageMs) {
        if (roll.known() - roll.count(Doing.WORK) >= QUORUM * roll.known()) {
            return true;
        }
        if (roll.picture.kind() == Picture.Kind.FEW_WORK && (beats || roll.size() > 2)) {
            return true;
        }
        return beats && ageMs >= 1000 * busyLimit(roll);
    }

    /** How long ranks that compute may make no progress before anybody is told, s. */
    private static double busyLimit(RollCall roll) {
        return Math.max(BUSY_SUSPECT, BUSY_SUSPECT_STEPS * roll.usualStep);
    }

    private @Nullable Verdict stands(Standstill stretch, RollCall roll, boolean beats, Hearsay hearsay) {
        long nowMs = roll.nowMs;
        boolean ending = phases.ending(roll);
        boolean special = beats && phases.special();
        List<HardSign> hard = HardSign.of(roll, nowMs - stretch.beganMs(), (long) (1000 * roll.usualStep), ending);
        boolean weak = hard.stream().allMatch(HardSign::weak);
        String explanation = weak ? Explanation.of(roll) : "";
        if (explanation.isEmpty()) {
            stretch.unexplained();
        } else if (stretch.explainedSeconds(nowMs) < PHASE_LIMIT && !stretch.isAlarmed()) {
            stretch.explained(pauses, nowMs);
            news.nothing();
            return Verdict.well(explanation);
        }
        Limits limits = limits(roll, beats, special, ending);
        stretch.goOn(roll.picture, limits.confirm(), !hard.isEmpty(), special, nowMs);
        double counted = stretch.countedSeconds(nowMs);
        double suspect = limits.suspect();
        String sure = "";
        IncidentKind kind = hard.isEmpty() && roll.picture.kind() == Picture.Kind.ALL_IDLE
                ? IncidentKind.INPUT_STALL
                : IncidentKind.JOB_HANG;
        if (!hard.isEmpty()) {
            boolean onlyGone = hard.stream().allMatch(sign -> sign.kind() == HardSign.Kind.GONE);
            double hold = onlyGone && manyGoneAndNobodyWaits(roll, beats) ? GONE_HOLD_ENDING : HARD_HOLD;
            double held = signsHeld.seconds(hard, onlyGone, nowMs);
            kind = onlyGone ? IncidentKind.RANK_MISSING : IncidentKind.JOB_HANG;
            if (held >= 2) {
                suspect = Math.min(suspect, SUSPECT_HARD);
            }
            boolean pausing = special && ((weak && !onlyGone) || phases.starting());
            if (held >= hold && counted >= hold && !pausing && !ending) {
                sure = "this has lasted for " + (long) held + " s together with it";
            }
        }
        boolean confirmed = !sure.isEmpty() || (stretch.used() >= 1 && counted >= suspect);
        if (!confirmed && counted < suspect) {
            news.nothing();
            return null;
        }
        if (confirmed) {
            stretch.alarmed();
        }
        if (!news.worthWords(kind, confirmed, 31 * pictured(roll) + hard(hard), nowMs)) {
            return null;
        }
        if (sure.isEmpty()) {
            sure = "longer than a pause of this kind may take in this job, " + (long) limits.confirm() + " s";
        }
        return verdict(
                stretch,
                kind,
                roll,
                hard,
                confirmed ? sure : "",
                new Suspects(roll, hard, hearsay, nowMs - stretch.beganMs()).list());
    }

    /** What each rank does, and whether its log has said more: a hash. */
    private static int pictured(RollCall roll) {
        int hash = roll.size();
        for (int i = 0; i < roll.size(); i++) {
            hash = 31 * hash + roll.doing(i).name().hashCode();
            hash = 31 * hash + roll.rank(i).report().getAccusationsCount();
            hash = 31 * hash + roll.rank(i).look(roll.nowMs).words().hashCode();
        }
        return hash;
    }

    private static int hard(List<HardSign> signs) {
        int hash = 1;
        for (HardSign sign : signs) {
            hash = 31 * (31 * hash + sign.kind().name().hashCode()) + sign.rank().rank;
        }
        return hash;
    }

    private Limits limits(RollCall roll, boolean beats, boolean special, boolean ending) {
        Limits limits = pauses.limits(roll.picture, beats, witness(roll, beats));
        double suspect = limits.suspect();
        double confirm = limits.confirm();
        double step = roll.usualStep;
        if (roll.picture.kind() == Picture.Kind.WORK || roll.picture.kind() == Picture.Kind.FEW_WORK) {
            suspect = Math.max(suspect, roll.picture.kind() == Picture.Kind.WORK ? busyLimit(roll) : 2.5 * step);
            confirm = Math.max(confirm, 3 * step);
        } else {
            confirm = Math.max(confirm, 2 * step + 15);
        }
        if (special) {
            double most = Math.max(PHASE_LIMIT, 3 * phases.longestSeconds());
            suspect = Math.max(suspect, most / 3);
            confirm = Math.max(confirm, most);
        }
        if (ending) {
            suspect = Math.max(suspect, END_SUSPECT);
            confirm = Math.max(confirm, END_LIMIT);
        }
        return new Limits(suspect, confirm);
    }

    /**
     * What would tell this pause from a hang: the job's own word, or of each rank that idles its reads and writes or a look
     * that found it waiting. One that was found in a storage call that moves nothing may be in a long sync.
     */
    private Witness witness(RollCall roll, boolean beats) {
        if (beats && phases.announces()) {
            return Witness.PHASES;
        }
        if (roll.count(Doing.IDLE) == 0) {
            return Witness.NOTHING;
        }
        for (int i = 0; i < roll.size(); i++) {
            RankView rank = roll.rank(i);
            boolean known = rank.ioKnown()
                    || rank.savesAnnounced()
                    || rank.look(roll.nowMs).says() == Look.Says.WAITS;
            if (roll.doing(i) == Doing.IDLE && (!known || rank.storageStands(roll.nowMs))) {
                return Witness.NOTHING;
            }
        }
        return Witness.IO;
    }

    private static boolean manyGoneAndNobodyWaits(RollCall roll, boolean beats) {
        return roll.count(Doing.GONE) * 3 > roll.size() && !beats && roll.count(Doing.SPIN) == 0;
    }

    /** @param sure why it is confirmed; empty: it is suspected */
    private Verdict verdict(
            Standstill stretch,
            IncidentKind kind,
            RollCall roll,
            List<HardSign> hard,
            String sure,
            List<Suspect> suspects) {
        List<String> evidence = new ArrayList<>();
        evidence.add(
                "no progress of " + job + " for " + (long) stretch.seconds(roll.nowMs) + " s: " + roll.picture.words());
        if (!sure.isEmpty()) {
            evidence.add(sure);
        }
        suspects.stream().limit(2).forEach(suspect -> evidence.addAll(suspect.getEvidenceList()));
        looks(roll, evidence);
        if (suspects.isEmpty()) {
            evidence.add("nothing tells one rank from the others: no suspect");
        }
        if (phases.special()) {
            evidence.add("its phase is " + phases.words());
        }
        if (phases.ending(roll)) {
            evidence.add(outOfStep(roll));
        }
        return new Verdict(
                kind,
                !sure.isEmpty(),
                roll.nowMs - stretch.sinceMs(),
                suspects,
                evidence,
                cause(hard, suspects),
                Map.of("still_seconds", stretch.seconds(roll.nowMs)));
    }

    private static void looks(RollCall roll, List<String> evidence) {
        for (int i = 0; i < roll.size(); i++) {
            Look look = roll.rank(i).look(roll.nowMs);
            if (look.says() != Look.Says.NOTHING) {
                evidence.add("a look at rank " + roll.rank(i).rank + ": " + look.words());
            }
        }
    }

    private static String outOfStep(RollCall roll) {
        long waiting = roll.count(Doing.SPIN);
        int ended = 0;
        for (int i = 0; i < roll.size(); i++) {
            ended += roll.doing(i) == Doing.GONE || roll.rank(i).ends() ? 1 : 0;
        }
        return waiting > 0 && ended > 0
                ? ended + " of " + roll.size() + " ranks have ended and " + waiting
                        + " still wait in a collective: they left it out of step"
                : "some ranks have ended";
    }

    /** The finding on a node or a port that explains it, by its subject. */
    private static String cause(List<HardSign> hard, List<Suspect> suspects) {
        for (HardSign sign : hard) {
            if (suspects.isEmpty()
                    || !suspects.get(0).getNode().equals(sign.rank().node())) {
                continue;
            }
            if (sign.kind() == HardSign.Kind.SILENT) {
                return "node:" + sign.rank().node();
            }
            NicReport port = sign.rank().portDown();
            if (sign.kind() == HardSign.Kind.PORT_DOWN && port != null) {
                return "nic:" + sign.rank().node() + "/" + port.getId();
            }
        }
        return "";
    }
}

package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.JobProfile;
import dev.unhang.events.v1.LearnedPauses;
import dev.unhang.healer.detect.job.Picture.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The pauses of one job that ended by themselves, by picture, and what follows from them: how long a standstill may last
 * before it is suspected and before it is confirmed. The floors are for a job whose pauses are not known. They come from
 * the one hard question, the pause that nobody announced: a rank that writes a checkpoint while all others wait looks in
 * every counter like a rank that hangs. What tells the two apart makes the floor low; where nothing does, it is ten
 * minutes. {@code docs/detection.md} has the table and the price of each limit. Times in seconds.
 */
final class Pauses {

    /** How long a standstill may last. */
    record Limits(double suspect, double confirm) {}

    /** What would tell a pause from a hang. */
    enum Witness {
        /** The job announces its pauses, and has not announced this one. */
        PHASES,
        /** The idle ranks' reads and writes are known and move nothing, or the job's saves announce themselves. */
        IO,
        NOTHING
    }

    /** Before it is confirmed, where nothing would tell a checkpoint that nobody announced from a hang. */
    static final double UNTOLD = 600;

    private static final double SUSPECT_HEARTBEATS = 6;
    private static final double SUSPECT_NOTHING = 10;
    private static final double LONGEST = 7_200;
    private static final int KEPT = 50;
    private static final int KEPT_LENGTHS = 200;
    private static final int KEPT_PICTURES = 40;
    private static final int KNOWN_AFTER = 3;

    /** Shorter ones are part of a step. */
    private static final double REAL_PAUSE = 5;

    private final Map<Picture, Deque<Double>> byPicture = new LinkedHashMap<>();
    private final Map<Picture, Double> alarms = new LinkedHashMap<>();
    private final Deque<Double> lengths = new ArrayDeque<>();

    /**
     * A standstill ended by itself and no fault explains it.
     *
     * @param shares for how long each picture was seen
     * @param alarmed it was taken for a hang. Once is chance, and the next like it is suspected as early as ever, but must
     *     last longer to be confirmed; twice is a habit of this job.
     */
    void learn(double length, Map<Picture, Double> shares, boolean alarmed) {
        double most = shares.values().stream().mapToDouble(each -> each).max().orElse(0);
        for (Map.Entry<Picture, Double> each : shares.entrySet()) {
            if (each.getValue() >= 0.15 * length || each.getValue() >= most) {
                learn(each.getKey(), each.getValue(), alarmed);
            }
        }
        if (!alarmed) {
            keep(lengths, length, KEPT_LENGTHS);
        }
    }

    private void learn(Picture picture, double seconds, boolean alarmed) {
        double alarm = alarms.getOrDefault(picture, 0.0);
        boolean again = alarm > 0 && seconds >= alarm / 2;
        if (alarmed && !again) {
            alarms.put(picture, seconds);
            if (alarms.size() > KEPT_PICTURES) {
                alarms.remove(alarms.keySet().iterator().next());
            }
            return;
        }
        if (again) {
            alarms.remove(picture);
            keep(picture, alarm);
        }
        keep(picture, seconds);
    }

    /** The picture seen longest ago goes first, so that a job with ever new pictures does not grow. */
    private void keep(Picture picture, double seconds) {
        Deque<Double> known = byPicture.remove(picture);
        Deque<Double> kept = known == null ? new ArrayDeque<>() : known;
        keep(kept, seconds, KEPT);
        byPicture.put(picture, kept);
        if (byPicture.size() > KEPT_PICTURES) {
            byPicture.remove(byPicture.keySet().iterator().next());
        }
    }

    private static void keep(Deque<Double> kept, double seconds, int most) {
        kept.addLast(seconds);
        if (kept.size() > most) {
            kept.removeFirst();
        }
    }

    /**
     * How long a standstill of this picture may last.
     *
     * @param beats the job reports progress
     */
    Limits limits(Picture picture, boolean beats, Witness witness) {
        List<Double> family = new ArrayList<>();
        Set<List<Integer>> differing = new HashSet<>();
        byPicture.forEach((known, pauses) -> {
            if (known.kind() == picture.kind()) {
                family.addAll(pauses);
                differing.add(known.who());
            }
        });
        List<Double> same = new ArrayList<>(byPicture.getOrDefault(picture, new ArrayDeque<>()));
        // A picture seen before, or one whose idle rank changes from time to time.
        List<Double> like =
                picture.kind() == Kind.SOME_IDLE || (same.isEmpty() && differing.size() >= 2) ? family : same;
        double suspect = beats ? SUSPECT_HEARTBEATS : SUSPECT_NOTHING;
        for (double pause : like) {
            suspect = Math.max(suspect, 1.25 * pause + 2);
        }
        for (double pause : family) {
            if (pause < REAL_PAUSE) {
                suspect = Math.max(suspect, 2.5 * pause + 1);
            }
        }
        double confirm = floor(picture.kind(), beats, witness);
        boolean collective = picture.kind() == Kind.FEW_IDLE || picture.kind() == Kind.ALL_SPIN;
        if (collective && known() && uniform()) {
            double most = like.stream().mapToDouble(pause -> pause).max().orElse(0);
            double learned = Math.max(beats ? 45 : 60, (beats ? 2 : 2.5) * most + 15);
            confirm = Math.min(confirm, learned);
        }
        for (double pause : like) {
            confirm = Math.max(confirm, 1.5 * pause + 15);
        }
        if (alarms.containsKey(picture)) {
            confirm = Math.max(confirm, 1.5 * alarms.get(picture) + 15);
        }
        return new Limits(suspect, Math.min(confirm, LONGEST));
    }

    private boolean known() {
        return lengths.stream().filter(pause -> pause >= REAL_PAUSE).count() >= KNOWN_AFTER;
    }

    /** All its real pauses look alike. */
    private boolean uniform() {
        Set<Picture> real = new HashSet<>();
        for (Map.Entry<Picture, Deque<Double>> each : byPicture.entrySet()) {
            if (each.getValue().stream().anyMatch(pause -> pause >= REAL_PAUSE)) {
                Kind kind = each.getKey().kind();
                if (kind == Kind.ALL_IDLE || kind == Kind.SOME_IDLE) {
                    return false;
                }
                real.add(each.getKey());
            }
        }
        return real.size() <= 1;
    }

    private static double floor(Kind kind, boolean beats, Witness witness) {
        return switch (kind) {
            case ALL_SPIN -> beats ? 45 : 90;
            case FEW_IDLE ->
                switch (witness) {
                    case PHASES -> 45;
                    case IO -> beats ? 75 : 150;
                    case NOTHING -> UNTOLD;
                };
            case SOME_IDLE ->
                switch (witness) {
                    case PHASES -> 120;
                    case IO -> 300;
                    case NOTHING -> UNTOLD;
                };
            case FEW_WORK -> beats ? 180 : 900;
            case ALL_IDLE, NOTHING_KNOWN -> 900;
            case WORK -> 1_800;
        };
    }

    void save(JobProfile.Builder profile) {
        byPicture.forEach((picture, pauses) -> {
            LearnedPauses.Builder learned =
                    LearnedPauses.newBuilder().setPicture(picture.kind().name()).addAllWho(picture.who());
            pauses.forEach(pause -> learned.addLengthsMs(ms(pause)));
            profile.addPauses(learned);
        });
        alarms.forEach((picture, alarm) -> profile.addPauses(LearnedPauses.newBuilder()
                .setPicture(picture.kind().name())
                .addAllWho(picture.who())
                .setAlarm(true)
                .addLengthsMs(ms(alarm))));
        lengths.forEach(pause -> profile.addLengthsMs(ms(pause)));
    }

    private static int ms(double seconds) {
        return (int) Math.min(Integer.MAX_VALUE, Math.round(1000 * seconds));
    }

    void restore(JobProfile profile) {
        byPicture.clear();
        alarms.clear();
        lengths.clear();
        for (LearnedPauses learned : profile.getPausesList()) {
            Kind kind = Kind.named(learned.getPicture());
            if (kind != null) {
                Picture picture = new Picture(kind, learned.getWhoList());
                if (learned.getAlarm()) {
                    learned.getLengthsMsList().forEach(ms -> alarms.put(picture, ms / 1000.0));
                } else {
                    learned.getLengthsMsList().forEach(ms -> keep(picture, ms / 1000.0));
                }
            }
        }
        profile.getLengthsMsList().forEach(ms -> keep(lengths, ms / 1000.0, KEPT_LENGTHS));
    }
}

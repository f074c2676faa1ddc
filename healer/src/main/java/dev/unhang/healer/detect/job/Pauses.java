package dev.unhang.healer.detect.job;

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
 * before it is suspected and before it is confirmed. The floors are for a job whose pauses are not known; they come from
 * the one hard question, the checkpoint that nobody announced, which no counter tells from a hang. Times in seconds.
 */
final class Pauses {

    /** How long a standstill may last. */
    record Limits(double suspect, double confirm) {}

    /** How a job reports itself: the more it says, the earlier it can be judged. */
    enum Telling {
        NOTHING,
        HEARTBEATS,
        /** Heartbeats, and its checkpoints and evaluations are announced. */
        PHASES
    }

    private static final double SUSPECT_HEARTBEATS = 6;
    private static final double SUSPECT_NOTHING = 10;
    private static final double LONGEST = 7_200;
    private static final int KEPT = 50;
    private static final int KEPT_LENGTHS = 200;
    private static final int KNOWN_AFTER = 3;

    /** Shorter ones are part of a step. */
    private static final double REAL_PAUSE = 5;

    private final Map<Picture, Deque<Double>> byPicture = new LinkedHashMap<>();
    private final Deque<Double> lengths = new ArrayDeque<>();

    /** A standstill ended by itself and no fault explains it. {@code shares}: for how long each picture was seen. */
    void learn(double length, Map<Picture, Double> shares) {
        double most = shares.values().stream().mapToDouble(each -> each).max().orElse(0);
        for (Map.Entry<Picture, Double> each : shares.entrySet()) {
            if (each.getValue() >= 0.15 * length || each.getValue() >= most) {
                Deque<Double> known = byPicture.computeIfAbsent(each.getKey(), picture -> new ArrayDeque<>());
                known.addLast(each.getValue());
                if (known.size() > KEPT) {
                    known.removeFirst();
                }
            }
        }
        lengths.addLast(length);
        if (lengths.size() > KEPT_LENGTHS) {
            lengths.removeFirst();
        }
    }

    Limits limits(Picture picture, Telling telling) {
        boolean beats = telling != Telling.NOTHING;
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
        double confirm = floor(picture.kind(), telling);
        boolean collective = picture.kind() == Kind.FEW_IDLE || picture.kind() == Kind.ALL_SPIN;
        if (collective && known() && uniform()) {
            double most = like.stream().mapToDouble(pause -> pause).max().orElse(0);
            double learned = Math.max(beats ? 45 : 60, (beats ? 2 : 2.5) * most + 15);
            confirm = Math.min(confirm, learned);
        }
        for (double pause : like) {
            confirm = Math.max(confirm, 1.5 * pause + 15);
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

    private static double floor(Kind kind, Telling telling) {
        boolean beats = telling != Telling.NOTHING;
        return switch (kind) {
            case ALL_SPIN -> beats ? 45 : 90;
            case FEW_IDLE -> telling == Telling.PHASES ? 45 : beats ? 75 : 180;
            case SOME_IDLE -> telling == Telling.PHASES ? 120 : beats ? 300 : 600;
            case FEW_WORK -> beats ? 180 : 900;
            case ALL_IDLE, WORK, NOTHING_KNOWN -> 900;
        };
    }
}

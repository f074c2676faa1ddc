package dev.unhang.lab.compose;

import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.Suspect;
import dev.unhang.healer.incident.Kinds;
import dev.unhang.healer.replay.Line;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What was decided on one composed trace, held against what truly happened, by the rules of {@code lab/score.py}.
 *
 * @param faults one for each label
 * @param falseAlarms confirmed, and no label covers it, or it is the second for one
 * @param uncovered suspected, and no label covers it
 */
record Verdict(
        Plan plan,
        boolean heartbeats,
        List<Fault> faults,
        List<Alarm> falseAlarms,
        List<Alarm> uncovered,
        List<Occasion> occasions,
        List<Line> lines) {

    private static final Set<String> JUDGED = Set.of("job-hang", "job-slow", "rank-missing");
    private static final Set<String> HANGS = Set.of("job-hang", "rank-missing");

    /** So long after a fault cleared may it still be said, seconds. */
    private static final double GRACE = 10;

    /** What became of a label. */
    enum Outcome {
        NOTHING,
        SUSPECTED,
        RIGHT,
        WRONG,
        /** Confirmed, and there is no culprit to be named. */
        NOT_JUDGED,
        /** No fitting incident was confirmed, but one of another kind on the job. */
        ANOTHER_KIND
    }

    /** How a verdict can fall short, the worst first. */
    enum Shortfall {
        FALSE_ALARM("false alarm"),
        WRONG_CULPRIT("wrong culprit"),
        MISSED("missed"),
        ANOTHER_KIND("called another kind"),
        NOT_CONFIRMED("suspected and never confirmed"),
        NOT_CLOSED("cleared and not closed"),
        SUSPICION("suspected without a fault");

        private final String words;

        Shortfall(String words) {
            this.words = words;
        }

        String words() {
            return words;
        }
    }

    /**
     * One label.
     *
     * @param suspected seconds from its onset, NaN if never
     * @param confirmed seconds from its onset, NaN if never
     * @param closed null when it does not clear or no incident was opened
     */
    record Fault(
            Label label,
            double suspected,
            double confirmed,
            Outcome outcome,
            @Nullable Boolean closed) {}

    /**
     * Said without a fault to cover it, or once more for the same.
     *
     * @param during the fault in which it was said
     */
    record Alarm(
            double seconds,
            String kind,
            @Nullable Occasion occasion,
            @Nullable Label during) {}

    Verdict {
        faults = List.copyOf(faults);
        falseAlarms = List.copyOf(falseAlarms);
        uncovered = List.copyOf(uncovered);
        occasions = List.copyOf(occasions);
        lines = List.copyOf(lines);
    }

    static Verdict of(Plan plan, boolean heartbeats, List<Occasion> occasions, List<Line> all) {
        List<Line> lines = firstOfEach(all);
        Set<Line> used = new HashSet<>();
        List<Fault> faults = new ArrayList<>();
        for (Label label : plan.labels()) {
            faults.add(fault(label, lines, used));
        }
        List<Alarm> falseAlarms = new ArrayList<>();
        List<Alarm> uncovered = new ArrayList<>();
        for (Line line : lines) {
            if (!JUDGED.contains(kind(line))) {
                continue;
            }
            if (line.event().equals("confirmed") && !used.contains(line)) {
                falseAlarms.add(alarm(line, plan, occasions));
            }
            if (line.event().equals("suspected") && plan.labels().stream().noneMatch(label -> covers(label, line))) {
                uncovered.add(alarm(line, plan, occasions));
            }
        }
        return new Verdict(plan, heartbeats, faults, falseAlarms, uncovered, occasions, all);
    }

    private static List<Line> firstOfEach(List<Line> all) {
        Set<String> told = new HashSet<>();
        List<Line> lines = new ArrayList<>();
        for (Line line : all) {
            boolean once = line.event().equals("suspected") || line.event().equals("confirmed");
            if (line.incident() != null && (!once || told.add(line.event() + id(line)))) {
                lines.add(line);
            }
        }
        return lines;
    }

    private static Fault fault(Label label, List<Line> lines, Set<Line> used) {
        double suspected = Double.NaN;
        Line first = null;
        boolean another = false;
        Set<String> ids = new HashSet<>();
        for (Line line : lines) {
            if (!during(label, line)) {
                continue;
            }
            boolean confirmed = line.event().equals("confirmed");
            if (!fits(label, line)) {
                another |= confirmed && onJob(line);
                continue;
            }
            ids.add(id(line));
            if (line.event().equals("suspected") && Double.isNaN(suspected)) {
                suspected = line.seconds() - label.onset();
            }
            if (confirmed && first == null) {
                first = line;
                used.add(line);
            }
        }
        Outcome outcome;
        if (first != null) {
            outcome = !label.judged() ? Outcome.NOT_JUDGED : right(label, first) ? Outcome.RIGHT : Outcome.WRONG;
        } else if (another) {
            outcome = Outcome.ANOTHER_KIND;
        } else {
            outcome = Double.isNaN(suspected) ? Outcome.NOTHING : Outcome.SUSPECTED;
        }
        @Nullable Boolean closed = (label.clears() && !ids.isEmpty()) ? closed(label, ids, lines) : null;
        double confirmed = first == null ? Double.NaN : first.seconds() - label.onset();
        return new Fault(label, suspected, confirmed, outcome, closed);
    }

    private static boolean closed(Label label, Set<String> ids, List<Line> lines) {
        return lines.stream()
                .anyMatch(
                        line -> (line.event().equals("resolved") || line.event().equals("dismissed"))
                                && ids.contains(id(line))
                                && line.seconds() >= label.cleared() - 1);
    }

    private static boolean during(Label label, Line line) {
        return line.seconds() >= label.onset() - 1 && line.seconds() <= label.cleared() + GRACE;
    }

    private static boolean fits(Label label, Line line) {
        return label.kind().equals("job-slow") ? kind(line).equals("job-slow") : HANGS.contains(kind(line));
    }

    private static boolean covers(Label label, Line line) {
        return during(label, line) && (fits(label, line) || kind(line).equals("input-stall"));
    }

    private static boolean onJob(Line line) {
        return JUDGED.contains(kind(line)) || kind(line).equals("input-stall");
    }

    private static boolean right(Label label, Line line) {
        if (line.finding().getSuspectsCount() == 0) {
            return false;
        }
        Suspect first = line.finding().getSuspects(0);
        return label.nodes().contains(first.getNode())
                || label.ranks().stream()
                        .anyMatch(culprit -> culprit.node().equals(first.getNode())
                                && (!first.hasRank() || culprit.rank() == first.getRank()));
    }

    private static Alarm alarm(Line line, Plan plan, List<Occasion> occasions) {
        // The last that began is the likeliest cause.
        Occasion cause = null;
        for (Occasion occasion : occasions) {
            if (occasion.covers(line.seconds()) && (cause == null || occasion.from() >= cause.from())) {
                cause = occasion;
            }
        }
        Label during = null;
        for (Label label : plan.labels()) {
            if (during(label, line)) {
                during = label;
            }
        }
        return new Alarm(line.seconds(), kind(line), during == null ? cause : null, during);
    }

    static String kind(Line line) {
        Incident incident = line.incident();
        return incident == null ? "" : Kinds.name(incident.getKind());
    }

    private static String id(Line line) {
        Incident incident = line.incident();
        return incident == null ? "" : incident.getId();
    }

    /** What is wrong with what was decided, by the kind of wrong. */
    Map<Shortfall, List<String>> shortfalls() {
        Map<Shortfall, List<String>> all = new EnumMap<>(Shortfall.class);
        for (Alarm alarm : falseAlarms) {
            add(all, Shortfall.FALSE_ALARM, at(alarm));
        }
        for (Fault fault : faults) {
            String cause = "\"" + fault.label().cause() + "\" at "
                    + Math.round(fault.label().onset());
            switch (fault.outcome()) {
                case NOTHING -> add(all, Shortfall.MISSED, cause);
                case SUSPECTED -> add(all, Shortfall.NOT_CONFIRMED, cause);
                case WRONG -> add(all, Shortfall.WRONG_CULPRIT, cause);
                case ANOTHER_KIND -> add(all, Shortfall.ANOTHER_KIND, cause);
                case RIGHT, NOT_JUDGED -> {}
            }
            if (Boolean.FALSE.equals(fault.closed())) {
                add(all, Shortfall.NOT_CLOSED, cause);
            }
        }
        for (Alarm alarm : uncovered) {
            add(all, Shortfall.SUSPICION, at(alarm));
        }
        return all;
    }

    private static void add(Map<Shortfall, List<String>> all, Shortfall kind, String words) {
        all.computeIfAbsent(kind, key -> new ArrayList<>()).add(words);
    }

    private String at(Alarm alarm) {
        String words = alarm.kind() + " at " + Math.round(alarm.seconds());
        Label during = alarm.during();
        Occasion occasion = alarm.occasion();
        if (during != null) {
            return words + ", in " + during.kind() + " \"" + during.cause() + "\"";
        }
        return occasion == null
                ? words + ", amid nothing"
                : words + ", " + occasion.kind() + " (" + (occasion.first() ? "first" : "later") + ", "
                        + occasion.told(heartbeats) + ", " + Math.round(occasion.to() - occasion.from()) + " s)";
    }
}

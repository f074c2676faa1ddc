package dev.unhang.healer.replay;

import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.Suspect;
import dev.unhang.healer.incident.Kinds;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Compares what was decided with the labels, by the rules of {@code lab/score.py}. */
final class Score {

    private static final Set<String> JUDGED = Set.of("job-hang", "job-slow", "rank-missing");
    private static final double GRACE = 10;

    record Row(
            String trace,
            Labels.Fault fault,
            double suspected,
            double confirmed,
            @Nullable Boolean culprit,
            @Nullable Boolean closed) {}

    private final List<Row> rows = new ArrayList<>();
    private final List<String> falseAlarms = new ArrayList<>();
    private final List<String> uncovered = new ArrayList<>();

    void add(Labels labels, List<Line> all) {
        List<Line> lines = firstOfEach(all);
        Set<Line> used = new HashSet<>();
        for (Labels.Fault fault : labels.faults()) {
            rows.add(row(labels.trace(), fault, lines, used));
        }
        for (Line line : lines) {
            String what = labels.trace() + " at " + line.seconds() + ": " + kind(line);
            if (!JUDGED.contains(kind(line))) {
                continue;
            }
            if (line.event().equals("confirmed") && !used.contains(line)) {
                falseAlarms.add(what);
            }
            if (line.event().equals("suspected") && labels.faults().stream().noneMatch(fault -> fits(fault, line))) {
                uncovered.add(what);
            }
        }
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

    private static Row row(String trace, Labels.Fault fault, List<Line> lines, Set<Line> used) {
        double suspected = Double.NaN;
        double confirmed = Double.NaN;
        @Nullable Boolean culprit = null;
        Set<String> ids = new HashSet<>();
        for (Line line : lines) {
            if (!fits(fault, line)) {
                continue;
            }
            ids.add(id(line));
            if (line.event().equals("suspected") && Double.isNaN(suspected)) {
                suspected = line.seconds() - fault.onset();
            }
            if (line.event().equals("confirmed") && Double.isNaN(confirmed)) {
                confirmed = line.seconds() - fault.onset();
                used.add(line);
                culprit = right(fault, line);
            }
        }
        @Nullable Boolean closed = null;
        if (!Double.isInfinite(fault.cleared()) && !ids.isEmpty()) {
            closed = lines.stream()
                    .anyMatch(line ->
                            (line.event().equals("resolved") || line.event().equals("dismissed"))
                                    && ids.contains(id(line))
                                    && line.seconds() >= fault.cleared() - 1);
        }
        return new Row(trace, fault, suspected, confirmed, culprit, closed);
    }

    private static boolean fits(Labels.Fault fault, Line line) {
        String kind = kind(line);
        boolean same = fault.kind().equals("job-slow")
                ? kind.equals("job-slow")
                : kind.equals("job-hang") || kind.equals("rank-missing");
        return same && line.seconds() >= fault.onset() - 1 && line.seconds() <= fault.cleared() + GRACE;
    }

    private static boolean right(Labels.Fault fault, Line line) {
        if (line.finding().getSuspectsCount() == 0) {
            return false;
        }
        Suspect first = line.finding().getSuspects(0);
        return fault.culprits().stream()
                .anyMatch(culprit -> culprit.node().equals(first.getNode())
                        && (culprit.rank() < 0 || !first.hasRank() || culprit.rank() == first.getRank()));
    }

    private static String kind(Line line) {
        Incident incident = line.incident();
        return incident == null ? "" : Kinds.name(incident.getKind());
    }

    private static String id(Line line) {
        Incident incident = line.incident();
        return incident == null ? "" : incident.getId();
    }

    private List<Row> hangs() {
        return rows.stream()
                .filter(row -> row.fault().kind().equals("job-hang"))
                .toList();
    }

    List<String> falseAlarms() {
        return falseAlarms;
    }

    List<String> uncoveredSuspicions() {
        return uncovered;
    }

    List<String> notSuspectedWithin(double seconds) {
        return hangs().stream()
                .filter(row -> !(row.suspected() <= seconds))
                .map(Row::trace)
                .toList();
    }

    /** Of the composed traces, which are long enough to confirm. */
    List<String> composedNotConfirmedWithin(double seconds) {
        return hangs().stream()
                .filter(row -> row.trace().startsWith("c-") && !(row.confirmed() <= seconds))
                .map(Row::trace)
                .toList();
    }

    List<String> wrongCulprits() {
        return rows.stream()
                .filter(row -> Boolean.FALSE.equals(row.culprit()))
                .map(Row::trace)
                .toList();
    }

    List<String> notClosed() {
        return rows.stream()
                .filter(row -> Boolean.FALSE.equals(row.closed()))
                .map(Row::trace)
                .toList();
    }

    double suspectedMedian() {
        double[] sorted = hangs().stream().mapToDouble(Row::suspected).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    /** Of the composed traces; not confirmed counts as never. */
    double composedConfirmedMedian() {
        double[] sorted = hangs().stream()
                .filter(row -> row.trace().startsWith("c-"))
                .mapToDouble(row -> Double.isNaN(row.confirmed()) ? Double.POSITIVE_INFINITY : row.confirmed())
                .sorted()
                .toArray();
        return sorted[sorted.length / 2];
    }

    /** The one slow job of a trace. */
    Row slow(String trace) {
        return rows.stream()
                .filter(row -> row.trace().equals(trace) && row.fault().kind().equals("job-slow"))
                .findFirst()
                .orElseThrow();
    }

    List<String> report() {
        List<String> lines = new ArrayList<>();
        for (Row row : rows) {
            lines.add(String.format(
                    Locale.ROOT,
                    "%-34s %-12s onset %7.1f  suspected %6.1f  confirmed %6.1f  culprit %s  closed %s",
                    row.trace(),
                    row.fault().kind(),
                    row.fault().onset(),
                    row.suspected(),
                    row.confirmed(),
                    row.culprit(),
                    row.closed()));
        }
        lines.add("false alarms: " + falseAlarms);
        lines.add("uncovered suspicions: " + uncovered);
        return lines;
    }
}

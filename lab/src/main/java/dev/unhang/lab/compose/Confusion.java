package dev.unhang.lab.compose;

import dev.unhang.lab.compose.Verdict.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/** Many verdicts as tables in Markdown: what truly happened against what was said. */
final class Confusion {

    private final List<Verdict> verdicts;

    /** {@code verdicts}: all of one way to read, with heartbeats or without. */
    Confusion(List<Verdict> verdicts) {
        this.verdicts = List.copyOf(verdicts);
    }

    private List<Verdict.Fault> faults() {
        return verdicts.stream().flatMap(verdict -> verdict.faults().stream()).toList();
    }

    long falseAlarms() {
        return verdicts.stream()
                .mapToLong(verdict -> verdict.falseAlarms().size())
                .sum();
    }

    long uncovered() {
        return verdicts.stream()
                .mapToLong(verdict -> verdict.uncovered().size())
                .sum();
    }

    long of(Outcome outcome) {
        return faults().stream().filter(fault -> fault.outcome() == outcome).count();
    }

    /** Of the labels with a culprit that were confirmed, the share that named it first. */
    double culpritsRight() {
        double right = of(Outcome.RIGHT);
        double judged = right + of(Outcome.WRONG);
        return judged == 0 ? 1 : right / judged;
    }

    long notClosed() {
        return faults().stream()
                .filter(fault -> Boolean.FALSE.equals(fault.closed()))
                .count();
    }

    /** Of the labels with that kind and other causes than those that are reported apart. */
    double suspectedShare(String kind, List<String> apart) {
        return share(kind, apart, Verdict.Fault::suspected);
    }

    double confirmedShare(String kind, List<String> apart) {
        return share(kind, apart, Verdict.Fault::confirmed);
    }

    private double share(String kind, List<String> apart, ToDoubleFunction<Verdict.Fault> seconds) {
        List<Verdict.Fault> all = faults().stream()
                .filter(fault -> fault.label().kind().equals(kind)
                        && !apart.contains(fault.label().cause()))
                .toList();
        long seen = all.stream()
                .filter(fault -> !Double.isNaN(seconds.applyAsDouble(fault)))
                .count();
        return all.isEmpty() ? 1 : (double) seen / all.size();
    }

    List<String> summary() {
        long seconds =
                verdicts.stream().mapToLong(verdict -> verdict.plan().seconds()).sum();
        List<String> lines = new ArrayList<>();
        lines.add(String.format(
                Locale.ROOT,
                "%d traces, %.0f hours of jobs, %d faults. %d false alarms in %d traces; %d suspicions that no fault covers; "
                        + "first suspect right in %d of %d; %d not closed.",
                verdicts.size(),
                seconds / 3600.0,
                faults().size(),
                falseAlarms(),
                verdicts.stream()
                        .filter(verdict -> !verdict.falseAlarms().isEmpty())
                        .count(),
                uncovered(),
                of(Outcome.RIGHT),
                of(Outcome.RIGHT) + of(Outcome.WRONG),
                notClosed()));
        return lines;
    }

    List<String> faultTable() {
        Map<String, List<Verdict.Fault>> rows = new TreeMap<>();
        for (Verdict.Fault fault : faults()) {
            rows.computeIfAbsent(fault.label().kind() + " | " + fault.label().cause(), key -> new ArrayList<>())
                    .add(fault);
        }
        rows.put("all |", faults());
        List<String> lines = new ArrayList<>();
        lines.add("| kind | what truly happened | faults | nothing | suspected | right culprit | wrong culprit "
                + "| no culprit to name | another kind | suspected after p50, most | confirmed after p50, p90, most "
                + "| not closed |");
        lines.add("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
        rows.forEach((row, faults) -> {
            StringBuilder line =
                    new StringBuilder("| ").append(row).append(" | ").append(faults.size());
            for (Outcome outcome : Outcome.values()) {
                long count = faults.stream()
                        .filter(fault -> fault.outcome() == outcome)
                        .count();
                line.append(" | ").append(count == 0 ? "" : count);
            }
            line.append(" | ").append(seconds(faults, Verdict.Fault::suspected, 0.5, 1));
            line.append(" | ").append(seconds(faults, Verdict.Fault::confirmed, 0.5, 0.9, 1));
            long open = faults.stream()
                    .filter(fault -> Boolean.FALSE.equals(fault.closed()))
                    .count();
            line.append(" | ").append(open == 0 ? "" : open).append(" |");
            lines.add(line.toString());
        });
        return lines;
    }

    /** Seconds at those shares of all that are known, or a dash. */
    private static String seconds(List<Verdict.Fault> faults, ToDoubleFunction<Verdict.Fault> of, double... shares) {
        double[] known = faults.stream()
                .mapToDouble(of)
                .filter(value -> !Double.isNaN(value))
                .sorted()
                .toArray();
        if (known.length == 0) {
            return "-";
        }
        List<String> words = new ArrayList<>();
        for (double share : shares) {
            words.add(String.valueOf(Math.round(known[Math.min(known.length - 1, (int) (share * known.length))])));
        }
        return String.join(", ", words);
    }

    /** One row of benign occasions. */
    private static final class Row {
        int count;
        int suspected;
        int falseAlarms;
        double longestQuiet;
        double shortestAlarm = Double.POSITIVE_INFINITY;
    }

    List<String> occasionTable() {
        Map<String, Row> rows = new TreeMap<>();
        for (Verdict verdict : verdicts) {
            for (Occasion occasion : verdict.occasions()) {
                count(verdict, occasion, rows.computeIfAbsent(key(verdict, occasion), key -> new Row()));
            }
            amidFault(verdict, rows.computeIfAbsent("(a fault of the same job) | | ", key -> new Row()));
            amidNothing(verdict, rows.computeIfAbsent("(nothing: a whole trace) | | ", key -> new Row()));
        }
        List<String> lines = new ArrayList<>();
        lines.add("| what looks odd | in its job | what tells it | occasions | nothing | suspected | false alarm "
                + "| shortest with a false alarm | longest without |");
        lines.add("|---|---|---|--:|--:|--:|--:|--:|--:|");
        rows.forEach((key, row) -> lines.add(String.format(
                Locale.ROOT,
                "| %s | %d | %s | %s | %s | %s | %s |",
                key,
                row.count,
                blank(row.count - row.suspected - row.falseAlarms),
                blank(row.suspected),
                blank(row.falseAlarms),
                row.falseAlarms == 0 || Double.isInfinite(row.shortestAlarm)
                        ? ""
                        : Math.round(row.shortestAlarm) + " s",
                row.longestQuiet == 0 ? "" : Math.round(row.longestQuiet) + " s")));
        return lines;
    }

    /** A second incident for one fault, or one of a kind that does not fit it. */
    private static void amidFault(Verdict verdict, Row row) {
        for (Label label : verdict.plan().labels()) {
            boolean alarmed = verdict.falseAlarms().stream().anyMatch(alarm -> label.equals(alarm.during()));
            boolean suspected = verdict.uncovered().stream().anyMatch(alarm -> label.equals(alarm.during()));
            row.count++;
            row.falseAlarms += alarmed ? 1 : 0;
            row.suspected += !alarmed && suspected ? 1 : 0;
        }
    }

    private static void amidNothing(Verdict verdict, Row row) {
        boolean alarmed =
                verdict.falseAlarms().stream().anyMatch(alarm -> alarm.occasion() == null && alarm.during() == null);
        boolean suspected =
                verdict.uncovered().stream().anyMatch(alarm -> alarm.occasion() == null && alarm.during() == null);
        row.count++;
        row.falseAlarms += alarmed ? 1 : 0;
        row.suspected += !alarmed && suspected ? 1 : 0;
    }

    private static String blank(int count) {
        return count == 0 ? "" : String.valueOf(count);
    }

    private static String key(Verdict verdict, Occasion occasion) {
        return occasion.kind() + " | " + (occasion.first() ? "first" : "later") + " | "
                + occasion.told(verdict.heartbeats());
    }

    private static void count(Verdict verdict, Occasion occasion, Row row) {
        double seconds = occasion.to() - occasion.from();
        row.count++;
        if (verdict.falseAlarms().stream().anyMatch(alarm -> occasion.equals(alarm.occasion()))) {
            row.falseAlarms++;
            row.shortestAlarm = Math.min(row.shortestAlarm, seconds);
            return;
        }
        row.longestQuiet = Math.max(row.longestQuiet, seconds);
        if (verdict.uncovered().stream().anyMatch(alarm -> occasion.equals(alarm.occasion()))) {
            row.suspected++;
        }
    }

    /** The seeds that fall short, by how; {@code most} of each kind. */
    List<String> shortfalls(int most) {
        List<String> lines = new ArrayList<>();
        for (Verdict.Shortfall kind : Verdict.Shortfall.values()) {
            List<String> all = verdicts.stream()
                    .filter(verdict -> verdict.shortfalls().containsKey(kind))
                    .map(verdict -> "  " + verdict.plan().name() + ": "
                            + String.join("; ", verdict.shortfalls().getOrDefault(kind, List.of())) + " | "
                            + verdict.plan().setting().words())
                    .toList();
            if (!all.isEmpty()) {
                lines.add(kind.words() + ", " + all.size() + " traces"
                        + (all.size() > most ? ", the first " + most : "") + ":");
                lines.addAll(all.subList(0, Math.min(most, all.size())));
            }
        }
        return lines;
    }
}

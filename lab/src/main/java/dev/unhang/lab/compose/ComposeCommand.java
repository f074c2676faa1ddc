package dev.unhang.lab.compose;

import dev.unhang.events.v1.Suspect;
import dev.unhang.healer.replay.Line;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.zip.GZIPOutputStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code unhang compose}: traces made by seed from segments of the recorded ones. {@code write} puts them into files,
 * {@code run} replays them and says how what was decided compares with what truly happened.
 */
@Command(
        name = "compose",
        mixinStandardHelpOptions = true,
        description =
                "Traces made by seed from segments of the recorded ones: written to files, or replayed and scored.")
public final class ComposeCommand {

    private final Path home;
    private final PrintStream out;
    private final PrintStream err;

    /** {@code home}: the checkout, for the recorded traces. */
    public ComposeCommand(Path home, PrintStream out, PrintStream err) {
        this.home = home;
        this.out = out;
        this.err = err;
    }

    @Command(name = "write", mixinStandardHelpOptions = true, description = "Writes composed traces, one a file, gzip.")
    int write(
            @Parameters(paramLabel = "N", description = "How many.") int count,
            @Parameters(paramLabel = "DIR", description = "Where to.") Path folder,
            @Option(names = "--seed", defaultValue = "0", description = "The first seed (${DEFAULT-VALUE}).")
                    long seed) {
        try {
            Segments segments = segments();
            Files.createDirectories(folder);
            for (long each = seed; each < seed + count; each++) {
                Plan plan = Planner.plan(each);
                Path file = folder.resolve(plan.name() + ".jsonl.gz");
                try (ComposedTrace trace = new ComposedTrace(plan, segments);
                        OutputStream to = new GZIPOutputStream(Files.newOutputStream(file), 1 << 16)) {
                    trace.transferTo(to);
                }
                out.println(file);
            }
            return 0;
        } catch (IOException e) {
            err.println("unhang compose: " + e.getMessage());
            return 2;
        }
    }

    @Command(
            name = "run",
            mixinStandardHelpOptions = true,
            description = "Replays composed traces, with heartbeats and without, and scores what was decided.")
    int run(
            @Parameters(paramLabel = "N", description = "How many.") int count,
            @Option(names = "--seed", defaultValue = "0", description = "The first seed (${DEFAULT-VALUE}).") long seed,
            @Option(names = "--explain", description = "Prints each trace's history and incidents.") boolean explain,
            @Option(
                            names = "--list",
                            defaultValue = "15",
                            paramLabel = "K",
                            description = "Lists so many seeds for each way to fall short (${DEFAULT-VALUE}).")
                    int most,
            @Option(names = "--write-docs", description = "Writes the tables to docs/confusion.md.") boolean writeDocs)
            throws InterruptedException {
        try {
            Runner runner = new Runner(segments());
            Confusion with = new Confusion(judge(runner, seed, count, true, explain));
            Confusion without = new Confusion(judge(runner, seed, count, false, explain));
            ConfusionPage page = new ConfusionPage(seed, count, with, without);
            page.tables().forEach(out::println);
            listShortfalls(true, with, most);
            listShortfalls(false, without, most);
            if (writeDocs) {
                Path file = home.resolve("docs/confusion.md");
                Files.write(file, page.lines(), StandardCharsets.UTF_8);
                out.println("written: " + file);
            }
            return 0;
        } catch (IOException e) {
            err.println("unhang compose: " + e.getMessage());
            return 2;
        }
    }

    private Segments segments() throws IOException {
        return Segments.read(home.resolve("lab/traces"));
    }

    private List<Verdict> judge(Runner runner, long seed, int count, boolean heartbeats, boolean explain)
            throws IOException, InterruptedException {
        List<Verdict> verdicts = runner.judge(seed, count, heartbeats, done -> {
            if (done % 50 == 0) {
                err.println(done + " of " + count + " traces " + mode(heartbeats));
            }
        });
        if (explain) {
            verdicts.forEach(verdict -> explained(verdict).forEach(out::println));
        }
        return verdicts;
    }

    private static String mode(boolean heartbeats) {
        return heartbeats ? "with heartbeats" : "without heartbeats";
    }

    private void listShortfalls(boolean heartbeats, Confusion confusion, int most) {
        out.println();
        out.println("Fell short " + mode(heartbeats) + ":");
        confusion.shortfalls(most).forEach(out::println);
    }

    /** What happened and what was said, in order of time. */
    private static List<String> explained(Verdict verdict) {
        record At(double seconds, String words) {}
        List<At> all = new ArrayList<>();
        for (Label label : verdict.plan().labels()) {
            all.add(new At(label.onset(), "FAULT " + label.kind() + ": " + label.cause() + " " + label.ranks()));
            if (label.clears()) {
                all.add(new At(label.cleared(), "CLEARED " + label.cause()));
            }
        }
        for (Occasion occasion : verdict.occasions()) {
            all.add(new At(
                    occasion.from(),
                    "BENIGN " + occasion.kind() + " up to " + Math.round(occasion.to()) + " ("
                            + occasion.told(verdict.heartbeats()) + ")"));
        }
        for (Line line : verdict.lines()) {
            all.add(new At(line.seconds(), "  " + line.event() + " " + Verdict.kind(line) + said(line)));
        }
        all.sort((a, b) -> Double.compare(a.seconds(), b.seconds()));
        List<String> lines = new ArrayList<>();
        lines.add(verdict.plan().name() + " " + mode(verdict.heartbeats()) + ", "
                + verdict.plan().seconds() + " s: " + verdict.plan().setting().words());
        all.forEach(at -> lines.add(String.format(Locale.ROOT, "%8.1f  %s", at.seconds(), at.words())));
        return lines;
    }

    private static String said(Line line) {
        StringBuilder words = new StringBuilder();
        for (Suspect suspect : line.finding().getSuspectsList()) {
            words.append(" [").append(suspect.getNode());
            if (suspect.hasRank()) {
                words.append(" rank ").append(suspect.getRank());
            }
            words.append(' ').append(suspect.getScore()).append(']');
        }
        return words + ": " + line.sentence() + " " + line.finding().getEvidenceList();
    }
}

package dev.unhang.healer.cli;

import dev.unhang.events.v1.IncidentKind;
import dev.unhang.healer.cli.Exit.CommandFailedException;
import dev.unhang.healer.incident.Kinds;
import dev.unhang.healer.policy.BadPlaybooksException;
import dev.unhang.healer.policy.Condition;
import dev.unhang.healer.policy.Facts;
import dev.unhang.healer.policy.Mode;
import dev.unhang.healer.policy.Playbook;
import dev.unhang.healer.policy.PlaybookText;
import dev.unhang.healer.policy.Policy;
import dev.unhang.healer.policy.Rung;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code unhang playbooks check F} and {@code unhang playbooks explain KIND}. */
final class PlaybooksCommand {

    private PlaybooksCommand() {}

    @Command(name = "playbooks", mixinStandardHelpOptions = true, description = "Checks and explains playbooks.")
    static final class Root {}

    /** All mistakes at once, with their lines. */
    @Command(name = "check", mixinStandardHelpOptions = true, description = "Checks a file of playbooks.")
    static final class Check implements Callable<Integer> {

        @Parameters(paramLabel = "F", description = "A YAML file with playbooks, modes and limits.")
        Path file = Path.of("");

        private final Surroundings here;

        Check(Surroundings here) {
            this.here = here;
        }

        @Override
        public Integer call() {
            Policy policy = read(file);
            for (Mode mode : Mode.values()) {
                List<String> kinds = policy.playbooks().stream()
                        .filter(playbook -> playbook.mode() == mode)
                        .map(playbook -> Kinds.name(playbook.kind()))
                        .distinct()
                        .toList();
                if (!kinds.isEmpty()) {
                    here.out().println(mode.label() + ": " + String.join(", ", kinds));
                }
            }
            here.out().println(Telling.sentence(file.toString()) + " is well");
            return Exit.WELL;
        }
    }

    /** What would be done about a kind of incident, step by step. */
    @Command(
            name = "explain",
            mixinStandardHelpOptions = true,
            description = "Tells step by step what is done about a kind of incident.")
    static final class Explain implements Callable<Integer> {

        @Parameters(paramLabel = "KIND", description = "A kind of incident, as job-hang.")
        String kind = "";

        @Option(
                names = "--playbooks",
                paramLabel = "F",
                description = "Your own file; without it what is shipped is told.")
        @Nullable
        Path file;

        private final Surroundings here;

        Explain(Surroundings here) {
            this.here = here;
        }

        @Override
        public Integer call() {
            IncidentKind of = PlaybookText.kinds().stream()
                    .filter(each -> Kinds.name(each).equals(kind))
                    .findFirst()
                    .orElseThrow(() -> new CommandFailedException(
                            Exit.USAGE,
                            "there is no kind '" + kind + "'; there are "
                                    + String.join(
                                            ", ",
                                            PlaybookText.kinds().stream()
                                                    .map(Kinds::name)
                                                    .toList())));
            Policy policy = file == null ? PlaybookText.shipped() : read(file);
            List<Playbook> playbooks = policy.playbooks().stream()
                    .filter(playbook -> playbook.kind() == of)
                    .toList();
            if (playbooks.size() > 1) {
                here.out().println("The first whose condition holds is followed.");
            }
            for (Playbook playbook : playbooks) {
                here.out().println();
                explain(playbook).forEach(here.out()::println);
            }
            return Exit.WELL;
        }
    }

    /** For people: one playbook, a line each. */
    static List<String> explain(Playbook playbook) {
        List<String> lines = new ArrayList<>();
        lines.add("playbook " + playbook.name() + ", mode " + playbook.mode().label() + " ("
                + (switch (playbook.mode()) {
                    case OBSERVE -> "people are told, nothing is done";
                    case APPROVE -> "each step that puts something at risk waits for a yes";
                    case ENFORCE -> "what no guard refuses is done";
                })
                + ")");
        lines.add("  for: " + playbook.why());
        String when = condition(playbook.when());
        if (!when.isEmpty()) {
            lines.add("  when " + when);
        }
        int number = 0;
        for (Rung rung : playbook.rungs()) {
            StringBuilder line =
                    new StringBuilder("  " + ++number + ". " + rung.action().label());
            if (!rung.with().isEmpty()) {
                line.append(' ').append(new TreeMap<>(rung.with()));
            }
            String only = condition(rung.when());
            if (!only.isEmpty()) {
                line.append(", only when ").append(only);
            }
            line.append(", at most ").append(PlaybookText.shown(rung.timeout()));
            if (rung.harmless()) {
                line.append("; it only looks");
            } else if (rung.action().prepares()) {
                line.append("; it makes the next step safe");
            } else {
                line.append("; helped if the signal is well within ")
                        .append(PlaybookText.shown(rung.verifyWithin()))
                        .append(" and stays so for ")
                        .append(PlaybookText.shown(rung.verifyFor()))
                        .append("; ")
                        .append(rung.attempts() == 1 ? "once" : rung.attempts() + " times")
                        .append(", ")
                        .append(PlaybookText.shown(rung.cooldown()))
                        .append(" apart");
            }
            lines.add(line.toString());
        }
        lines.add("  then a person is called");
        return lines;
    }

    private static String condition(Condition condition) {
        List<String> parts = new ArrayList<>();
        if (!condition.launchers().isEmpty()) {
            parts.add("the job was started by "
                    + String.join(
                            " or ", condition.launchers().stream().sorted().toList()));
        }
        if (condition.suspect() != Facts.Confidence.NONE) {
            parts.add("the first suspect is at least "
                    + condition.suspect().name().toLowerCase(Locale.ROOT) + " sure");
        }
        if (condition.repeatOffender() != null) {
            parts.add(condition.repeatOffender() ? "its node has offended before" : "its node has not offended before");
        }
        new TreeMap<>(condition.figures()).forEach((name, values) -> parts.add(name + " is one of " + values));
        return String.join(" and ", parts);
    }

    static Policy read(Path file) {
        try {
            return PlaybookText.read(file.toString(), Files.readString(file), PlaybookText.shipped());
        } catch (BadPlaybooksException e) {
            throw new CommandFailedException(Exit.USAGE, String.join("\n", e.mistakes()));
        } catch (NoSuchFileException e) {
            throw new CommandFailedException(Exit.USAGE, file + " is not there");
        } catch (IOException e) {
            throw new CommandFailedException(Exit.USAGE, file + " cannot be read: " + e.getMessage());
        }
    }
}

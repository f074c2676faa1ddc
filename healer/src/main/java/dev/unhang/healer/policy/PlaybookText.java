package dev.unhang.healer.policy;

import dev.unhang.events.v1.IncidentKind;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.incident.Kinds;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;

/**
 * Reads playbooks. What a file says of a kind stands in place of all that is shipped for that kind; {@code modes} changes
 * how far shipped ones go; {@code limits} holds for all. Every mistake is told at once, with its line. Stateless.
 */
public final class PlaybookText {

    private static final String SHIPPED = "/dev/unhang/healer/policy/playbooks.yaml";
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration DAY = Duration.ofDays(1);
    private static final int MOST_STEPS = 20;
    private static final int MOST_ATTEMPTS = 10;

    private PlaybookText() {}

    /** The playbooks that come with Unhang, all in mode observe. */
    public static Policy shipped() {
        try (InputStream in = PlaybookText.class.getResourceAsStream(SHIPPED)) {
            if (in == null) {
                throw new IllegalStateException("the shipped playbooks are not in the jar");
            }
            return read("shipped playbooks", new String(in.readAllBytes(), StandardCharsets.UTF_8), Policy.NONE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (BadPlaybooksException e) {
            throw new IllegalStateException("the shipped playbooks are wrong: " + e.getMessage(), e);
        }
    }

    /**
     * Reads a file's text over what is shipped.
     *
     * @param file its name, for mistakes
     * @throws BadPlaybooksException with all mistakes
     */
    public static Policy read(String file, String yaml, Policy shipped) throws BadPlaybooksException {
        YamlTree tree = new YamlTree(file);
        YamlTree.Part root = tree.root(yaml, "the file");
        if (root == null) {
            tree.finish();
            throw new IllegalStateException("a text without a root has a mistake");
        }
        List<Playbook> own = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (Node node : root.items("playbooks")) {
            Playbook playbook = playbook(tree, tree.part(node, "a playbook"));
            if (playbook != null) {
                if (!names.add(playbook.name())) {
                    tree.mistake(YamlTree.line(node), "two playbooks have the name " + playbook.name());
                }
                own.add(playbook);
            }
        }
        Set<IncidentKind> replaced = new HashSet<>();
        own.forEach(playbook -> replaced.add(playbook.kind()));
        List<Playbook> all = new ArrayList<>(own);
        shipped.playbooks().stream()
                .filter(playbook -> !replaced.contains(playbook.kind()))
                .forEach(playbook -> {
                    if (names.contains(playbook.name())) {
                        tree.mistake(0, "the name " + playbook.name() + " is taken by a shipped playbook");
                    }
                    all.add(playbook);
                });
        Map<IncidentKind, Mode> modes = modes(tree, root.part("modes"), all);
        Limits limits = limits(root.part("limits"), shipped.limits());
        root.done();
        tree.finish();
        return new Policy(all, limits).at(modes);
    }

    private static @Nullable Playbook playbook(YamlTree tree, YamlTree.Part part) {
        String name = part.needed("name");
        if (!name.isEmpty() && !name.matches("[a-z0-9][a-z0-9-]{0,60}")) {
            tree.mistake(part.line("name"), "name is '" + name + "' and may hold small letters, digits and dashes");
        }
        IncidentKind kind = kind(tree, part, part.needed("kind"), "kind");
        Mode mode = mode(tree, part.text("mode"), part.line("mode"));
        String why = part.needed("why");
        Condition when = condition(tree, part.part("when"));
        List<Rung> rungs = new ArrayList<>();
        for (Node node : part.items("steps")) {
            Rung rung = rung(tree, tree.part(node, "a step"));
            if (rung != null) {
                rungs.add(rung);
            }
        }
        if (rungs.size() > MOST_STEPS) {
            tree.mistake(part.line("steps"), "a playbook has at most " + MOST_STEPS + " steps: it must end");
        }
        part.done();
        return kind == null ? null : new Playbook(name, kind, when, mode, rungs, why);
    }

    private static @Nullable Rung rung(YamlTree tree, YamlTree.Part part) {
        String label = part.needed("action");
        Action action = Action.named(label).orElse(null);
        if (!label.isEmpty() && (action == null || action == Action.UNDRAIN)) {
            tree.mistake(
                    part.line("action"),
                    action == null
                            ? "there is no action '" + label + "'; there are "
                                    + String.join(
                                            ", ",
                                            Arrays.stream(Action.values())
                                                    .filter(each -> each != Action.UNDRAIN)
                                                    .map(Action::label)
                                                    .toList())
                            : "undrain is no step: what was drained is given back by itself once it is well");
            action = null;
        }
        Condition when = condition(tree, part.part("when"));
        Duration timeout = part.duration("timeout", Rung.USUAL_TIMEOUT, SECOND, HOUR);
        YamlTree.Part verify = part.part("verify");
        Duration within = Rung.USUAL_VERIFY_WITHIN;
        Duration lasting = Rung.USUAL_VERIFY_FOR;
        if (verify != null) {
            within = verify.duration("within", within, SECOND, DAY);
            lasting = verify.duration("for", lasting, SECOND, DAY);
            verify.done();
        }
        Duration cooldown = part.duration("cooldown", Rung.USUAL_COOLDOWN, Duration.ZERO, DAY);
        int attempts = part.number("attempts", 1, 1, MOST_ATTEMPTS);
        Map<String, String> with = new TreeMap<>();
        YamlTree.Part given = part.part("with");
        if (given != null) {
            for (String name : Set.copyOf(given.names())) {
                String value = given.text(name);
                if (value != null) {
                    with.put(name, value);
                }
                if (action != null && !mayBeGiven(action).contains(name)) {
                    tree.mistake(
                            given.line(name),
                            action.label() + " takes no '" + name + "' from a playbook"
                                    + (mayBeGiven(action).isEmpty() ? "" : "; it takes " + mayBeGiven(action)));
                }
            }
        }
        if (action == Action.RELAUNCH_UNIT && !with.containsKey("unit")) {
            tree.mistake(part.line(), "relaunch-unit needs with: {unit: NAME.service}");
        }
        part.done();
        return action == null ? null : new Rung(action, when, timeout, within, lasting, cooldown, attempts, with);
    }

    /** What an incident cannot say and a playbook may. */
    private static List<String> mayBeGiven(Action action) {
        return switch (action) {
            case RELAUNCH_UNIT -> List.of("unit");
            case COLLECT_EVIDENCE -> List.of("bug-report");
            default -> List.of();
        };
    }

    private static Condition condition(YamlTree tree, YamlTree.@Nullable Part part) {
        if (part == null) {
            return Condition.ALWAYS;
        }
        Set<String> launchers = new LinkedHashSet<>(part.texts("launcher"));
        for (String launcher : launchers) {
            if (!Condition.LAUNCHERS.contains(launcher)) {
                tree.mistake(part.line("launcher"), "launcher is '" + launcher + "'; it may be torchrun, slurm or k8s");
            }
        }
        String suspect = part.text("suspect");
        Facts.Confidence confidence = Facts.Confidence.NONE;
        if (suspect != null) {
            try {
                confidence = Facts.Confidence.valueOf(suspect.toUpperCase(Locale.ROOT));
            } catch (IllegalArgumentException e) {
                tree.mistake(part.line("suspect"), "suspect is '" + suspect + "'; it may be low, medium or high");
            }
        }
        String offender = part.text("repeat-offender");
        if (offender != null && !offender.equals("true") && !offender.equals("false")) {
            tree.mistake(part.line("repeat-offender"), "repeat-offender must be true or false");
        }
        Map<String, List<Double>> figures = new TreeMap<>();
        YamlTree.Part measured = part.part("figures");
        if (measured != null) {
            for (String name : List.copyOf(measured.names())) {
                List<Double> values = new ArrayList<>();
                for (String value : measured.texts(name)) {
                    try {
                        values.add(Double.valueOf(value));
                    } catch (NumberFormatException e) {
                        tree.mistake(measured.line(name), name + " is '" + value + "' and must be a number");
                    }
                }
                figures.put(name, List.copyOf(values));
            }
        }
        part.done();
        return new Condition(launchers, confidence, offender == null ? null : offender.equals("true"), figures);
    }

    private static Map<IncidentKind, Mode> modes(
            YamlTree tree, YamlTree.@Nullable Part part, List<Playbook> playbooks) {
        Map<IncidentKind, Mode> modes = new EnumMap<>(IncidentKind.class);
        if (part != null) {
            for (String name : List.copyOf(part.names())) {
                IncidentKind kind = kind(tree, part, name, name);
                Mode mode = mode(tree, part.text(name), part.line(name));
                if (kind != null) {
                    modes.put(kind, mode);
                    if (playbooks.stream().noneMatch(playbook -> playbook.kind() == kind)) {
                        tree.mistake(part.line(name), "there is no playbook for " + name);
                    }
                }
            }
        }
        return modes;
    }

    private static Limits limits(YamlTree.@Nullable Part part, Limits usual) {
        if (part == null) {
            return usual;
        }
        Limits limits = new Limits(
                part.number("nodes-percent", usual.nodesPercent(), 0, 50),
                part.number("nodes-at-most", usual.nodesAtMost(), 1, 1_000),
                part.number("jobs-at-most", usual.jobsAtMost(), 1, 1_000),
                part.number("attempts-per-incident", usual.perIncident(), 1, 50),
                part.number("attempts-per-node-a-day", usual.perNodeADay(), 1, 50),
                part.number("attempts-per-job-a-day", usual.perJobADay(), 1, 50),
                part.number("burst-percent", usual.burstPercent(), 1, 100),
                part.duration("approval-expires", usual.approvalExpires(), Duration.ofMinutes(1), DAY),
                part.duration("approval-holds", usual.approvalHolds(), Duration.ofMinutes(1), DAY),
                part.number("repeat-offences", usual.repeatOffences(), 1, 16),
                part.has("rack-label") ? part.needed("rack-label") : usual.rackLabel());
        part.done();
        return limits;
    }

    private static Mode mode(YamlTree tree, @Nullable String text, int line) {
        if (text == null) {
            return Mode.OBSERVE;
        }
        for (Mode mode : Mode.values()) {
            if (mode.label().equals(text)) {
                return mode;
            }
        }
        tree.mistake(line, "mode is '" + text + "'; it may be observe, approve or enforce");
        return Mode.OBSERVE;
    }

    private static @Nullable IncidentKind kind(YamlTree tree, YamlTree.Part part, String text, String member) {
        for (IncidentKind kind : kinds()) {
            if (Kinds.name(kind).equals(text)) {
                return kind;
            }
        }
        if (!text.isEmpty()) {
            tree.mistake(
                    part.line(member),
                    "there is no kind of incident '" + text + "'; there are "
                            + String.join(
                                    ", ", kinds().stream().map(Kinds::name).toList()));
        }
        return null;
    }

    /** Every kind of incident that a playbook can be for. */
    public static List<IncidentKind> kinds() {
        return Arrays.stream(IncidentKind.values())
                .filter(kind -> kind != IncidentKind.UNRECOGNIZED && kind != IncidentKind.INCIDENT_KIND_UNSPECIFIED)
                .toList();
    }

    /** For people: as it is written in a file. */
    public static String shown(Duration duration) {
        return duration.toSeconds() % 60 == 0 && duration.toSeconds() > 0
                ? duration.toMinutes() + "m"
                : duration.toSeconds() + "s";
    }
}

package dev.unhang.settings;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * Reads one YAML file of kebab-case keys. A daemon asks for each of its keys once, then calls {@link #finish}, which
 * throws if any value was wrong or any key in the file was never asked for: so an operator sees all mistakes at once
 * and mends the file once. An environment variable {@code UNHANG_A_B_C} overrides the key {@code a.b-c}. Confined to
 * the thread that starts the daemon.
 */
public final class Settings {

    /** What the reference page tells of one key. */
    public record Key(String name, String type, String fallback, String meaning) {}

    private static final Pattern DURATION = Pattern.compile("(\\d+)(ms|s|m|h|d)");
    private static final Pattern SIZE = Pattern.compile("(\\d+)(B|KiB|MiB|GiB)");

    private record Found(Node node, int line) {}

    private final String file;
    private final Map<String, Found> values = new LinkedHashMap<>();
    private final Map<String, String> environment;
    private final Map<String, Key> asked = new LinkedHashMap<>();
    private final List<String> openMaps = new ArrayList<>();
    private final TreeMap<Integer, List<String>> mistakes = new TreeMap<>();

    private Settings(String file, Map<String, String> environment) {
        this.file = file;
        this.environment = Map.copyOf(environment);
    }

    /** Reads the file; a file that is no YAML mapping is one mistake, told by {@link #finish}. */
    public static Settings read(Path file, Map<String, String> environment) throws IOException {
        Settings settings = new Settings(file.toString(), environment);
        try (InputStream in = Files.newInputStream(file)) {
            new Compose(LoadSettings.builder().setLabel(file.toString()).build())
                    .composeInputStream(in)
                    .ifPresent(root -> settings.collect("", root));
        } catch (MarkedYamlEngineException e) {
            int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(0);
            settings.mistake(line, "this is not YAML: " + e.getProblem());
        } catch (YamlEngineException e) {
            settings.mistake(0, "this is not YAML: " + e.getMessage());
        }
        return settings;
    }

    /** Settings of no file: defaults and the environment. */
    public static Settings none(Map<String, String> environment) {
        return new Settings("settings", environment);
    }

    public String text(String key, String fallback, String meaning) {
        return scalar(key, "text", fallback, meaning, fallback, value -> value);
    }

    /** A text that may be left out. */
    public @Nullable String optionalText(String key, String meaning) {
        return scalar(key, "text", "not set", meaning, "", value -> value).isEmpty()
                ? null
                : scalar(key, "text", "not set", meaning, "", value -> value);
    }

    public int number(String key, int fallback, int least, int most, String meaning) {
        return scalar(key, "number", Integer.toString(fallback), meaning, fallback, value -> {
            int number = Integer.parseInt(value);
            if (number < least || number > most) {
                throw new IllegalArgumentException("must be from " + least + " to " + most);
            }
            return number;
        });
    }

    public boolean flag(String key, boolean fallback, String meaning) {
        return scalar(key, "true or false", Boolean.toString(fallback), meaning, fallback, value -> switch (value) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException("must be true or false");
        });
    }

    public Duration duration(String key, Duration fallback, Duration least, Duration most, String meaning) {
        return scalar(key, "duration", show(fallback), meaning, fallback, value -> {
            Duration duration = parseDuration(value);
            if (duration.compareTo(least) < 0 || duration.compareTo(most) > 0) {
                throw new IllegalArgumentException("must be from " + show(least) + " to " + show(most));
            }
            return duration;
        });
    }

    /** Bytes, written as {@code 64MiB}. */
    public long size(String key, long fallback, long least, long most, String meaning) {
        return scalar(key, "size", showSize(fallback), meaning, fallback, value -> {
            Matcher matcher = SIZE.matcher(value);
            if (!matcher.matches()) {
                throw new IllegalArgumentException("must be a size as 512KiB or 64MiB");
            }
            long unit = switch (matcher.group(2)) {
                case "B" -> 1L;
                case "KiB" -> 1L << 10;
                case "MiB" -> 1L << 20;
                default -> 1L << 30;
            };
            long size = Math.multiplyExact(Long.parseLong(matcher.group(1)), unit);
            if (size < least || size > most) {
                throw new IllegalArgumentException("must be from " + showSize(least) + " to " + showSize(most));
            }
            return size;
        });
    }

    public <E extends Enum<E>> E choice(String key, Class<E> type, E fallback, String meaning) {
        List<String> names = new ArrayList<>();
        for (E constant : type.getEnumConstants()) {
            names.add(kebab(constant));
        }
        return scalar(key, String.join(", ", names), kebab(fallback), meaning, fallback, value -> {
            for (E constant : type.getEnumConstants()) {
                if (kebab(constant).equals(value)) {
                    return constant;
                }
            }
            throw new IllegalArgumentException("must be one of " + String.join(", ", names));
        });
    }

    public List<String> list(String key, List<String> fallback, String meaning) {
        describe(key, "list of texts", String.join(", ", fallback), meaning);
        String override = environment.get(variable(key));
        if (override != null) {
            return override.isBlank() ? List.of() : List.of(override.split("\\s*,\\s*", -1));
        }
        Found found = values.get(key);
        if (found == null) {
            return fallback;
        }
        List<String> texts = new ArrayList<>();
        if (found.node() instanceof SequenceNode sequence) {
            for (Node item : sequence.getValue()) {
                if (item instanceof ScalarNode scalar) {
                    texts.add(scalar.getValue());
                } else {
                    mistake(found.line(), key + " must be a list of texts");
                }
            }
        } else {
            mistake(found.line(), key + " must be a list of texts, as [a, b]");
        }
        return List.copyOf(texts);
    }

    /** A mapping whose keys are the operator's own, as labels. */
    public Map<String, String> map(String key, String meaning) {
        describe(key + ".*", "text", "none", meaning);
        openMaps.add(key + ".");
        Map<String, String> map = new TreeMap<>();
        values.forEach((name, found) -> {
            if (name.startsWith(key + ".")) {
                if (found.node() instanceof ScalarNode scalar) {
                    map.put(name.substring(key.length() + 1), scalar.getValue());
                } else {
                    mistake(found.line(), name + " must be one value (text)");
                }
            }
        });
        return Map.copyOf(map);
    }

    /** Tells of a mistake that spans keys; {@code key} gives the line. */
    public void mistake(String key, String sentence) {
        Found found = values.get(key);
        mistake(found == null ? 0 : found.line(), sentence);
    }

    /** All keys that were asked for, for the reference page. */
    public List<Key> keys() {
        return List.copyOf(asked.values());
    }

    /** Throws with all mistakes, unknown keys included, in the order of their lines. */
    public void finish() throws BadSettingsException {
        values.forEach((name, found) -> {
            boolean known = asked.containsKey(name) || openMaps.stream().anyMatch(name::startsWith);
            if (!known) {
                mistake(found.line(), name + " is no key of this daemon" + near(name));
            }
        });
        if (mistakes.isEmpty()) {
            return;
        }
        List<String> all = new ArrayList<>();
        mistakes.forEach((line, sentences) ->
                sentences.forEach(sentence -> all.add(line > 0 ? "line " + line + ": " + sentence : sentence)));
        throw new BadSettingsException(file, all);
    }

    /** Reads {@code 250ms}, {@code 15s}, {@code 10m}, {@code 2h} or {@code 7d}. */
    public static Duration parseDuration(String value) {
        Matcher matcher = DURATION.matcher(value);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("must be a duration as 250ms, 15s, 10m or 2h");
        }
        long count = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(count);
            case "s" -> Duration.ofSeconds(count);
            case "m" -> Duration.ofMinutes(count);
            case "h" -> Duration.ofHours(count);
            default -> Duration.ofDays(count);
        };
    }

    private <T> T scalar(
            String key, String type, String shown, String meaning, T fallback, Function<String, T> parser) {
        describe(key, type, shown, meaning);
        String override = environment.get(variable(key));
        Found found = values.get(key);
        int line = found == null || override != null ? 0 : found.line();
        String value = override;
        if (value == null && found != null) {
            if (!(found.node() instanceof ScalarNode scalar)) {
                mistake(line, key + " must be one value (" + type + ")");
                return fallback;
            }
            value = scalar.getValue();
        }
        if (value == null) {
            return fallback;
        }
        try {
            return parser.apply(value.strip());
        } catch (NumberFormatException e) {
            mistake(line, named(key, override) + " is '" + value + "' and must be a " + type);
        } catch (IllegalArgumentException | ArithmeticException e) {
            mistake(line, named(key, override) + " is '" + value + "' and " + e.getMessage());
        }
        return fallback;
    }

    private void describe(String key, String type, String fallback, String meaning) {
        asked.put(key, new Key(key, type, fallback, meaning));
    }

    private void collect(String prefix, Node node) {
        int line = node.getStartMark().map(mark -> mark.getLine() + 1).orElse(0);
        if (!(node instanceof MappingNode mapping)) {
            mistake(line, "the file must be a mapping of keys to values");
            return;
        }
        for (NodeTuple tuple : mapping.getValue()) {
            int keyLine = tuple.getKeyNode()
                    .getStartMark()
                    .map(mark -> mark.getLine() + 1)
                    .orElse(0);
            if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
                mistake(keyLine, "a key must be one word");
                continue;
            }
            String name = prefix + key.getValue();
            if (tuple.getValueNode() instanceof MappingNode) {
                collect(name + ".", tuple.getValueNode());
            } else if (values.put(name, new Found(tuple.getValueNode(), keyLine)) != null) {
                mistake(keyLine, name + " stands here twice");
            }
        }
    }

    private void mistake(int line, String sentence) {
        mistakes.computeIfAbsent(line, ignored -> new ArrayList<>()).add(sentence);
    }

    private String near(String name) {
        return asked.keySet().stream()
                .filter(key -> distance(key, name) <= Math.min(3, name.length() / 3))
                .min(Comparator.comparingInt(key -> distance(key, name)))
                .map(key -> "; did you mean " + key + "?")
                .orElse("");
    }

    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int corner = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int swap = corner + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                corner = row[j];
                row[j] = Math.min(swap, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }

    private static String named(String key, @Nullable String override) {
        return override == null ? key : key + " (from " + variable(key) + ")";
    }

    private static String variable(String key) {
        return "UNHANG_" + key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }

    private static String kebab(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static String show(Duration duration) {
        if (duration.toMillis() % 1000 != 0) {
            return duration.toMillis() + "ms";
        }
        long seconds = duration.toSeconds();
        return seconds % 3600 == 0 && seconds > 0
                ? seconds / 3600 + "h"
                : seconds % 60 == 0 && seconds > 0 ? seconds / 60 + "m" : seconds + "s";
    }

    private static String showSize(long bytes) {
        if (bytes == 0) {
            return "0B";
        }
        return bytes % (1 << 30) == 0
                ? (bytes >> 30) + "GiB"
                : bytes % (1 << 20) == 0
                        ? (bytes >> 20) + "MiB"
                        : bytes % (1 << 10) == 0 ? (bytes >> 10) + "KiB" : bytes + "B";
    }
}

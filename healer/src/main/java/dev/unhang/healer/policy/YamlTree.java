package dev.unhang.healer.policy;

import dev.unhang.settings.Settings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
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
 * Reads a YAML text member by member and gathers every mistake with its line, so that a person mends the file once. A
 * value that is wrong reads as its fallback. Confined to one thread.
 */
final class YamlTree {

    private final String file;
    private final TreeMap<Integer, List<String>> mistakes = new TreeMap<>();

    YamlTree(String file) {
        this.file = file;
    }

    /** One mapping of the file; members that nobody asked for are mistakes. */
    final class Part {

        private final Map<String, Node> members = new LinkedHashMap<>();
        private final Map<String, Integer> lines = new LinkedHashMap<>();
        private final Set<String> asked = new TreeSet<>();
        private final String what;
        private final int line;

        private Part(Node node, String what) {
            this.what = what;
            this.line = YamlTree.line(node);
            if (!(node instanceof MappingNode mapping)) {
                mistake(line, what + " must be a mapping of names to values");
                return;
            }
            for (NodeTuple tuple : mapping.getValue()) {
                if (tuple.getKeyNode() instanceof ScalarNode key) {
                    if (members.put(key.getValue(), tuple.getValueNode()) != null) {
                        mistake(YamlTree.line(key), key.getValue() + " stands twice in " + what);
                    }
                    lines.put(key.getValue(), YamlTree.line(key));
                } else {
                    mistake(YamlTree.line(tuple.getKeyNode()), "a name in " + what + " must be a text");
                }
            }
        }

        int line() {
            return line;
        }

        int line(String name) {
            return lines.getOrDefault(name, line);
        }

        Set<String> names() {
            asked.addAll(members.keySet());
            return members.keySet();
        }

        boolean has(String name) {
            return members.containsKey(name);
        }

        @Nullable
        String text(String name) {
            asked.add(name);
            Node node = members.get(name);
            if (node == null) {
                return null;
            }
            if (node instanceof ScalarNode scalar) {
                return scalar.getValue();
            }
            mistake(line(name), name + " must be one value");
            return null;
        }

        String needed(String name) {
            String text = text(name);
            if (text == null || text.isBlank()) {
                if (!has(name)) {
                    mistake(line, what + " has no " + name);
                } else if (text != null) {
                    mistake(line(name), name + " is empty");
                }
                return "";
            }
            return text;
        }

        int number(String name, int fallback, int least, int most) {
            String text = text(name);
            if (text == null) {
                return fallback;
            }
            try {
                int number = Integer.parseInt(text);
                if (number >= least && number <= most) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // told below
            }
            mistake(line(name), name + " is '" + text + "' and must be a number from " + least + " to " + most);
            return fallback;
        }

        Duration duration(String name, Duration fallback, Duration least, Duration most) {
            String text = text(name);
            if (text == null) {
                return fallback;
            }
            try {
                Duration duration = Settings.parseDuration(text);
                if (duration.compareTo(least) >= 0 && duration.compareTo(most) <= 0) {
                    return duration;
                }
                mistake(
                        line(name),
                        name + " is '" + text + "' and must be from " + least.toSeconds() + "s to " + most.toSeconds()
                                + "s");
            } catch (IllegalArgumentException e) {
                mistake(line(name), name + " is '" + text + "': " + e.getMessage());
            }
            return fallback;
        }

        @Nullable
        Part part(String name) {
            asked.add(name);
            Node node = members.get(name);
            return node == null ? null : new Part(node, name);
        }

        /** The items of a list; a single value counts as a list of one. */
        List<Node> items(String name) {
            asked.add(name);
            Node node = members.get(name);
            if (node == null) {
                return List.of();
            }
            return node instanceof SequenceNode sequence ? sequence.getValue() : List.of(node);
        }

        List<String> texts(String name) {
            List<String> texts = new ArrayList<>();
            for (Node item : items(name)) {
                if (item instanceof ScalarNode scalar) {
                    texts.add(scalar.getValue());
                } else {
                    mistake(YamlTree.line(item), name + " must be a list of single values");
                }
            }
            return texts;
        }

        /** Everything that was not asked for is a mistake. */
        void done() {
            for (String name : members.keySet()) {
                if (!asked.contains(name)) {
                    mistake(
                            line(name),
                            what + " has no member '" + name + "'; it may have " + String.join(", ", asked));
                }
            }
        }
    }

    Part part(Node node, String what) {
        return new Part(node, what);
    }

    /** The whole text as one mapping; null when it is no YAML, empty, or contains itself. */
    @Nullable
    Part root(String yaml, String what) {
        try {
            Node root = new Compose(LoadSettings.builder().setLabel(file).build())
                    .composeString(yaml)
                    .orElse(null);
            if (root == null) {
                mistake(0, "the file is empty");
                return null;
            }
            Node loop = loop(root, Collections.newSetFromMap(new IdentityHashMap<>()));
            if (loop != null) {
                mistake(line(loop), "this contains itself through a YAML alias: a playbook must end");
                return null;
            }
            return new Part(root, what);
        } catch (MarkedYamlEngineException e) {
            mistake(
                    e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(0),
                    "this is not YAML: " + e.getProblem());
        } catch (YamlEngineException e) {
            mistake(0, "this is not YAML: " + e.getMessage());
        }
        return null;
    }

    void mistake(int line, String sentence) {
        mistakes.computeIfAbsent(line, at -> new ArrayList<>())
                .add(file + (line > 0 ? ":" + line : "") + ": " + sentence);
    }

    void finish() throws BadPlaybooksException {
        if (!mistakes.isEmpty()) {
            throw new BadPlaybooksException(
                    mistakes.values().stream().flatMap(List::stream).toList());
        }
    }

    static int line(Node node) {
        return node.getStartMark().map(mark -> mark.getLine() + 1).orElse(0);
    }

    /** The first node that stands within itself, or null. */
    private static @Nullable Node loop(Node node, Set<Node> above) {
        if (!above.add(node)) {
            return node;
        }
        Node found = null;
        if (node instanceof MappingNode mapping) {
            for (NodeTuple tuple : mapping.getValue()) {
                found = found != null ? found : loop(tuple.getValueNode(), above);
            }
        } else if (node instanceof SequenceNode sequence) {
            for (Node item : sequence.getValue()) {
                found = found != null ? found : loop(item, above);
            }
        }
        above.remove(node);
        return found;
    }
}

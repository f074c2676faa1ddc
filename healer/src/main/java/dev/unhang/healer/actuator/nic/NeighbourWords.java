package dev.unhang.healer.actuator.nic;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A permanent neighbour, or an address answered for another, of {@code ip -d -j neigh}, as words that make it again. Pure. */
final class NeighbourWords {

    private static final Set<String> KEYS =
            Set.of("dst", "dev", "lladdr", "state", "router", "proxy", "extern_learn", "offload", "protocol");

    private NeighbourWords() {}

    static Optional<String> doubt(JsonObject neighbour) {
        return neighbour.fieldNames().stream()
                .filter(key -> !KEYS.contains(key))
                .findFirst()
                .map(key -> "'" + key + "' of it is not known here");
    }

    /** Without the first words {@code ip neigh replace}. */
    static List<String> words(JsonObject neighbour) {
        List<String> words = new ArrayList<>();
        boolean proxy = neighbour.containsKey("proxy");
        if (proxy) {
            words.add("proxy");
        }
        words.add(neighbour.getString("dst", ""));
        if (neighbour.containsKey("lladdr")) {
            words.addAll(List.of("lladdr", neighbour.getString("lladdr")));
        }
        words.addAll(List.of("dev", neighbour.getString("dev", "")));
        if (!proxy) {
            words.addAll(List.of("nud", "permanent"));
        }
        if (neighbour.containsKey("router")) {
            words.add("router");
        }
        if (neighbour.containsKey("extern_learn")) {
            words.add("extern_learn");
        }
        if (neighbour.containsKey("protocol")) {
            words.addAll(List.of("protocol", neighbour.getString("protocol")));
        }
        return words;
    }

    static JsonObject lasting(JsonObject neighbour) {
        JsonObject lasting = neighbour.copy();
        lasting.remove("offload");
        lasting.put("state", neighbour.getJsonArray("state", new JsonArray()));
        return lasting;
    }
}

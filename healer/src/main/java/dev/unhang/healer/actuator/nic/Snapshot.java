package dev.unhang.healer.actuator.nic;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The network of one namespace as {@code ip -d -j} printed it, kept word for word. Immutable by agreement: nobody changes
 * an object in it.
 */
record Snapshot(Map<Part, List<JsonObject>> parts) {

    /** One question to ip. */
    enum Part {
        LINKS("link", "show"),
        ADDRESSES("addr", "show"),
        ROUTES_4("-4", "route", "show", "table", "all"),
        ROUTES_6("-6", "route", "show", "table", "all"),
        NEIGHBOURS("neigh", "show", "nud", "permanent"),
        PROXIES("neigh", "show", "proxy"),
        RULES_4("-4", "rule", "show"),
        RULES_6("-6", "rule", "show"),
        NEXTHOPS("nexthop", "show");

        private final String words;

        Part(String... words) {
            this.words = String.join(" ", words);
        }

        List<String> words() {
            List<String> all = new ArrayList<>(List.of("ip", "-d", "-j"));
            all.addAll(List.of(words.split(" ")));
            return all;
        }
    }

    Snapshot {
        Map<Part, List<JsonObject>> all = new EnumMap<>(Part.class);
        for (Part part : Part.values()) {
            all.put(part, List.copyOf(parts.getOrDefault(part, List.of())));
        }
        parts = all;
    }

    List<JsonObject> part(Part part) {
        return parts.getOrDefault(part, List.of());
    }

    /** Of IPv4 or IPv6. */
    List<JsonObject> routes(boolean six) {
        return part(six ? Part.ROUTES_6 : Part.ROUTES_4);
    }

    List<JsonObject> rules(boolean six) {
        return part(six ? Part.RULES_6 : Part.RULES_4);
    }

    /** The addresses of a device, in ip's order. */
    List<JsonObject> addresses(String device) {
        List<JsonObject> found = new ArrayList<>();
        for (JsonObject link : part(Part.ADDRESSES)) {
            if (device.equals(link.getString("ifname"))) {
                found.addAll(objects(link.getJsonArray("addr_info", new JsonArray())));
            }
        }
        return found;
    }

    JsonObject toJson() {
        JsonObject json = new JsonObject();
        parts.forEach((part, objects) -> json.put(part.name(), new JsonArray(new ArrayList<>(objects))));
        return json;
    }

    static Snapshot of(JsonObject json) {
        Map<Part, List<JsonObject>> parts = new EnumMap<>(Part.class);
        for (Part part : Part.values()) {
            parts.put(part, objects(json.getJsonArray(part.name(), new JsonArray())));
        }
        return new Snapshot(parts);
    }

    /**
     * What ip answered to one question; nothing at all, as older ones answer where there is nothing, is an empty list.
     *
     * @throws DecodeException when it is not JSON as ip writes it
     */
    static List<JsonObject> parse(String output) {
        if (output.isBlank()) {
            return List.of();
        }
        return objects(new JsonArray(output));
    }

    /** Old versions of ip print empty objects between others. */
    private static List<JsonObject> objects(JsonArray array) {
        List<JsonObject> objects = new ArrayList<>();
        for (int i = 0; i < array.size(); i++) {
            if (!(array.getValue(i) instanceof JsonObject object)) {
                throw new DecodeException("element " + i + " is no object");
            }
            if (!object.isEmpty()) {
                objects.add(object);
            }
        }
        return objects;
    }
}

package dev.unhang.healer.actuator.nic;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A route of {@code ip -d -j route}, as words that make it again. What is not known here is a doubt, and a port with a
 * doubtful route is left alone. Keys are those of iproute2 6.1 ({@code iproute.c}). Pure.
 */
final class RouteWords {

    private static final Set<String> KEYS = Set.of(
            "type",
            "dst",
            "from",
            "tos",
            "gateway",
            "via",
            "dev",
            "table",
            "protocol",
            "scope",
            "prefsrc",
            "metric",
            "flags",
            "metrics",
            "pref",
            "expires",
            "nexthops",
            "flow",
            "weight");

    private static final Set<String> NEXTHOP_KEYS = Set.of("gateway", "via", "dev", "weight", "flags", "flow");

    /** Metrics that are numbers, by ip's word for each. */
    private static final Map<String, String> NUMBERS = numbers();

    /** Whoever wrote these routes watches the port, takes them back when it goes down, and would not know ours. */
    private static final Set<String> ROUTING_DAEMONS =
            Set.of("gated", "mrt", "zebra", "bird", "babel", "bgp", "isis", "ospf", "rip", "eigrp", "openr");

    /** Flags that are the administrator's; the others tell the state of the port. */
    private static final Set<String> LASTING_FLAGS = Set.of("onlink", "pervasive");

    private RouteWords() {}

    private static Map<String, String> numbers() {
        Map<String, String> words = new LinkedHashMap<>();
        for (String same : List.of(
                "mtu",
                "window",
                "ssthresh",
                "cwnd",
                "advmss",
                "reordering",
                "hoplimit",
                "initcwnd",
                "initrwnd",
                "quickack",
                "fastopen_no_cookie")) {
            words.put(same, same);
        }
        return words;
    }

    /** The devices that it leads through. */
    static List<String> devices(JsonObject route) {
        List<String> devices = new ArrayList<>();
        if (route.containsKey("dev")) {
            devices.add(route.getString("dev"));
        }
        for (JsonObject nexthop : nexthops(route)) {
            devices.add(nexthop.getString("dev", ""));
        }
        return devices;
    }

    static List<JsonObject> nexthops(JsonObject route) {
        List<JsonObject> nexthops = new ArrayList<>();
        for (Object nexthop : route.getJsonArray("nexthops", new JsonArray())) {
            nexthops.add((JsonObject) nexthop);
        }
        return nexthops;
    }

    static boolean isKernels(JsonObject route) {
        return "kernel".equals(route.getString("protocol"));
    }

    /** Whether the kernel makes it with the address, and nobody else: its own address, broadcast, multicast. */
    static boolean isKernelsOwn(JsonObject route) {
        return isKernels(route) && !"unicast".equals(route.getString("type", "unicast"));
    }

    static boolean hasGateway(JsonObject route) {
        return route.containsKey("gateway") || route.containsKey("via") || route.containsKey("nexthops");
    }

    /** Why it could not be made again; empty when it can. */
    static Optional<String> doubt(JsonObject route) {
        if (ROUTING_DAEMONS.contains(route.getString("protocol", ""))) {
            return Optional.of("it is of a routing daemon (" + route.getString("protocol") + ")");
        }
        for (String key : route.fieldNames()) {
            if (!KEYS.contains(key)) {
                return Optional.of("'" + key + "' of it is not known here");
            }
        }
        for (JsonObject nexthop : nexthops(route)) {
            for (String key : nexthop.fieldNames()) {
                if (!NEXTHOP_KEYS.contains(key)) {
                    return Optional.of("'" + key + "' of a next hop is not known here");
                }
            }
        }
        try {
            var unused = metrics(route);
        } catch (IllegalArgumentException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
        return Optional.empty();
    }

    /**
     * Without the first words {@code ip -4 route append}.
     *
     * @param elapsed seconds since it was saved, taken from what it had left
     */
    static List<String> words(JsonObject route, boolean six, long elapsed) {
        List<String> words = new ArrayList<>();
        String type = route.getString("type", "unicast");
        if (!"unicast".equals(type)) {
            words.add(type);
        }
        words.add(route.getString("dst", "default"));
        text(words, "from", route.getString("from"));
        text(words, "tos", route.getString("tos"));
        hop(words, route);
        text(words, "table", route.getString("table"));
        text(words, "proto", route.getString("protocol"));
        if (!six) {
            text(words, "scope", route.getString("scope"));
        }
        text(words, "src", route.getString("prefsrc"));
        if (route.containsKey("metric")) {
            text(words, "metric", String.valueOf(route.getValue("metric")));
        }
        words.addAll(metrics(route));
        if (six) {
            text(words, "pref", route.getString("pref"));
        }
        if (route.containsKey("expires")) {
            text(words, "expires", String.valueOf(Math.max(1, route.getLong("expires") - elapsed)));
        }
        flow(words, route);
        for (JsonObject nexthop : nexthops(route)) {
            words.add("nexthop");
            hop(words, nexthop);
            if (nexthop.containsKey("weight")) {
                text(words, "weight", String.valueOf(nexthop.getValue("weight")));
            }
            flow(words, nexthop);
        }
        return words;
    }

    /** What it is, apart from what changes by itself. */
    static JsonObject lasting(JsonObject route) {
        JsonObject lasting = route.copy();
        lasting.remove("expires");
        lastingFlags(lasting);
        nexthops(lasting).forEach(RouteWords::lastingFlags);
        return lasting;
    }

    private static void lastingFlags(JsonObject route) {
        JsonArray kept = new JsonArray();
        for (Object flag : route.getJsonArray("flags", new JsonArray())) {
            if (LASTING_FLAGS.contains(String.valueOf(flag))) {
                kept.add(flag);
            }
        }
        route.put("flags", kept);
    }

    private static void hop(List<String> words, JsonObject hop) {
        JsonObject via = hop.getJsonObject("via");
        if (via != null) {
            words.addAll(List.of("via", via.getString("family", "inet6"), via.getString("host", "")));
        }
        text(words, "via", hop.getString("gateway"));
        text(words, "dev", hop.getString("dev"));
        for (Object flag : hop.getJsonArray("flags", new JsonArray())) {
            if (LASTING_FLAGS.contains(String.valueOf(flag))) {
                words.add(String.valueOf(flag));
            }
        }
    }

    /** The realms, as {@code {"from":"3","to":"4"}}. */
    private static void flow(List<String> words, JsonObject route) {
        JsonObject flow = route.getJsonObject("flow");
        if (flow != null) {
            String from = flow.getString("from");
            text(words, "realms", (from == null ? "" : from + "/") + flow.getString("to", "0"));
        }
    }

    private static List<String> metrics(JsonObject route) {
        List<String> words = new ArrayList<>();
        for (Object each : route.getJsonArray("metrics", new JsonArray())) {
            for (Map.Entry<String, Object> metric : (JsonObject) each) {
                metric(words, metric.getKey(), metric.getValue());
            }
        }
        return words;
    }

    private static void metric(List<String> words, String name, Object value) {
        String number = NUMBERS.get(name);
        if (number != null && value instanceof Number) {
            text(words, number, String.valueOf(value));
        } else if ("ecn".equals(name)) {
            words.addAll(List.of("features", "ecn"));
        } else if ("congestion".equals(name)) {
            text(words, "congctl", String.valueOf(value));
        } else if (Set.of("rto_min", "rtt", "rttvar").contains(name) && value instanceof Integer ms && ms < 1000) {
            text(words, name, ms + "ms"); // from a second on, some versions print seconds
        } else {
            throw new IllegalArgumentException("its metric '" + name + "' is not known here");
        }
    }

    private static void text(List<String> words, String name, @org.jspecify.annotations.Nullable String value) {
        if (value != null) {
            words.add(name);
            words.add(value);
        }
    }
}

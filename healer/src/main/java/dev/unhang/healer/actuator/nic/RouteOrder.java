package dev.unhang.healer.actuator.nic;

import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * IPv4 routes to one destination with one metric stand in the order in which they were made, and the first one counts. So
 * a route that stood before one that is still there is made again before it. Pure.
 */
final class RouteOrder {

    /** A route to make, and whether before its like. */
    record Placed(JsonObject route, boolean first) {}

    private RouteOrder() {}

    /**
     * The missing routes, in the order to make them in.
     *
     * @param saved all routes as they stood
     * @param there tells whether a saved route is there
     */
    static List<Placed> place(List<JsonObject> missing, List<JsonObject> saved, Predicate<JsonObject> there) {
        Map<JsonObject, List<JsonObject>> present = new LinkedHashMap<>();
        List<Placed> first = new ArrayList<>();
        List<Placed> last = new ArrayList<>();
        for (JsonObject route : saved) {
            if (!missing.contains(route) && there.test(route)) {
                present.computeIfAbsent(key(route), any -> new ArrayList<>()).add(route);
            }
        }
        for (JsonObject route : missing) {
            List<JsonObject> like = present.getOrDefault(key(route), List.of());
            if (!like.isEmpty() && saved.indexOf(route) < saved.indexOf(like.get(0))) {
                first.add(0, new Placed(route, true)); // the last one made stands first
            } else {
                last.add(new Placed(route, false));
            }
        }
        first.addAll(last);
        return first;
    }

    /** Destinations whose routes are the same, in another order: the routes as they should stand. */
    static List<List<JsonObject>> disordered(List<JsonObject> saved, List<JsonObject> now) {
        Map<JsonObject, List<JsonObject>> after = groups(now);
        List<List<JsonObject>> found = new ArrayList<>();
        groups(saved).forEach((key, routes) -> {
            List<JsonObject> ours = after.getOrDefault(key, List.of());
            if (routes.size() == ours.size() && ours.containsAll(routes) && !ours.equals(routes)) {
                found.add(routes);
            }
        });
        return found;
    }

    /** Routes that have their like, and one of the devices: they could lose their order. */
    static List<List<JsonObject>> ordered(List<JsonObject> saved, Set<String> devices) {
        return groups(saved).values().stream()
                .filter(routes -> routes.size() > 1
                        && routes.stream()
                                .flatMap(route -> RouteWords.devices(route).stream())
                                .anyMatch(devices::contains))
                .toList();
    }

    /**
     * Commands that put like routes in order, whatever order they are in: from the last to the first, each is taken and
     * made again before the others. Two who do this at once end right, and there is always another of them.
     */
    static List<List<String>> rearrange(List<JsonObject> routes) {
        List<List<String>> commands = new ArrayList<>();
        for (int i = routes.size() - 1; i >= 0; i--) {
            for (String verb : List.of("del", "prepend")) {
                List<String> command = new ArrayList<>(List.of("ip", "-4", "route", verb));
                command.addAll(RouteWords.words(routes.get(i), false, 0));
                commands.add(command);
            }
        }
        return commands;
    }

    private static Map<JsonObject, List<JsonObject>> groups(List<JsonObject> routes) {
        Map<JsonObject, List<JsonObject>> groups = new LinkedHashMap<>();
        routes.forEach(route ->
                groups.computeIfAbsent(key(route), any -> new ArrayList<>()).add(route));
        return groups;
    }

    private static JsonObject key(JsonObject route) {
        JsonObject key = new JsonObject();
        for (String name : List.of("table", "dst", "tos", "metric")) {
            key.put(name, route.getValue(name));
        }
        return key;
    }
}

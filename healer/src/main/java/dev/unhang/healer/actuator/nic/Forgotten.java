package dev.unhang.healer.actuator.nic;

import dev.unhang.healer.actuator.nic.Snapshot.Part;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What a network would be at the worst after its port went down: nothing is left of the port and what is made on it. Pure. */
final class Forgotten {

    private Forgotten() {}

    static Snapshot of(Snapshot saved, DeviceStack stack) {
        Map<Part, List<JsonObject>> parts = new EnumMap<>(saved.parts());
        parts.put(
                Part.LINKS,
                saved.part(Part.LINKS).stream()
                        .map(link -> stack.own().contains(link.getString("ifname")) ? turned(link) : link)
                        .toList());
        parts.put(Part.ADDRESSES, without(saved, Part.ADDRESSES, "ifname", stack));
        parts.put(Part.NEIGHBOURS, without(saved, Part.NEIGHBOURS, "dev", stack));
        parts.put(Part.PROXIES, without(saved, Part.PROXIES, "dev", stack));
        for (Part routes : List.of(Part.ROUTES_4, Part.ROUTES_6)) {
            parts.put(
                    routes,
                    saved.part(routes).stream()
                            .filter(route -> RouteWords.devices(route).stream().noneMatch(stack.own()::contains))
                            .toList());
        }
        return new Snapshot(parts);
    }

    /** VLANs follow their port: one that was down may come up with it. */
    private static JsonObject turned(JsonObject link) {
        JsonArray flags = link.getJsonArray("flags", new JsonArray()).copy();
        if (!flags.remove("UP")) {
            flags.add("UP");
        }
        return link.copy().put("flags", flags);
    }

    private static List<JsonObject> without(Snapshot saved, Part part, String key, DeviceStack stack) {
        return saved.part(part).stream()
                .filter(each -> !stack.own().contains(each.getString(key, "")))
                .toList();
    }
}

package dev.unhang.healer.actuator.nic;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;

/** Reads the objects of {@code ip -d -j link}. Pure. */
final class Links {

    private Links() {}

    static Optional<JsonObject> named(List<JsonObject> links, String name) {
        return links.stream()
                .filter(link -> name.equals(link.getString("ifname")))
                .findFirst();
    }

    static boolean has(JsonObject link, String flag) {
        return link.getJsonArray("flags", new JsonArray()).contains(flag);
    }

    static JsonObject info(JsonObject link) {
        return link.getJsonObject("linkinfo", new JsonObject());
    }

    /** As {@code vlan}; empty for hardware. */
    static String kind(JsonObject link) {
        return info(link).getString("info_kind", "");
    }

    /** What its master is, as {@code bond}; empty without a master. */
    static String slaveKind(JsonObject link) {
        return info(link).getString("info_slave_kind", "");
    }

    static JsonObject slaveData(JsonObject link) {
        return info(link).getJsonObject("info_slave_data", new JsonObject());
    }

    /** The device that it is made on; empty when there is none. A veth's {@code link} is its other end. */
    static String lower(JsonObject link) {
        return "veth".equals(kind(link)) ? "" : link.getString("link", "");
    }
}

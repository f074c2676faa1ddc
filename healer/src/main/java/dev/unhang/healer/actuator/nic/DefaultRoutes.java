package dev.unhang.healer.actuator.nic;

import dev.unhang.healer.actuator.nic.Snapshot.Part;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds the default routes that a port carries for others: those of every table that a rule leads to, but for rules that
 * only traffic of the port itself meets. Nodes with several ports commonly have such a table for each. Pure.
 */
final class DefaultRoutes {

    /** A default route is sometimes written in two halves. */
    private static final Set<String> DESTINATIONS =
            Set.of("default", "0.0.0.0/0", "::/0", "0.0.0.0/1", "128.0.0.0/1", "::/1", "8000::/1", "2000::/3");

    private DefaultRoutes() {}

    /** A sentence for each. */
    static List<String> through(Snapshot network, DeviceStack stack) {
        List<String> found = new ArrayList<>();
        for (boolean six : new boolean[] {false, true}) {
            Set<String> tables = reachable(network, stack, six);
            for (JsonObject route : network.routes(six)) {
                String table = route.getString("table", "main");
                if (DESTINATIONS.contains(route.getString("dst", "default"))
                        && "unicast".equals(route.getString("type", "unicast"))
                        && tables.contains(table)
                        && RouteWords.devices(route).stream().anyMatch(stack.carries()::contains)) {
                    found.add("it carries the " + (six ? "IPv6" : "IPv4") + " default route of table " + table);
                }
            }
        }
        return found;
    }

    private static Set<String> reachable(Snapshot network, DeviceStack stack, boolean six) {
        Set<String> tables = new HashSet<>(Set.of("main", "default"));
        Set<String> own = new HashSet<>();
        for (String device : stack.own()) {
            network.addresses(device).forEach(address -> own.add(address.getString("local", "")));
        }
        for (JsonObject rule : network.rules(six)) {
            boolean ownSource = own.contains(rule.getString("src", "")) && !rule.containsKey("srclen");
            boolean ownTraffic = !rule.containsKey("not")
                    && (ownSource
                            || stack.own().contains(rule.getString("iif", ""))
                            || stack.own().contains(rule.getString("oif", "")));
            if (!ownTraffic && rule.containsKey("table")) {
                tables.add(rule.getString("table"));
            }
        }
        return tables;
    }

    /** Whether the port is in a VRF, whose rules this does not judge. */
    static boolean inVrf(Snapshot network, DeviceStack stack) {
        return network.part(Part.LINKS).stream()
                .anyMatch(link -> stack.all().contains(link.getString("ifname", ""))
                        && ("vrf".equals(Links.kind(link)) || "vrf".equals(Links.slaveKind(link))));
    }
}

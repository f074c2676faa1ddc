package dev.unhang.healer.actuator.nic;

import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What stands above a port. Pure.
 *
 * @param port the port itself
 * @param own the port and the devices made on it (VLAN, macvlan): what the kernel forgets when the port goes down
 * @param carries {@code own}, its masters and what is made on these: what has no network while the port is down. A bond
 *     with another slave that works is not in it
 * @param all {@code own} and every master, whether it goes on or not
 * @param lastSlaveOf the bonds that have no other slave that works
 */
record DeviceStack(String port, Set<String> own, Set<String> carries, Set<String> all, List<String> lastSlaveOf) {

    DeviceStack {
        own = new LinkedHashSet<>(own);
        carries = new LinkedHashSet<>(carries);
        all = new LinkedHashSet<>(all);
        lastSlaveOf = List.copyOf(lastSlaveOf);
    }

    static DeviceStack above(String port, List<JsonObject> links) {
        Set<String> own = new LinkedHashSet<>(List.of(port));
        grow(own, links, Set.of(), false);
        List<String> last = new ArrayList<>();
        Set<String> goesOn = new LinkedHashSet<>();
        for (JsonObject link : links) {
            String master = link.getString("master");
            if (own.contains(name(link)) && master != null && "bond".equals(Links.slaveKind(link))) {
                if (links.stream().anyMatch(other -> isWorkingSlave(other, master, own))) {
                    goesOn.add(master);
                } else {
                    last.add(master);
                }
            }
        }
        Set<String> carries = new LinkedHashSet<>(own);
        grow(carries, links, goesOn, true);
        Set<String> all = new LinkedHashSet<>(own);
        grow(all, links, Set.of(), true);
        return new DeviceStack(port, own, carries, all, last);
    }

    private static void grow(Set<String> set, List<JsonObject> links, Set<String> not, boolean masters) {
        boolean grew = true;
        while (grew) {
            grew = false;
            for (JsonObject link : links) {
                String master = link.getString("master");
                if (set.contains(Links.lower(link)) && !not.contains(name(link))) {
                    grew |= set.add(name(link));
                }
                if (masters && master != null && set.contains(name(link)) && !not.contains(master)) {
                    grew |= set.add(master);
                }
            }
        }
    }

    private static boolean isWorkingSlave(JsonObject link, String master, Set<String> own) {
        return master.equals(link.getString("master"))
                && !own.contains(name(link))
                && "bond".equals(Links.slaveKind(link))
                && "UP".equals(Links.slaveData(link).getString("mii_status"))
                && Links.has(link, "UP")
                && Links.has(link, "LOWER_UP");
    }

    private static String name(JsonObject link) {
        return link.getString("ifname", "");
    }
}

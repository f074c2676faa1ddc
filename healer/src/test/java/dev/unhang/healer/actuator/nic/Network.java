package dev.unhang.healer.actuator.nic;

import dev.unhang.healer.actuator.nic.Snapshot.Part;
import io.vertx.core.json.JsonObject;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** A network as iproute2 6.1 prints it; what a VLAN and a bond look like is from its sources and a host that has them. */
final class Network {

    private final Map<Part, String> parts = new EnumMap<>(Part.class);

    Network with(Part part, String json) {
        parts.put(part, json);
        return this;
    }

    Snapshot read() {
        Map<Part, List<JsonObject>> read = new EnumMap<>(Part.class);
        parts.forEach((part, json) -> read.put(part, Snapshot.parse(json)));
        return new Snapshot(read);
    }

    /** A hardware port that is up with a carrier; {@code more} is further keys, or nothing. */
    static String port(String name, String more) {
        return """
                {"ifindex":2,"ifname":"%s","flags":["BROADCAST","MULTICAST","UP","LOWER_UP"],"mtu":9000,"qdisc":"mq",\
                "operstate":"UP","linkmode":"DEFAULT","group":"default","txqlen":1000,"link_type":"ether",\
                "address":"b8:ce:f6:00:00:01","broadcast":"ff:ff:ff:ff:ff:ff"%s}""".formatted(name, more);
    }

    static String vlan(String name, String on, String flags) {
        return """
                {"ifindex":7,"link":"%s","ifname":"%s","flags":[%s],"mtu":9000,"qdisc":"noqueue","operstate":"UP",\
                "link_type":"ether","linkinfo":{"info_kind":"vlan","info_data":{"protocol":"802.1Q","id":100,\
                "flags":["REORDER_HDR"]}}}""".formatted(on, name, flags);
    }

    static String slave(String name, String bond, String mii, String flags) {
        return """
                {"ifindex":3,"ifname":"%s","flags":[%s],"mtu":9000,"qdisc":"mq","master":"%s","operstate":"UP",\
                "link_type":"ether","linkinfo":{"info_slave_kind":"bond","info_slave_data":{"state":"ACTIVE",\
                "mii_status":"%s","link_failure_count":0,"perm_hwaddr":"b8:ce:f6:00:00:02","queue_id":0,\
                "ad_aggregator_id":1}}}""".formatted(name, flags, bond, mii);
    }

    static final String UP = "\"BROADCAST\",\"MULTICAST\",\"SLAVE\",\"UP\",\"LOWER_UP\"";

    static final String BOND = """
            {"ifindex":9,"ifname":"bond0","flags":["BROADCAST","MULTICAST","MASTER","UP","LOWER_UP"],"mtu":9000,\
            "linkinfo":{"info_kind":"bond","info_data":{"mode":"802.3ad","miimon":100}}}""";
}

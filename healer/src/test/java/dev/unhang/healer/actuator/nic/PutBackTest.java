package dev.unhang.healer.actuator.nic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.healer.actuator.nic.Snapshot.Part;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a VLAN loses with its port; the kernel that the tests run on has no VLANs. */
class PutBackTest {

    private static final String LINKS = "[" + Network.port("ens1", "") + ","
            + Network.vlan("ens1.100", "ens1", "\"BROADCAST\",\"UP\",\"LOWER_UP\"") + ","
            + Network.vlan("ens1.200", "ens1", "\"BROADCAST\"") + "]";

    private static final String ROUTES = """
            [{"type":"unicast","dst":"10.9.0.0/16","gateway":"10.100.0.1","dev":"ens1.100","table":"main",\
            "protocol":"static","scope":"global","flags":[]},\
            {"type":"unicast","dst":"10.9.0.0/16","gateway":"10.7.0.1","dev":"other0","table":"main",\
            "protocol":"static","scope":"global","flags":[]},\
            {"type":"unicast","dst":"10.8.0.0/16","dev":"ens1.100","table":"main","protocol":"static",\
            "scope":"link","flags":[]}]""";

    private static final String OTHERS_ROUTE = """
            [{"type":"unicast","dst":"10.9.0.0/16","gateway":"10.7.0.1","dev":"other0","table":"main",\
            "protocol":"static","scope":"global","flags":["linkdown"]}]""";

    private final Snapshot saved =
            new Network().with(Part.LINKS, LINKS).with(Part.ROUTES_4, ROUTES).read();
    private final DeviceStack stack = DeviceStack.above("ens1", saved.part(Part.LINKS));

    private List<String> commands(Snapshot now) {
        return new PutBack(saved, now, stack, 0)
                .steps(true).stream()
                        .map(step -> String.join(" ", step.command()))
                        .toList();
    }

    @Test
    void vlansFollowTheirPortAndAreSetAsTheyWere() {
        Snapshot now = new Network()
                .with(
                        Part.LINKS,
                        "[" + Network.port("ens1", "") + "," + Network.vlan("ens1.100", "ens1", "\"BROADCAST\"") + ","
                                + Network.vlan("ens1.200", "ens1", "\"UP\"") + "]")
                .with(Part.ROUTES_4, OTHERS_ROUTE)
                .read();
        assertThat(commands(now)).containsExactly("ip link set dev ens1.100 up", "ip link set dev ens1.200 down");
    }

    @Test
    void routesComeBackInTheirOrderAndThoseWithoutAGatewayFirst() {
        Snapshot now = new Network()
                .with(Part.LINKS, LINKS)
                .with(Part.ROUTES_4, OTHERS_ROUTE)
                .read();
        assertThat(commands(now))
                .containsExactly(
                        "ip -4 route append 10.8.0.0/16 dev ens1.100 table main proto static scope link",
                        "ip -4 route prepend 10.9.0.0/16 via 10.100.0.1 dev ens1.100 table main proto static scope"
                                + " global");
        assertThat(new PutBack(saved, now, stack, 0).differences(true)).hasSize(2);
    }

    @Test
    void whatIsAsBeforeNeedsNothing() {
        assertThat(commands(saved)).isEmpty();
        assertThat(new PutBack(saved, saved, stack, 0).differences(true)).isEmpty();
    }

    @Test
    void aRouteThatStandsBehindItsLikeIsADifference() {
        String turned = "[" + ROUTES.replace("[{", "{").replace("}]", "}") + "]";
        int middle = turned.indexOf("},{") + 1;
        int last = turned.lastIndexOf("},{") + 1;
        String swapped =
                "[" + turned.substring(middle + 1, last) + "," + turned.substring(1, middle) + turned.substring(last);
        Snapshot now = new Network()
                .with(Part.LINKS, LINKS)
                .with(Part.ROUTES_4, swapped)
                .read();
        assertThat(new PutBack(saved, now, stack, 0).differences(true))
                .containsExactly("the routes to 10.9.0.0/16 stand in another order");
    }

    @Test
    void everythingHoldsAllThatCouldBeLost() {
        assertThat(PutBack.everything(saved, stack).stream()
                        .map(step -> String.join(" ", step.command()))
                        .toList())
                .contains(
                        "ip link set dev ens1 up",
                        "ip link set dev ens1.100 up",
                        "ip link set dev ens1.200 down",
                        "ip -4 route prepend 10.9.0.0/16 via 10.100.0.1 dev ens1.100 table main proto static scope"
                                + " global")
                .filteredOn(command -> command.contains("other0"))
                .allMatch(command -> command.contains("10.9.0.0/16"));
    }

    @Test
    void lifetimesHaveRunOn() {
        Snapshot address =
                new Network().with(Part.LINKS, LINKS).with(Part.ADDRESSES, """
                        [{"ifname":"ens1","addr_info":[{"family":"inet6","local":"2001:db8::7","prefixlen":64,\
                        "scope":"global","dynamic":true,"mngtmpaddr":true,"protocol":"kernel_ra",\
                        "valid_life_time":100,"preferred_life_time":30}]}]""").read();
        assertThat(new PutBack(address, saved, stack, 40)
                        .steps(true).stream().map(step -> String.join(" ", step.command())))
                .contains(
                        "ip -6 addr add 2001:db8::7/64 dev ens1 scope global mngtmpaddr valid_lft 60 preferred_lft 0");
    }
}

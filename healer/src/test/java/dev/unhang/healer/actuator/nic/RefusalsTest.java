package dev.unhang.healer.actuator.nic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.healer.actuator.nic.Snapshot.Part;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RefusalsTest {

    private static final Surroundings NOBODY = new Surroundings(List.of(), List.of(), 0, List.of(), List.of());

    private static final String MAIN =
            "{\"priority\":32766,\"src\":\"all\",\"table\":\"main\",\"protocol\":\"kernel\"}";

    private static String why(Network network, Surroundings surroundings) {
        Snapshot snapshot = network.read();
        DeviceStack stack = DeviceStack.above("ens1", snapshot.part(Part.LINKS));
        return Refusals.of(
                        snapshot,
                        stack,
                        Links.named(snapshot.part(Part.LINKS), "ens1").orElseThrow(),
                        surroundings)
                .orElse("");
    }

    private static Network bond(String otherMii, String otherFlags) {
        return new Network()
                .with(
                        Part.LINKS,
                        "[" + Network.slave("ens1", "bond0", "UP", Network.UP) + ","
                                + Network.slave("ens2", "bond0", otherMii, otherFlags) + "," + Network.BOND + "]")
                .with(
                        Part.ROUTES_4,
                        "[{\"type\":\"unicast\",\"dst\":\"default\",\"gateway\":\"10.0.0.1\",\"dev\":\"bond0\",\"table\":\"main\"}]");
    }

    @Test
    void aPortThatCarriesNothingMayGoDown() {
        assertThat(why(new Network().with(Part.LINKS, "[" + Network.port("ens1", "") + "]"), NOBODY))
                .isEmpty();
    }

    @Test
    void aSlaveMayGoDownWhileAnotherWorks() {
        assertThat(why(bond("UP", Network.UP), NOBODY)).isEmpty();
    }

    @Test
    void theLastSlaveThatWorksIsRefused() {
        assertThat(why(bond("DOWN", Network.UP), NOBODY))
                .contains("bond bond0 has no other slave that works", "it carries the IPv4 default route");
        assertThat(why(bond("UP", "\"UP\""), NOBODY)).contains("bond bond0 has no other slave that works");
    }

    @Test
    void whatGoesThroughAVlanGoesThroughItsPort() {
        Network network = new Network()
                .with(
                        Part.LINKS,
                        "[" + Network.port("ens1", "") + "," + Network.vlan("ens1.100", "ens1", "\"UP\",\"LOWER_UP\"")
                                + "]");
        Surroundings kafka = new Surroundings(
                List.of(new Surroundings.Peer("the Kafka broker 10.0.0.5", Optional.of("ens1.100"))),
                List.of(),
                0,
                List.of(),
                List.of());
        assertThat(why(network, kafka)).contains("it carries the Kafka broker 10.0.0.5 (through ens1.100)");
        Surroundings elsewhere = new Surroundings(
                List.of(new Surroundings.Peer("the Kafka broker 10.0.0.5", Optional.of("ens9"))),
                List.of(),
                0,
                List.of(),
                List.of());
        assertThat(why(network, elsewhere)).isEmpty();
    }

    @Test
    void aDefaultRouteOfItsOwnTableIsNoReason() {
        Network network = new Network()
                .with(Part.LINKS, "[" + Network.port("ens1", "") + "]")
                .with(
                        Part.ADDRESSES,
                        "[{\"ifname\":\"ens1\",\"addr_info\":[{\"family\":\"inet\",\"local\":\"10.1.0.2\","
                                + "\"prefixlen\":24,\"scope\":\"global\",\"label\":\"ens1\",\"valid_life_time\":4294967295,"
                                + "\"preferred_life_time\":4294967295}]}]")
                .with(
                        Part.ROUTES_4,
                        "[{\"type\":\"unicast\",\"dst\":\"default\",\"gateway\":\"10.1.0.1\",\"dev\":\"ens1\","
                                + "\"table\":\"101\",\"protocol\":\"static\",\"scope\":\"global\",\"flags\":[]}]");
        String own = "{\"priority\":1000,\"src\":\"10.1.0.2\",\"table\":\"101\"}";
        assertThat(why(network.with(Part.RULES_4, "[" + MAIN + "," + own + "]"), NOBODY))
                .isEmpty();
        for (String others : List.of(
                "{\"priority\":1000,\"src\":\"all\",\"table\":\"101\"}",
                "{\"priority\":1000,\"src\":\"10.1.0.3\",\"table\":\"101\"}",
                "{\"priority\":1000,\"not\":null,\"src\":\"10.1.0.2\",\"table\":\"101\"}",
                "{\"priority\":1000,\"src\":\"10.1.0.2\",\"srclen\":8,\"table\":\"101\"}",
                "{\"priority\":1000,\"src\":\"all\",\"fwmark\":\"0x5\",\"table\":\"101\"}")) {
            assertThat(why(network.with(Part.RULES_4, "[" + MAIN + "," + others + "]"), NOBODY))
                    .as(others)
                    .contains("it carries the IPv4 default route of table 101");
        }
    }

    @Test
    void whatIsNotKnownIsADoubt() {
        Network network = new Network()
                .with(Part.LINKS, "[" + Network.port("ens1", "") + "]")
                .with(
                        Part.ROUTES_4,
                        "[{\"type\":\"unicast\",\"dst\":\"10.2.0.0/16\",\"encap\":\"mpls\",\"dev\":\"ens1\","
                                + "\"table\":\"main\"}]");
        assertThat(why(network, NOBODY)).contains("10.2.0.0/16 could not be put back, 'encap' of it is not known here");
        assertThat(why(
                        new Network().with(Part.LINKS, "[" + Network.port("ens1", "") + "]"),
                        new Surroundings(
                                List.of(new Surroundings.Peer("the server of /data (nfs4)", Optional.empty())),
                                List.of("process 7 (python3) uses mlx5_0"),
                                4,
                                List.of(),
                                List.of())))
                .contains("the kernel does not tell the way to the server of /data (nfs4)")
                .contains("process 7 (python3) uses mlx5_0", "4 virtual functions");
    }

    @Test
    void aPortThatSomebodyTookDownStaysDown() {
        String down = Network.port("ens1", "").replace("\"UP\",\"LOWER_UP\"", "\"NO-CARRIER\"");
        assertThat(why(new Network().with(Part.LINKS, "[" + down + "]"), NOBODY))
                .contains("it is down already");
    }
}

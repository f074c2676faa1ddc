package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A port of a real network namespace is bounced, and the process that does it is killed on its way. What {@code ip} and
 * {@code bridge} tell before and after must be the same, but for lifetimes that run down.
 */
@Tag("root")
class BouncedNicIT {

    /** Everything that a tool tells of the namespace, and would tell otherwise if it had changed. */
    private static final List<String> DUMPS = List.of(
            "ip -d -j link show",
            "ip -d -j addr show",
            "ip -d -j -4 route show table all",
            "ip -d -j -6 route show table all",
            "ip -d -j neigh show nud permanent",
            "ip -d -j neigh show proxy",
            "ip -d -j -4 rule show",
            "ip -d -j -6 rule show",
            "ip -4 route show table all",
            "tc -j qdisc show",
            "bridge -j -d fdb show",
            "bridge -j -d link show",
            "sysctl -a -r net.ipv[46].conf.(p0|mv0|br0).");

    private final String ns = "uh-nic-" + ProcessHandle.current().pid();

    @TempDir
    private Path state;

    @BeforeEach
    void aNodeWithAPort() throws Exception {
        host("ip netns add " + ns);
        in("ip link set lo up");
        in("ip link add p0 type veth peer name peer0");
        in("ip link set peer0 up");
        in("ip link set p0 up mtu 1450");
        in("ip addr add 10.1.0.2/24 dev p0");
        in("ip addr add 10.1.0.3/24 dev p0 label p0:x");
        in("ip addr add 10.9.0.1 peer 10.9.0.2/32 dev p0");
        in("ip addr add 10.5.0.1/24 dev p0 noprefixroute metric 77");
        in("ip addr add 2001:db8::2/64 dev p0");
        in("ip addr add 2001:db8:1::2/64 dev p0 nodad noprefixroute");
        in("ip addr add 2001:db8:5::1/64 dev p0 valid_lft 5000 preferred_lft 0");
        in("ip link add mv0 link p0 type macvlan mode bridge");
        in("ip link set mv0 up");
        in("ip addr add 10.20.0.1/24 dev mv0");
        in("ip addr add 2001:db8:20::1/64 dev mv0");
        in("ip route add 10.21.0.0/16 via 10.20.0.9 dev mv0");
        until("ip -6 addr show tentative", String::isEmpty); // addresses are checked for duplicates first
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        for (String pid : host("ip netns pids " + ns).split("\\s+", -1)) {
            if (!pid.isEmpty()) {
                ProcessHandle.of(Long.parseLong(pid)).ifPresent(ProcessHandle::destroyForcibly);
            }
        }
        host("ip netns del " + ns);
    }

    private void routesAndRules() throws Exception {
        in("ip route add 10.2.0.0/16 via 10.1.0.1");
        in("ip route add 10.3.0.0/16 via 10.1.0.1 metric 50 mtu 1400 advmss 1300 table 100 proto static src 10.1.0.3");
        in("ip route add blackhole 10.4.0.0/16");
        in("ip route add 10.6.0.0/16 via 192.168.7.7 dev p0 onlink");
        in("ip route add 10.7.0.0/16 nexthop via 10.1.0.7 weight 2 nexthop via 10.1.0.8");
        in("ip route add 10.8.0.0/16 via inet6 fe80::9 dev p0");
        in(
                "ip route add 10.10.0.0/16 dev p0 tos 0x10 scope link initcwnd 20 quickack 1 congctl reno features ecn rto_min 5ms");
        in("ip route add 10.11.0.0/16 via 10.1.0.1 realm 5");
        in("ip route append 10.11.0.0/16 via 10.20.0.8 dev mv0");
        in("ip route append 10.11.0.0/16 via 10.1.0.9");
        in("ip route add 10.12.0.0/16 via 10.6.0.1 dev p0 onlink");
        in("ip route del 10.1.0.0/24 dev p0 proto kernel"); // replaced, as some network services do
        in("ip route add 10.1.0.0/24 dev p0 proto static scope link src 10.1.0.2 metric 101");
        in("ip route add default via 10.1.0.1 dev p0 table 101");
        in("ip -6 route add 2001:db8:2::/64 via 2001:db8::1");
        in("ip -6 route add 2001:db8:3::/64 via fe80::1 dev p0 src 2001:db8::2 metric 5 table 200 pref high");
        in("ip -6 route add 2001:db8:33::/64 via fe80::1 dev p0 expires 4000");
        in("ip -6 route add blackhole 2001:db8:4::/64");
        in("ip -6 route add 2001:db8:6::/64 nexthop via fe80::1 dev p0 nexthop via fe80::2 dev p0 weight 3");
        in("ip -6 route add 2001:db8:7::/64 from 2001:db8::/64 via fe80::1 dev p0 mtu 1300 hoplimit 9");
        in("ip neigh add 10.1.0.9 lladdr 02:00:00:00:00:09 dev p0 nud permanent");
        in("ip neigh add fe80::77 lladdr 02:00:00:00:00:77 dev p0 nud permanent router");
        in("ip neigh add 10.1.0.10 lladdr 02:00:00:00:00:0a dev p0 nud permanent protocol static extern_learn");
        in("ip neigh add proxy 10.1.0.88 dev p0");
        in("ip neigh add proxy 2001:db8::88 dev p0");
        in("ip rule add from 10.1.0.3 to 10.0.0.0/8 lookup 100 pref 1000");
        in("ip rule add from 10.1.0.2 lookup 101 pref 1002");
        in("ip rule add iif p0 fwmark 0x5/0xff lookup 100 pref 1001 suppress_prefixlength 0");
        in("ip -6 rule add from 2001:db8::2 lookup 200");
    }

    @Test
    void allOfAPortIsAsBefore() throws Exception {
        routesAndRules();
        List<String> before = dumps();
        assertThat(bounce("virtual/p0", "")).startsWith("ACTION_DONE").contains("has a carrier again");
        unchanged(before);
        assertThat(state.resolve("nic-bounce.json")).doesNotExist();
    }

    @Test
    void withoutTheRepairAlmostAllIsLost() throws Exception {
        routesAndRules();
        in("ip link set p0 down");
        in("ip link set p0 up");
        assertThat(in("ip route show table all")).doesNotContain("10.2.0.0/16", "10.3.0.0/16", "default");
        assertThat(in("ip -6 addr show dev p0")).doesNotContain("2001:db8::2");
        assertThat(in("ip neigh show nud permanent")).doesNotContain("10.1.0.9");
    }

    @Test
    void aPortOfABridgeIsAsBefore() throws Exception {
        in("ip link del mv0");
        in("ip addr flush dev p0");
        in("ip link add br0 type bridge");
        in("ip link set p0 master br0");
        in("ip link set br0 up");
        in("ip addr add 10.30.0.1/24 dev br0");
        in("ip addr add 2001:db8:30::1/64 dev br0");
        in("ip route add 10.31.0.0/16 via 10.30.0.9");
        in("bridge fdb add 02:00:00:00:00:31 dev p0 master static");
        in("bridge link set dev p0 cost 7 learning off");
        until("ip -6 addr show tentative", String::isEmpty);
        until("ip -o link show dev p0", link -> link.contains("state UP"));
        List<String> before = dumps();
        assertThat(bounce("virtual/p0", "")).startsWith("ACTION_DONE");
        unchanged(before);
    }

    /** The watchdog alone puts it back; then a start that finds the open bounce does it once more. */
    @ParameterizedTest
    @CsvSource({
        "link set dev p0 down, false",
        "link set dev p0 up, true",
        "-6 addr add 2001:db8::2, true",
        "-4 route append 10.12.0.0, false"
    })
    void aKilledProcessLeavesAllAsBefore(String before, boolean thenRestart) throws Exception {
        routesAndRules();
        List<String> dumps = dumps();
        Process process = start("bounce", "virtual/p0", "", before);
        try (BufferedReader out = process.inputReader()) {
            assertThat(out.readLine()).isEqualTo("STOPPED");
        }
        process.destroyForcibly().waitFor();
        assertThat(state.resolve("nic-bounce.json")).exists();
        untilExists(state.resolve("nic-bounce.restored"));
        unchanged(dumps);
        if (thenRestart) {
            assertThat(ended(start("restore", "", "", ""))).contains("its network is as before again");
            unchanged(dumps);
            assertThat(state.resolve("nic-bounce.json")).doesNotExist();
        }
    }

    /** Both at once: neither waits for the other. */
    @Test
    void aRestartBesideTheWatchdogLeavesAllAsBefore() throws Exception {
        routesAndRules();
        List<String> dumps = dumps();
        Process process = start("bounce", "virtual/p0", "", "link set dev p0 up");
        try (BufferedReader out = process.inputReader()) {
            assertThat(out.readLine()).isEqualTo("STOPPED");
        }
        process.destroyForcibly().waitFor();
        assertThat(ended(start("restore", "", "", ""))).contains("its network is as before again");
        settled(dumps);
    }

    /** A service's processes are killed with it, the watchdog too: then the next start is all there is. */
    @Test
    void aRestartWithoutAWatchdogLeavesAllAsBefore() throws Exception {
        routesAndRules();
        List<String> dumps = dumps();
        Process process = start("bounce", "virtual/p0", "", "link set dev p0 up");
        try (BufferedReader out = process.inputReader()) {
            assertThat(out.readLine()).isEqualTo("STOPPED");
        }
        ProcessHandle.of(Long.parseLong(
                        Files.readString(state.resolve("nic-bounce.watched")).strip()))
                .ifPresent(ProcessHandle::destroyForcibly);
        process.destroyForcibly().waitFor();
        assertThat(in("ip route show table all")).doesNotContain("10.2.0.0/16");
        assertThat(ended(start("restore", "", "", ""))).contains("its network is as before again");
        unchanged(dumps);
    }

    @Test
    void thePortOfTheDefaultRouteIsRefused() throws Exception {
        in("ip route add default via 10.1.0.1 dev p0");
        refused("virtual/p0", "", "it carries the IPv4 default route of table main");
    }

    @Test
    void thePortUnderTheDefaultRouteIsRefused() throws Exception {
        in("ip -6 route add default via fe80::1 dev mv0");
        refused("virtual/p0", "", "it carries the IPv6 default route of table main");
    }

    @Test
    void theWayToKafkaIsRefused() throws Exception {
        in("ip route add 10.2.0.0/16 via 10.1.0.1");
        refused("virtual/p0", "10.2.3.4:9092", "it carries the Kafka broker 10.2.3.4");
    }

    @Test
    void aBrokerThatCannotBeFoundIsADoubt() throws Exception {
        refused("virtual/p0", "10.99.3.4:9092", "the kernel does not tell the way to the Kafka broker 10.99.3.4");
    }

    @Test
    void anSshSessionIsRefused() throws Exception {
        String other = ns + "-o";
        host("ip netns add " + other);
        try {
            in("ip link set peer0 netns " + other);
            host("ip -n " + other + " addr add 10.1.0.1/24 dev peer0");
            host("ip -n " + other + " link set peer0 up");
            Path sshd = Files.createSymbolicLink(state.resolve("sshd"), Path.of("/usr/bin/python3"));
            Process server = startIn(
                    ns,
                    sshd + "",
                    "-c",
                    "import socket,time\ns=socket.create_server(('10.1.0.2',2222))\nprint('up',flush=True)\n"
                            + "c,_=s.accept()\nprint('in',flush=True)\ntime.sleep(60)");
            Process client = null;
            try (BufferedReader out = server.inputReader()) {
                assertThat(out.readLine()).isEqualTo("up");
                client = startIn(
                        other,
                        "/usr/bin/python3",
                        "-c",
                        "import socket,time\ns=socket.create_connection(('10.1.0.2',2222))\ntime.sleep(60)");
                assertThat(out.readLine()).isEqualTo("in");
                refused("virtual/p0", "", "it carries the SSH session from 10.1.0.1");
            } finally {
                server.destroyForcibly();
                if (client != null) {
                    client.destroyForcibly();
                }
            }
        } finally {
            host("ip netns del " + other);
        }
    }

    @Test
    void whatCannotBePutBackIsRefused() throws Exception {
        in("ip route add 10.2.0.0/16 via 10.1.0.1 mtu lock 1400");
        refused("virtual/p0", "", "has a locked metric");
    }

    @Test
    void routesOfARoutingDaemonAreRefused() throws Exception {
        in("ip route add 10.2.0.0/16 via 10.1.0.1 proto bgp");
        refused("virtual/p0", "", "it is of a routing daemon (bgp)");
    }

    @Test
    void nexthopObjectsAreRefused() throws Exception {
        in("ip nexthop add id 7 via 10.1.0.1 dev p0");
        refused("virtual/p0", "", "next hop objects");
    }

    @Test
    void whatIsNotThereIsRefused() throws Exception {
        refused("virtual/p7", "", "there is no device p7");
        refused("0000:5c:00.0/0", "", "there is no port 0000:5c:00.0/0 here");
        refused("p0", "", "'p0' names no port");
        refused("virtual/lo", "", "it is the loopback device");
    }

    private void refused(String nic, String brokers, String reason) throws Exception {
        List<String> before = dumps();
        assertThat(bounce(nic, brokers)).startsWith("ACTION_REFUSED").contains(reason);
        unchanged(before);
        assertThat(state.resolve("nic-bounce.json")).doesNotExist();
    }

    /** The watchdog may still be at work, and takes routes away to put them in order. */
    private void settled(List<String> before) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(15);
        while (!dumps().equals(before) && System.nanoTime() < end) {
            Thread.sleep(200);
        }
        Thread.sleep(2_000);
        unchanged(before);
    }

    private void unchanged(List<String> before) throws Exception {
        List<String> now = dumps();
        List<String> lost = new ArrayList<>(before);
        now.forEach(lost::remove);
        List<String> added = new ArrayList<>(now);
        before.forEach(added::remove);
        assertThat(lost).as("lost, while these are new: %s", added).isEmpty();
        for (int i = 0; i < before.size(); i++) {
            assertThat(now.get(i)).as("line %d, for the order", i).isEqualTo(before.get(i));
        }
        assertThat(now).hasSameSizeAs(before);
    }

    private List<String> dumps() throws Exception {
        List<String> all = new ArrayList<>();
        for (String dump : DUMPS) {
            String told = in(dump).replaceAll("\"(valid_life_time|preferred_life_time|expires)\":\\d+", "\"$1\":0")
                    .replaceAll("\"[a-z_]*timer\":\\d+\\.\\d+", "\"timer\":0")
                    .replaceAll("expires \\d+sec", "expires");
            List<String> lines =
                    new ArrayList<>(List.of(told.replaceAll("},\\{", "},\n{").split("\n", -1)));
            if (dump.contains(" -6 route ") || dump.contains(" fdb ") || dump.contains(" neigh ")) {
                lines.replaceAll(line -> line.replaceAll("^\\[|[],]+$", ""));
                lines.sort(null); // these stand in the order of hashes, or of devices
            }
            lines.removeIf(line -> dump.contains(" fdb ") && line.contains("\"state\":\"\"")); // learned, not set
            lines.forEach(line -> all.add(dump + ": " + line));
        }
        return all;
    }

    private String bounce(String nic, String brokers) throws Exception {
        return ended(start("bounce", nic, brokers, "no such command"));
    }

    private Process start(String verb, String nic, String brokers, String stopBefore) throws IOException {
        return startIn(
                ns,
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                BounceProcess.class.getName(),
                verb,
                state.toString(),
                nic,
                brokers,
                stopBefore);
    }

    private static Process startIn(String namespace, String... words) throws IOException {
        List<String> all = new ArrayList<>(List.of("ip", "netns", "exec", namespace));
        all.addAll(List.of(words));
        return new ProcessBuilder(all).redirectErrorStream(true).start();
    }

    private static String ended(Process process) throws Exception {
        String said = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(process.waitFor(100, TimeUnit.SECONDS)).as(said).isTrue();
        return said;
    }

    private void until(String command, java.util.function.Predicate<String> holds) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!holds.test(in(command).strip())) {
            assertThat(System.nanoTime()).as(command).isLessThan(end);
            TimeUnit.MILLISECONDS.sleep(100);
        }
    }

    private static void untilExists(Path file) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
        while (!Files.exists(file)) {
            assertThat(System.nanoTime()).as(file.toString()).isLessThan(end);
            TimeUnit.MILLISECONDS.sleep(100);
        }
    }

    private String in(String command) throws Exception {
        return host("ip netns exec " + ns + " " + command);
    }

    private static String host(String command) throws Exception {
        Process process = new ProcessBuilder(command.split(" ", -1))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(command).isZero();
        return said;
    }
}

package dev.unhang.healer.actuator.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Texts of the kernel and of ip, each as one of them wrote it. */
class ReadingsTest {

    @Test
    void establishedConnectionsAreReadInBothFamilies() {
        assertThat(
                        TcpTable.established(
                                List.of(
                                        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
                                        "   0: 0200010A:0016 0900010A:D431 01 00000000:00000000 02:000A7D5B 00000000     0        0 4242 2"
                                                + " 0000000000000000 20 4 30 10 -1",
                                        "   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 7 1")))
                .singleElement()
                .satisfies(connection -> {
                    assertThat(connection.local().getHostAddress()).isEqualTo("10.1.0.2");
                    assertThat(connection.localPort()).isEqualTo(22);
                    assertThat(connection.remote().getHostAddress()).isEqualTo("10.1.0.9");
                    assertThat(connection.inode()).isEqualTo(4242);
                });
        assertThat(TcpTable.established(List.of(
                        "   0: 0000000000000000FFFF00000200010A:2384 0000000000000000FFFF00000900010A:D431 01"
                                + " 00000000:00000000 00:00000000 00000000 0 0 5 1",
                        "   1: B80D0120000000000000000002000000:2384 B80D0120000000000000000009000000:D431 01"
                                + " 00000000:00000000 00:00000000 00000000 0 0 6 1")))
                .extracting(connection -> connection.remote().getHostAddress())
                .containsExactly("10.1.0.9", "2001:db8:0:0:0:0:0:9");
    }

    @Test
    void aMountTellsItsServerOrNothing() {
        assertThat(NetworkMounts.parse(List.of(
                        "29 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw",
                        "40 29 0:45 / /data rw,relatime shared:9 - nfs4 10.0.0.5:/export rw,vers=4.2,proto=tcp,"
                                + "clientaddr=10.0.0.7,addr=10.0.0.5",
                        "41 29 0:46 / /fast rw - nfs 10.0.0.6:/x rw,proto=rdma,addr=10.0.0.6",
                        "42 29 0:47 / /scratch rw - lustre 10.0.0.8@tcp:/fs rw",
                        "43 29 0:48 / /win rw - cifs //10.0.0.9/share rw,vers=3.1.1")))
                .extracting(NetworkMounts.Mount::point, mount -> mount.server().orElse("?"))
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("/data", "10.0.0.5"),
                        org.assertj.core.groups.Tuple.tuple("/fast", "?"),
                        org.assertj.core.groups.Tuple.tuple("/scratch", "?"),
                        org.assertj.core.groups.Tuple.tuple("/win", "10.0.0.9"));
    }

    @Test
    void aRuleIsMadeAgainWithAllItsSelectors() {
        assertThat(String.join(" ", RuleWords.words(new JsonObject("""
                        {"priority":999,"not":null,"src":"10.1.0.9","tos":"0x10","oif":"p0","uid_start":0,"uid_end":10,\
                        "ipproto":"tcp","sport":5,"dport_start":80,"dport_end":90,"action":"prohibit",\
                        "protocol":"unspec"}"""))))
                .isEqualTo(
                        "not from 10.1.0.9 tos 0x10 oif p0 uidrange 0-10 ipproto tcp sport 5 dport 80-90 priority 999"
                                + " protocol unspec prohibit");
    }

    @Test
    void anUnknownMetricIsADoubt() {
        JsonObject route = new JsonObject("{\"dst\":\"10.0.0.0/8\",\"metrics\":[{\"rto_min\":5}]}");
        assertThat(RouteWords.doubt(route)).isEmpty();
        JsonObject newer = new JsonObject("{\"dst\":\"10.0.0.0/8\",\"metrics\":[{\"speed_of_light\":5}]}");
        assertThat(RouteWords.doubt(newer).orElse("")).contains("'speed_of_light'");
    }

    @Test
    void theWordsOfTheWatchdogAreQuoted() {
        assertThat(WatchdogScript.quoted("a'b c")).isEqualTo("'a'\\''b c'");
    }
}

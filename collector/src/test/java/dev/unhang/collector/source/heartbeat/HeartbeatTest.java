package dev.unhang.collector.source.heartbeat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.unhang.events.v1.Loss;
import dev.unhang.events.v1.Phase;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeartbeatTest {

    private static final long SECOND = 1_000_000_000L;
    private static final InetSocketAddress SOCKET = new InetSocketAddress(1023);

    private final HeartbeatTable table = new HeartbeatTable();
    private final HeartbeatIntake intake = new HeartbeatIntake(table, 0);
    private int nextSocket;

    @Test
    void aHeartbeatIsReadWhole() {
        send(
                "{'v':1,'job':'llama 70b','rank':3,'world':8,'pid':123,'ns':4026531836,'seq':9,'step':10,'phase':'CHECKPOINT','auto':true}",
                5);

        assertThat(table.beats())
                .containsExactly(new Beat(
                        new Beat.Sender(123, 4026531836L),
                        "llama 70b",
                        3,
                        8,
                        Phase.PHASE_CHECKPOINT,
                        10L,
                        9,
                        true,
                        5,
                        5));
        assertThat(intake.losses()).isEmpty();
    }

    @Test
    void onlyVersionAndPidMustBeThereAndUnknownFieldsAreSkipped() {
        send("{'v':1,'pid':123,'rank':null,'extra':{'a':[1,{'b':2}]},'phase':'WARP'}", 5);

        assertThat(table.beats())
                .containsExactly(
                        new Beat(new Beat.Sender(123, 0), "", null, 0, Phase.PHASE_NONE, null, 0, false, 5, 5));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "[]",
                "hello",
                "{'pid':1}",
                "{'v':2,'pid':1}",
                "{'v':1}",
                "{'v':1,'pid':0}",
                "{'v':1,'pid':-5}",
                "{'v':1,'pid':4194305}",
                "{'v':1,'pid':99999999999999999999}",
                "{'v':1,'pid':1.5}",
                "{'v':1,'pid':'1'}",
                "{'v':1,'pid':1,'step':-1}",
                "{'v':1,'pid':1,'rank':16777217}",
                "{'v':1,'pid':1,'job':'a\\u0000b'}",
                "{'v':1,'pid':1,'job':7}",
                "{'v':1,'pid':1}{}",
                "{'v':1,'pid':1,'phase':['TRAIN']}"
            })
    void whatIsNoHeartbeatIsCountedAsGarbage(String datagram) {
        send(datagram, 1);

        assertThat(table.beats()).isEmpty();
        assertThat(intake.losses()).containsExactly(loss("heartbeat-garbage", 1));
    }

    @Test
    void aDatagramOfMoreThanOneKilobyteIsGarbage() {
        send("{'v':1,'pid':1,'x':'" + "y".repeat(1024 - 22) + "'}", 1);
        assertThat(intake.losses()).isEmpty();
        send("{'v':1,'pid':1,'x':'" + "y".repeat(1024 - 21) + "'}", 1);
        assertThat(intake.losses()).containsExactly(loss("heartbeat-garbage", 1));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void randomBytesDoNoHarm(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 2000; i++) {
            byte[] bytes = new byte[random.nextInt(200)];
            random.nextBytes(bytes);
            intake.accept(SOCKET, bytes, bytes.length, i * SECOND);
        }

        assertThat(table.beats()).as("seed %s", seed).isEmpty();
        assertThat(intake.losses()).containsExactly(loss("heartbeat-garbage", 2000));
    }

    @Test
    void progressIsAMoveOfStepOrPhaseAndNotAnotherDatagram() {
        send("{'v':1,'pid':1,'seq':1,'step':10,'phase':'TRAIN'}", SECOND);
        send("{'v':1,'pid':1,'seq':2,'step':10,'phase':'TRAIN'}", 2 * SECOND);
        assertThat(table.beats().get(0).progressNs()).isEqualTo(SECOND);
        assertThat(table.beats().get(0).receivedNs()).isEqualTo(2 * SECOND);
        send("{'v':1,'pid':1,'seq':3,'step':10,'phase':'EVAL'}", 3 * SECOND);
        assertThat(table.beats().get(0).progressNs()).isEqualTo(3 * SECOND);
        send("{'v':1,'pid':1,'seq':4,'step':9,'phase':'EVAL'}", 4 * SECOND);
        assertThat(table.beats().get(0).progressNs()).isEqualTo(4 * SECOND);
    }

    @Test
    void aDatagramThatWasOvertakenIsOld() {
        send("{'v':1,'pid':1,'seq':30,'step':10}", SECOND);
        send("{'v':1,'pid':1,'seq':29,'step':9}", 2 * SECOND);
        assertThat(table.beats().get(0).step()).isEqualTo(10);
        assertThat(table.beats().get(0).progressNs()).isEqualTo(SECOND);
    }

    @Test
    void aSenderThatStartsAnewIsHeard() {
        send("{'v':1,'pid':1,'seq':30,'step':10}", SECOND);
        send("{'v':1,'pid':1,'seq':2,'step':1}", 2 * SECOND);

        assertThat(table.beats().get(0).step()).isEqualTo(1);
    }

    @Test
    void oneSenderThatFloodsIsCutAndTheOthersAreHeard() {
        for (int i = 1; i <= 60; i++) {
            send("{'v':1,'pid':1,'seq':" + i + ",'step':" + i + "}", SECOND);
        }
        send("{'v':1,'pid':2,'seq':1,'step':5}", SECOND);

        assertThat(intake.losses()).containsExactly(loss("heartbeat-rate", 20));
        assertThat(table.beats()).extracting(Beat::step).containsExactlyInAnyOrder(40L, 5L);
        send("{'v':1,'pid':1,'seq':61,'step':61}", 2 * SECOND);
        assertThat(table.beats()).extracting(Beat::step).containsExactlyInAnyOrder(61L, 5L);
    }

    @Test
    void oneSocketThatFloodsWithAnythingIsCutAndTheOthersAreHeard() {
        byte[] rubbish = "rubbish".getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < 100_000; i++) {
            intake.accept(SOCKET, rubbish, rubbish.length, SECOND);
        }
        send("{'v':1,'pid':2,'seq':1,'step':5}", SECOND);

        assertThat(table.beats()).extracting(Beat::step).containsExactly(5L);
        assertThat(intake.losses())
                .containsExactly(loss("heartbeat-garbage", 400), loss("heartbeat-rate", 100_000 - 400));
    }

    @Test
    void theNumberOfSendersIsBoundedAndASilentOneMakesRoom() {
        for (int pid = 1; pid <= HeartbeatTable.MOST_SENDERS; pid++) {
            send("{'v':1,'pid':" + pid + ",'seq':1}", 10 * SECOND);
        }
        send("{'v':1,'pid':4000000,'seq':1}", 69 * SECOND);
        assertThat(table.beats()).hasSize(HeartbeatTable.MOST_SENDERS);
        assertThat(intake.losses()).containsExactly(loss("heartbeat-rate", 1));
        send("{'v':1,'pid':4000001,'seq':1}", 70 * SECOND);
        assertThat(table.beats())
                .hasSize(HeartbeatTable.MOST_SENDERS)
                .anyMatch(beat -> beat.sender().pid() == 4000001);
    }

    @Test
    void datagramsOnTheSocketReachTheTableAtOnce() throws Exception {
        CountDownLatch heard = new CountDownLatch(4); // at the start, and for each of the three datagrams;
        AtomicLong clock = new AtomicLong();
        HeartbeatSource source =
                new HeartbeatSource(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), table, () -> {
                    heard.countDown();
                    return clock.incrementAndGet();
                });
        try (source;
                DatagramSocket sender = new DatagramSocket()) {
            source.read();
            byte[] bytes = "{\"v\":1,\"pid\":77,\"seq\":1}".getBytes(StandardCharsets.UTF_8);
            sender.send(new DatagramPacket(bytes, bytes.length, InetAddress.getLoopbackAddress(), source.port()));
            byte[] rubbish = new byte[3000];
            sender.send(new DatagramPacket(rubbish, rubbish.length, InetAddress.getLoopbackAddress(), source.port()));
            sender.send(new DatagramPacket(bytes, bytes.length, InetAddress.getLoopbackAddress(), source.port()));
            assertThat(heard.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(table.beats()).extracting(beat -> beat.sender().pid()).containsExactly(77);
            assertThat(source.read().part().getLostList()).containsExactly(loss("heartbeat-garbage", 1));
        }
    }

    @Test
    void aPortInUseIsAnErrorThatNamesIt() throws IOException {
        try (DatagramSocket other = new DatagramSocket(0, InetAddress.getLoopbackAddress());
                HeartbeatSource source = new HeartbeatSource(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), other.getLocalPort()),
                        table,
                        () -> 0)) {
            assertThatThrownBy(source::read)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(Integer.toString(other.getLocalPort()));
        }
    }

    private void send(String json, long nowNs) {
        byte[] bytes = json.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
        intake.accept(new InetSocketAddress(1024 + nextSocket++ % 50_000), bytes, bytes.length, nowNs);
    }

    private static Loss loss(String kind, long count) {
        return Loss.newBuilder().setKind(kind).setCount(count).build();
    }
}

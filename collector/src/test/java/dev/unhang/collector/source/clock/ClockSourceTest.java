package dev.unhang.collector.source.clock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.unhang.collector.source.libc.KernelClock;
import dev.unhang.events.v1.ClockReading;
import dev.unhang.events.v1.ReadStatus;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The answers are those of chronyd 4.3, as it sent them. */
class ClockSourceTest {

    private static final String HEADER = "06020000002100050000000000000000123456780000000000000000";

    /** A node whose clock is 50 ms behind: chronyc prints "0.049998276 seconds slow of NTP time". */
    private static final byte[] BEHIND = HexFormat.of()
            .parseHex(HEADER
                    + "7f0000017f0000010000000000000000000000000001000000060000000000006b0dec8e105e4e18facccafe"
                    + "fb3334fdfacccb03fef3b680d29193a316a371f4e0ca07ffea93775b00000000");

    private static final byte[] UNSYNCHRONISED = HexFormat.of()
            .parseHex(HEADER
                    + "000000000000000000000000000000000000000000000000000000030000000000000000000000000000000000"
                    + "00000000000000000000000000000000000000048000000480000000000000");

    private static final byte[] LOCAL = HexFormat.of()
            .parseHex(HEADER
                    + "7f7f0101000000000000000000000000000000000000000000050000000000006b0dec8b12d9019800000000"
                    + "0000000000000000000000000000000000000000000000000000000000000000");

    private static final Instant REFERENCE = Instant.ofEpochSecond(0x6b0dec8eL);

    @TempDir
    Path dir;

    @Test
    void aClockThatChronyCallsSlowIsBehindSoItsOffsetIsNegative() throws Tracking.RefusedException {
        ClockReading reading = filled(BEHIND, REFERENCE.plusSeconds(65));

        assertThat(reading.getStatus()).isEqualTo(ReadStatus.READ_STATUS_OK);
        assertThat(reading.getOffsetNs()).isEqualTo(-49_998_276L);
        assertThat(reading.getLastOffsetNs()).isEqualTo(-49_998_295L);
        assertThat(reading.getRootDelayNs()).isEqualTo(6021);
        assertThat(reading.getRootDispersionNs()).isEqualTo(140_635);
        assertThat(reading.getStratum()).isEqualTo(6);
        assertThat(reading.getLeap()).isZero();
        assertThat(reading.getSkewPpb()).isEqualTo(653_781);
        assertThat(reading.getReferenceAgeS()).isEqualTo(64);
        assertThat(reading.getLocalReference()).isFalse();
    }

    @Test
    void aReferenceInTheFutureHasNoNegativeAge() throws Tracking.RefusedException {
        assertThat(filled(BEHIND, REFERENCE.minusSeconds(10)).getReferenceAgeS())
                .isZero();
    }

    @Test
    void aStaleReferenceHasItsWholeAge() throws Tracking.RefusedException {
        assertThat(filled(BEHIND, REFERENCE.plusSeconds(86_401)).getReferenceAgeS())
                .isEqualTo(86_400);
    }

    @Test
    void aClockThatIsNotSynchronisedSaysSoAndHasNoReferenceAge() throws Tracking.RefusedException {
        ClockReading reading = filled(UNSYNCHRONISED, REFERENCE);

        assertThat(reading.getLeap()).isEqualTo(3);
        assertThat(reading.getStratum()).isZero();
        assertThat(reading.hasReferenceAgeS()).isFalse();
        assertThat(reading.getRootDelayNs()).isEqualTo(1_000_000_000L);
    }

    @Test
    void aClockSynchronisedToItselfIsALocalReference() throws Tracking.RefusedException {
        ClockReading reading = filled(LOCAL, REFERENCE);

        assertThat(reading.getLocalReference()).isTrue();
        assertThat(reading.getStratum()).isEqualTo(5);
        assertThat(reading.getOffsetNs()).isZero();
    }

    @Test
    void floatsAreASignedExponentAndASignedCoefficient() {
        assertThat(Tracking.real(0x04800000)).isEqualTo(1.0);
        assertThat(Tracking.real(0xfacccafe)).isEqualTo(0.04999827593564987, within(1e-16));
        assertThat(Tracking.real(0xfb3334fd)).isEqualTo(-0.049998294562101364, within(1e-16));
        assertThat(Tracking.real(0)).isZero();
    }

    @Test
    void anAnswerComesOverUdpWithTheSameSequenceAsTheQuestion() throws Exception {
        try (FakeChronyd chronyd = new FakeChronyd(request -> answerTo(request, BEHIND))) {
            ClockReading reading = read(chronyd.address());

            assertThat(reading.getStatus()).isEqualTo(ReadStatus.READ_STATUS_OK);
            assertThat(reading.getOffsetNs()).isEqualTo(-49_998_276L);
        }
    }

    @Test
    void anAnswerToAnotherQuestionIsPassedOver() throws Exception {
        try (FakeChronyd chronyd = new FakeChronyd(request -> BEHIND)) {
            assertThat(read(chronyd.address()).getStatus()).isEqualTo(ReadStatus.READ_STATUS_STUCK);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 19})
    void aRefusalIsAStatus(int status) throws Exception {
        try (FakeChronyd chronyd = new FakeChronyd(request -> {
            byte[] answer = answerTo(request, BEHIND);
            answer[9] = (byte) status;
            return answer;
        })) {
            assertThat(read(chronyd.address()).getStatus())
                    .isEqualTo(status == 2 ? ReadStatus.READ_STATUS_NO_PERMISSION : ReadStatus.READ_STATUS_FAILED);
        }
    }

    @Test
    void anAnswerThatIsCutShortIsAFailure() throws Exception {
        try (FakeChronyd chronyd = new FakeChronyd(request -> java.util.Arrays.copyOf(answerTo(request, BEHIND), 60))) {
            assertThat(read(chronyd.address()).getStatus()).isEqualTo(ReadStatus.READ_STATUS_FAILED);
        }
    }

    @Test
    void whereNobodyListensChronyIsAbsentAndTheKernelStillSpeaks() throws IOException {
        int port;
        try (DatagramSocket free = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }

        ClockReading reading = read(
                ChronyAddress.parse("127.0.0.1:" + port), ChronyAddress.parse("unix:" + dir.resolve("chronyd.sock")));

        assertThat(reading)
                .isEqualTo(ClockReading.newBuilder()
                        .setStatus(ReadStatus.READ_STATUS_ABSENT)
                        .setKernelSynced(true)
                        .setKernelMaxerrorUs(500)
                        .build());
    }

    @Test
    void theNextAddressIsAskedWhereTheFirstIsSilent() throws Exception {
        try (FakeChronyd chronyd = new FakeChronyd(request -> answerTo(request, LOCAL))) {
            ClockReading reading = read(ChronyAddress.parse("unix:" + dir.resolve("chronyd.sock")), chronyd.address());

            assertThat(reading.getLocalReference()).isTrue();
        }
    }

    @Test
    void aKernelThatCannotBeAskedLeavesItsFieldsOut() {
        ClockSource source = new ClockSource(
                List.of(),
                () -> {
                    throw new IOException("adjtimex: errno 1");
                },
                Clock.fixed(REFERENCE, ZoneOffset.UTC));

        ClockReading reading = source.read().part().getClock();

        assertThat(reading.hasKernelSynced()).isFalse();
        assertThat(reading.hasKernelMaxerrorUs()).isFalse();
    }

    @Test
    void theKernelOfThisMachineAnswers() throws IOException {
        assertThat(KernelClock.read().maxErrorUs()).isBetween(0L, 100_000_000L);
    }

    @Test
    void anAddressIsNumbersOrAPath() {
        assertThat(ChronyAddress.parse("[::1]:323").udp()).isNotNull();
        assertThat(ChronyAddress.parse("unix:/run/chrony/chronyd.sock").unix())
                .isEqualTo(Path.of("/run/chrony/chronyd.sock"));
        assertThatThrownBy(() -> ChronyAddress.parse("localhost:323"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("localhost:323");
        assertThatThrownBy(() -> ChronyAddress.parse("127.0.0.1:99999")).isInstanceOf(IllegalArgumentException.class);
    }

    private static ClockReading filled(byte[] answer, Instant now) throws Tracking.RefusedException {
        ClockReading.Builder reading = ClockReading.newBuilder();
        ClockSource.fill(reading, Tracking.parse(answer), now.toEpochMilli());
        return reading.build();
    }

    private static ClockReading read(ChronyAddress... addresses) {
        ClockSource source = new ClockSource(
                List.of(addresses), () -> new KernelClock(true, 500), Clock.fixed(REFERENCE, ZoneOffset.UTC));
        return source.read().part().getClock();
    }

    private static byte[] answerTo(byte[] request, byte[] answer) {
        byte[] own = answer.clone();
        ByteBuffer.wrap(own).putInt(16, ByteBuffer.wrap(request).getInt(8));
        return own;
    }

    /** Answers one datagram after another until it is closed. */
    private static final class FakeChronyd implements AutoCloseable {

        private final DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        private final Thread thread;

        FakeChronyd(UnaryOperator<byte[]> answer) throws IOException {
            thread = new Thread(() -> serve(answer), "fake-chronyd");
            thread.start();
        }

        ChronyAddress address() {
            return ChronyAddress.parse("127.0.0.1:" + socket.getLocalPort());
        }

        private void serve(UnaryOperator<byte[]> answer) {
            byte[] buffer = new byte[512];
            try {
                while (true) {
                    DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
                    socket.receive(packet);
                    // As the real one: no longer an answer than the question.
                    byte[] bytes = answer.apply(java.util.Arrays.copyOf(buffer, packet.getLength()));
                    if (bytes.length <= packet.getLength()) {
                        socket.send(new DatagramPacket(bytes, bytes.length, packet.getSocketAddress()));
                    }
                }
            } catch (IOException e) {
                assertThat(socket.isClosed()).isTrue();
            }
        }

        @Override
        public void close() {
            socket.close();
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}

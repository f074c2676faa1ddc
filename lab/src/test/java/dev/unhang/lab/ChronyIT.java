package dev.unhang.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.unhang.collector.source.clock.ChronyAddress;
import dev.unhang.collector.source.clock.ClockSource;
import dev.unhang.collector.source.libc.KernelClock;
import dev.unhang.events.v1.ClockReading;
import dev.unhang.events.v1.ReadStatus;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The clock as a real chronyd tells it. Two private daemons on loopback ports of their own, neither of which may set the
 * clock of this machine ({@code -x}): one serves its time, the other believes that time to be off by {@code offset}.
 */
class ChronyIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path dir;

    private final List<Process> daemons = new ArrayList<>();
    private int timePort;

    @BeforeEach
    void aServerOfTime() throws IOException {
        timePort = freePort();
        start("server", freePort(), "local stratum 5", "allow 127.0.0.0/8", "port " + timePort);
    }

    @AfterEach
    void stop() throws InterruptedException {
        for (Process daemon : daemons) {
            daemon.destroyForcibly().waitFor();
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.25, -0.25})
    void theOffsetIsPositiveWhereTheNodeIsAheadOfTheTime(double serverAhead) throws Exception {
        int port = freePort();
        Process chronyd = start("client", port, follow("offset " + serverAhead), "port 0");

        ClockReading reading = until(chronyd, ChronyAddress.parse("127.0.0.1:" + port), ClockReading::hasReferenceAgeS);

        assertThat(reading.getStatus()).isEqualTo(ReadStatus.READ_STATUS_OK);
        assertThat(reading.getOffsetNs() / 1e9).isCloseTo(-serverAhead, within(0.025));
        assertThat(reading.getStratum()).isEqualTo(6);
        assertThat(reading.getLeap()).isZero();
        assertThat(reading.getLocalReference()).isFalse();
        assertThat(reading.getReferenceAgeS()).isLessThan(60);
        assertThat(reading.getRootDelayNs() / 1e9).isBetween(0.0, 0.5);
        assertThat(reading.hasKernelMaxerrorUs()).isTrue();
    }

    @Test
    void theSocketOfTheDaemonAnswersTheSame() throws Exception {
        Process chronyd = start("client", 0, follow("offset 0.25"), "port 0");
        ChronyAddress socket = ChronyAddress.parse("unix:" + dir.resolve("client/chronyd.sock"));

        ClockReading reading = until(chronyd, socket, ClockReading::hasReferenceAgeS);

        assertThat(reading.getOffsetNs() / 1e9).isCloseTo(-0.25, within(0.025));
    }

    @Test
    void aDaemonThatHasNoServerIsNotSynchronised() throws Exception {
        int port = freePort();
        Process chronyd = start("client", port, "server 127.0.0.1 port " + freePort(), "port 0");

        ClockReading reading = until(
                chronyd,
                ChronyAddress.parse("127.0.0.1:" + port),
                each -> each.getStatus() == ReadStatus.READ_STATUS_OK);

        assertThat(reading.getLeap()).isEqualTo(3);
        assertThat(reading.hasReferenceAgeS()).isFalse();
    }

    @Test
    void aDaemonThatFollowsItselfIsALocalReference() throws Exception {
        int port = freePort();
        Process chronyd = start("client", port, "local stratum 7", "port 0");

        ClockReading reading =
                until(chronyd, ChronyAddress.parse("127.0.0.1:" + port), ClockReading::getLocalReference);

        assertThat(reading.getStratum()).isEqualTo(7);
    }

    @Test
    void aDaemonThatHangsIsStuckAndOneThatDiedIsAbsent() throws Exception {
        int port = freePort();
        ChronyAddress address = ChronyAddress.parse("127.0.0.1:" + port);
        Process chronyd = start("client", port, "local stratum 7", "port 0");
        until(chronyd, address, each -> each.getStatus() == ReadStatus.READ_STATUS_OK);

        signal(chronyd, "STOP");
        assertThat(read(address).getStatus()).isEqualTo(ReadStatus.READ_STATUS_STUCK);
        signal(chronyd, "CONT");
        chronyd.destroyForcibly().waitFor();
        assertThat(read(address).getStatus()).isEqualTo(ReadStatus.READ_STATUS_ABSENT);
    }

    private String follow(String options) {
        return "server 127.0.0.1 port " + timePort + " iburst minpoll -1 maxpoll -1 " + options;
    }

    private Process start(String name, int commandPort, String... lines) throws IOException {
        // chronyd makes no socket in a directory that others may enter.
        Path own = Files.createDirectory(
                dir.resolve(name), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        List<String> config = new ArrayList<>(List.of(lines));
        config.add("cmdport " + commandPort);
        config.add("bindcmdaddress " + own.resolve("chronyd.sock"));
        config.add("pidfile " + own.resolve("pid"));
        Path file = Files.write(own.resolve("chrony.conf"), config);
        Process daemon = new ProcessBuilder(
                        "chronyd", "-x", "-U", "-d", "-u", System.getProperty("user.name"), "-f", file.toString())
                .redirectErrorStream(true)
                .redirectOutput(own.resolve("log").toFile())
                .start();
        daemons.add(daemon);
        return daemon;
    }

    private ClockReading until(Process chronyd, ChronyAddress address, Predicate<ClockReading> wanted)
            throws InterruptedException, IOException {
        Instant end = Instant.now().plus(PATIENCE);
        ClockReading reading = read(address);
        while (!wanted.test(reading)) {
            boolean died = chronyd.waitFor(200, TimeUnit.MILLISECONDS);
            assertThat(died || Instant.now().isAfter(end))
                    .as("%s; %s", reading, Files.readString(dir.resolve("client/log")))
                    .isFalse();
            reading = read(address);
        }
        return reading;
    }

    private static ClockReading read(ChronyAddress address) {
        try (ClockSource source = new ClockSource(List.of(address), KernelClock::read, Clock.systemUTC())) {
            return source.read().part().getClock();
        }
    }

    private static void signal(Process process, String name) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    private static int freePort() throws IOException {
        try (DatagramSocket free = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }
}

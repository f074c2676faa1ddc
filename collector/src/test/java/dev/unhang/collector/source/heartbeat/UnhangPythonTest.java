package dev.unhang.collector.source.heartbeat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.File;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The Python client: its own tests, and that the collector understands what it sends. */
class UnhangPythonTest {

    private static final Path MODULE = Path.of("src/main/python").toAbsolutePath();

    @Test
    void theTestsOfThePythonClientPass() throws Exception {
        Process tests = new ProcessBuilder("python3", "-B", "-m", "unittest", "-v", "test_unhang")
                .directory(Path.of("src/test/python").toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(tests.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(tests.waitFor()).as(output).isZero();
        assertThat(output).contains("OK").containsPattern("a step costs .* us");
    }

    @Test
    void checkpointsOfTheRealTorchAnnounceThemselves() throws Exception {
        Optional<String> python = pythonWithTorch();
        // ./unhang verify installs it, so there it must be found.
        if (Boolean.getBoolean("tests.complete")) {
            assertThat(python).as("a python3 with torch").isPresent();
        }
        assumeThat(python).as("a python3 with torch").isPresent();
        Process tests = new ProcessBuilder(python.orElseThrow(), "-B", "-m", "unittest", "-v", "test_unhang_with_torch")
                .directory(Path.of("src/test/python").toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(tests.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(tests.waitFor()).as(output).isZero();
        assertThat(output).contains("OK");
    }

    /** Debian's, though another python may come first. */
    private static Optional<String> pythonWithTorch() throws Exception {
        for (String python : List.of("python3", "/usr/bin/python3")) {
            if (new File(python).isAbsolute() && !new File(python).canExecute()) {
                continue;
            }
            Process found = new ProcessBuilder(python, "-c", "import torch")
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (found.waitFor() == 0) {
                return Optional.of(python);
            }
        }
        return Optional.empty();
    }

    @Test
    void whatItSendsIsAHeartbeat() throws Exception {
        try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            socket.setSoTimeout(30_000);
            ProcessBuilder builder = new ProcessBuilder(
                    "python3",
                    "-B",
                    "-c",
                    "import unhang, sys; unhang.start(job='llama', rank=1, world=2); sys.stdin.read()");
            builder.environment().put("PYTHONPATH", MODULE.toString());
            builder.environment().put("UNHANG_HEARTBEAT", "127.0.0.1:" + socket.getLocalPort());
            Process script = builder.start();
            try {
                DatagramPacket packet = new DatagramPacket(new byte[2048], 2048);
                socket.receive(packet);

                Beat beat = Datagram.parse(packet.getData(), packet.getLength(), 5);

                assertThat(beat).isNotNull();
                assertThat(Objects.requireNonNull(beat).sender().pid()).isEqualTo((int) script.pid());
                assertThat(beat.sender().pidNamespace()).isPositive();
                assertThat(beat.job()).isEqualTo("llama");
                assertThat(beat.rank()).isEqualTo(1);
                assertThat(beat.world()).isEqualTo(2);
            } finally {
                script.destroyForcibly().waitFor();
            }
        }
    }
}

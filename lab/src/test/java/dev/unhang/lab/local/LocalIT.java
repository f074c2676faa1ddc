package dev.unhang.lab.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** `unhang local` as a user runs it: through the launcher, from another folder. */
class LocalIT {

    private static final Path LAUNCHER =
            Path.of("..", "unhang").toAbsolutePath().normalize();
    private static final long DEADLINE_SECONDS = 120;
    private static final String END = "(end of output)";

    @TempDir
    Path folder;

    private final List<Process> started = new ArrayList<>();
    private final List<String> said = new ArrayList<>();

    @AfterEach
    void endWhatWasStarted() throws InterruptedException {
        for (Process process : started) {
            process.destroy();
            process.waitFor(60, TimeUnit.SECONDS);
            process.destroyForcibly();
        }
    }

    @Test
    void thisMachineIsWatchedUntilAllIsStoppedInOrder() throws Exception {
        LocalPorts ports = freePorts();
        Process local = start(ports);
        BlockingQueue<String> lines = follow(local);
        await(lines, "This machine is watched.");

        Process status = launch("status");
        String table = new String(status.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(status.waitFor()).as(table).isLessThanOrEqualTo(1);
        assertThat(table).contains("1 watched");
        Path data = folder.resolve("state/unhang/local");
        for (String secret : List.of("token", "healer.yaml", "collector.yaml", "../client.properties")) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data.resolve(secret))))
                    .as(secret)
                    .isEqualTo("rw-------");
        }

        List<ProcessHandle> children = local.descendants().toList();
        assertThat(children).hasSize(2);
        local.toHandle().destroy();
        await(lines, END);
        assertThat(local.waitFor()).isZero();
        assertThat(said.stream().filter(line -> line.startsWith("local | stopping")))
                .containsExactly(
                        "local | stopping the collector", "local | stopping the healer", "local | stopping the broker");
        assertThat(children).noneMatch(ProcessHandle::isAlive);
        assertThat(ports.busy()).isEmpty();
    }

    @Test
    void aChildThatDiesEndsAllWithItsLastWords() throws Exception {
        Process local = start(freePorts());
        BlockingQueue<String> lines = follow(local);
        await(lines, "This machine is watched.");
        ProcessHandle healer = local.descendants()
                .filter(child -> child.info().commandLine().orElse("").contains("healer.yaml"))
                .findFirst()
                .orElseThrow();
        healer.destroyForcibly();
        await(lines, END);
        assertThat(local.waitFor()).isEqualTo(1);
        assertThat(said).anyMatch(line -> line.startsWith("unhang local: the healer ended with exit code 137"));
    }

    @Test
    void everyBusyPortIsNamedWithItsKeyAndOption() throws Exception {
        LocalPorts free = freePorts();
        try (ServerSocket http = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                DatagramSocket heartbeats = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            Process local = start(
                    new LocalPorts(http.getLocalPort(), free.broker(), free.metrics(), heartbeats.getLocalPort()));
            await(follow(local), END);
            assertThat(local.waitFor()).isEqualTo(2);
            assertThat(said)
                    .anyMatch(line -> line.contains("port " + http.getLocalPort() + " for the healer (http.port)")
                            && line.contains("--port"))
                    .anyMatch(line -> line.contains(
                                    "port " + heartbeats.getLocalPort() + "/udp for heartbeats (heartbeat.listen)")
                            && line.contains("--heartbeat-port"));
        }
    }

    private Process start(LocalPorts ports) throws IOException {
        return launch(
                "local",
                "--port",
                Integer.toString(ports.healer()),
                "--kafka-port",
                Integer.toString(ports.broker()),
                "--metrics-port",
                Integer.toString(ports.metrics()),
                "--heartbeat-port",
                Integer.toString(ports.heartbeats()));
    }

    private Process launch(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(LAUNCHER.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).directory(folder.toFile());
        builder.environment().put("XDG_STATE_HOME", folder.resolve("state").toString());
        builder.environment().put("UNHANG_NO_BUILD", "1");
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        started.add(process);
        return process;
    }

    private static BlockingQueue<String> follow(Process process) {
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        Thread reader = new Thread(
                () -> {
                    try (BufferedReader from = new BufferedReader(
                            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                        from.lines().forEach(lines::add);
                    } catch (IOException e) {
                        lines.add(e.toString());
                    }
                    lines.add(END);
                },
                "local-output");
        reader.setDaemon(true);
        reader.start();
        return lines;
    }

    private void await(BlockingQueue<String> lines, String start) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
        while (true) {
            String line = lines.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line != null) {
                said.add(line);
            }
            if (line == null || (line.equals(END) && !start.equals(END))) {
                throw new AssertionError("'" + start + "' was not said, but:\n" + String.join("\n", said));
            }
            if (line.startsWith(start)) {
                return;
            }
        }
    }

    private static LocalPorts freePorts() throws IOException {
        int[] ports = new int[4];
        List<ServerSocket> held = new ArrayList<>();
        for (int i = 0; i < ports.length; i++) {
            ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            held.add(socket);
            ports[i] = socket.getLocalPort();
        }
        for (ServerSocket socket : held) {
            socket.close();
        }
        return new LocalPorts(ports[0], ports[1], ports[2], ports[3]);
    }
}

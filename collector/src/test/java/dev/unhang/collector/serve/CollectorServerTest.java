package dev.unhang.collector.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.NodeSample;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CollectorServerTest {

    private final FakeServed served = new FakeServed();
    private final CollectorServer server =
            new CollectorServer(new LocalCommands(served, GpuLease.none()), new CollectorMetrics(served));

    @TempDir
    private Path folder;

    @AfterEach
    void end() {
        server.close();
    }

    @Test
    void metricsAndHealthAreServed() throws Exception {
        int port = server.listen("127.0.0.1", 0);

        assertThat(get(port, "/healthz").statusCode()).isEqualTo(503);
        served.sample = NodeSample.newBuilder().setSeq(1).build();
        assertThat(get(port, "/healthz").statusCode()).isEqualTo(200);
        assertThat(get(port, "/metrics").body()).contains("unhang_collector_samples_total 1.0");
        assertThat(get(port, "/").statusCode()).isEqualTo(404);
    }

    @Test
    void aPortThatIsTakenIsToldAndSurvived() throws IOException {
        try (ServerSocket taken = new ServerSocket(0)) {
            assertThat(server.listen("127.0.0.1", taken.getLocalPort())).isEqualTo(-1);
        }
    }

    @Test
    void theSocketTakesLinesAndIsForOwnerAndGroupOnly() throws IOException {
        Path socket = folder.resolve("run/collector.sock");
        assertThat(server.listen(socket)).isTrue();

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)))
                .isEqualTo("rw-rw----");
        assertThat(ask(socket, "give-back-gpus\n")).contains("\"ok\":true");
        assertThat(ask(socket, "x".repeat(5000))).contains("at most 256");
    }

    @Test
    void aSocketThatAnEarlierRunLeftIsReplacedAndAFileIsNot() throws IOException {
        Path socket = folder.resolve("collector.sock");
        try (var left = java.nio.channels.ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            left.bind(UnixDomainSocketAddress.of(socket));
        }
        assertThat(server.listen(socket)).isTrue();

        Path file = Files.writeString(folder.resolve("precious"), "data");
        assertThat(server.listen(file)).isFalse();
        assertThat(file).hasContent("data");
    }

    private static HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    private static String ask(Path socket, String line) throws IOException {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            channel.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
            ByteBuffer answer = ByteBuffer.allocate(4096);
            while (answer.position() == 0 || answer.get(answer.position() - 1) != '\n') {
                if (channel.read(answer) < 0) {
                    break;
                }
            }
            return new String(answer.array(), 0, answer.position(), StandardCharsets.UTF_8);
        }
    }
}

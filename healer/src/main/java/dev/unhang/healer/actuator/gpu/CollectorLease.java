package dev.unhang.healer.actuator.gpu;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** Asks this node's collector over its unix socket to let go of the GPUs, and to take them again. On the worker's thread. */
final class CollectorLease {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int LONGEST = 1 << 16;

    private final Path socket;

    CollectorLease(Path socket) {
        this.socket = socket;
    }

    /** Why the collector still holds them; empty when it does not, or none runs. */
    Optional<String> release(Duration lease) {
        return ask("release-gpus " + lease.toSeconds());
    }

    /** Why it may not have them back yet. */
    Optional<String> giveBack() {
        return ask("give-back-gpus");
    }

    private Optional<String> ask(String command) {
        if (!Files.exists(socket)) {
            return Optional.empty();
        }
        String answer;
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            channel.write(ByteBuffer.wrap((command + "\n").getBytes(StandardCharsets.UTF_8)));
            answer = line(channel);
        } catch (java.net.ConnectException e) {
            return Optional.empty(); // the socket of a collector that ended
        } catch (IOException e) {
            return String.valueOf(e.getMessage()).contains("refused")
                    ? Optional.empty()
                    : Optional.of("the collector was not reached at " + socket + ": " + e.getMessage());
        }
        try {
            JsonObject json = new JsonObject(answer);
            return json.getBoolean("ok", false)
                    ? Optional.empty()
                    : Optional.of("the collector says: " + json.getString("detail", "no reason"));
        } catch (DecodeException e) {
            return Optional.of("the collector answered '" + command + "' with what is no JSON");
        }
    }

    private static String line(SocketChannel channel) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ByteBuffer some = ByteBuffer.allocate(4096);
        channel.configureBlocking(false);
        try (Selector selector = Selector.open()) {
            channel.register(selector, SelectionKey.OP_READ);
            while (bytes.size() < LONGEST) {
                if (selector.select(PATIENCE.toMillis()) == 0) {
                    throw new IOException("no answer within " + PATIENCE.toSeconds() + " s");
                }
                selector.selectedKeys().clear();
                int n = channel.read(some.clear());
                if (n < 0) {
                    break;
                }
                bytes.write(some.array(), 0, n);
                if (n > 0 && some.array()[n - 1] == '\n') {
                    break;
                }
            }
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}

package dev.unhang.healer.actuator.action;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Asks NCCL's RAS subsystem (2.24 and later) for the state of its job: text over TCP, closed by the answerer. Stateless. */
final class NcclRas {

    private static final int MOST = 1 << 20;

    private NcclRas() {}

    /** The answer to {@code VERBOSE STATUS}. */
    static String status(String host, int port, Duration deadline) throws IOException {
        int ms = Math.toIntExact(deadline.toMillis());
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host, port), ms);
            socket.setSoTimeout(ms);
            socket.getOutputStream().write("VERBOSE STATUS\n".getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            return new String(socket.getInputStream().readNBytes(MOST), StandardCharsets.UTF_8);
        }
    }
}

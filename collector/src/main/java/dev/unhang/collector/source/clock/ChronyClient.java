package dev.unhang.collector.source.clock;

import dev.unhang.collector.source.libc.UnixDatagrams;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;

/** Asks chronyd one question and waits for its answer. Confined to one thread. */
final class ChronyClient {

    // chronyd answers within a millisecond; a machine under load may need more.
    private static final Duration TIMEOUT = Duration.ofMillis(300);
    private static final int STRAY_ANSWERS = 8;

    private final ChronyAddress address;
    private int sequence;

    ChronyClient(ChronyAddress address, int firstSequence) {
        this.address = address;
        this.sequence = firstSequence;
    }

    /** PortUnreachableException and NoSuchFileException say that no daemon is there. */
    Tracking tracking() throws IOException, Tracking.RefusedException {
        sequence++;
        InetSocketAddress udp = address.udp();
        Path unix = address.unix();
        if (udp != null) {
            return overUdp(udp);
        }
        if (unix == null) {
            throw new IllegalStateException("an address of chronyd is neither UDP nor a path");
        }
        return overUnix(unix);
    }

    private Tracking overUdp(InetSocketAddress peer) throws IOException, Tracking.RefusedException {
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(peer);
            socket.setSoTimeout(Math.toIntExact(TIMEOUT.toMillis()));
            byte[] request = Tracking.request(sequence);
            socket.send(new DatagramPacket(request, request.length));
            byte[] buffer = new byte[2048];
            for (int i = 0; i < STRAY_ANSWERS; i++) {
                DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
                socket.receive(packet);
                byte[] answer = Arrays.copyOf(buffer, packet.getLength());
                if (Tracking.answers(answer, sequence)) {
                    return Tracking.parse(answer);
                }
            }
        }
        throw new SocketTimeoutException("chronyd answered other questions only");
    }

    private Tracking overUnix(Path peer) throws IOException, Tracking.RefusedException {
        Path own = peer.resolveSibling("unhang." + ProcessHandle.current().pid() + ".sock");
        try (UnixDatagrams socket = UnixDatagrams.connect(peer, own, TIMEOUT)) {
            socket.send(Tracking.request(sequence));
            for (int i = 0; i < STRAY_ANSWERS; i++) {
                byte[] answer = socket.receive();
                if (Tracking.answers(answer, sequence)) {
                    return Tracking.parse(answer);
                }
            }
        }
        throw new SocketTimeoutException("chronyd answered other questions only");
    }
}

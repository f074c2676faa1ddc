package dev.unhang.collector.source.heartbeat;

import dev.unhang.collector.source.Source;
import dev.unhang.events.v1.NodeSample;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Owns the socket on which heartbeats come in. A thread of its own takes each at once, so that ages are exact; what was
 * said goes to the ranks through the {@link HeartbeatTable}, and the reading holds only what had to be dropped. The
 * socket is opened at the first read, and again after a failure.
 */
public final class HeartbeatSource implements Source {

    private static final Duration DEADLINE = Duration.ofSeconds(2);

    private final InetSocketAddress address;
    private final HeartbeatIntake intake;
    private final LongSupplier monoNs;
    private @Nullable DatagramSocket socket;
    private @Nullable Thread thread;

    public HeartbeatSource(InetSocketAddress address, HeartbeatTable table, LongSupplier monoNs) {
        this.address = address;
        this.intake = new HeartbeatIntake(table, monoNs.getAsLong());
        this.monoNs = monoNs;
    }

    @Override
    public String name() {
        return "heartbeat";
    }

    @Override
    public Duration deadline() {
        return DEADLINE;
    }

    @Override
    public Reading read() throws IOException {
        if (thread == null || !thread.isAlive()) {
            open();
        }
        return Reading.of(NodeSample.newBuilder().addAllLost(intake.losses()).build());
    }

    /** The port that was given, or chosen by the system where that was 0. Only after a read. */
    public int port() {
        return socket == null ? -1 : socket.getLocalPort();
    }

    @Override
    public void close() {
        if (socket != null) {
            socket.close();
        }
        if (thread != null) {
            try {
                thread.join(1000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void open() throws IOException {
        close();
        DatagramSocket opened;
        try {
            opened = new DatagramSocket(address);
        } catch (SocketException e) {
            throw new IOException(
                    "heartbeats cannot be received on " + address + " (" + e.getMessage()
                            + "): is another collector running?",
                    e);
        }
        socket = opened;
        thread = new Thread(() -> receive(opened), "heartbeat-socket");
        thread.setDaemon(true);
        thread.start();
    }

    private void receive(DatagramSocket from) {
        // One byte more than is allowed, so that a longer one shows.
        byte[] buffer = new byte[Datagram.MOST_BYTES + 1];
        DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
        try {
            while (!from.isClosed()) {
                packet.setLength(buffer.length);
                from.receive(packet);
                intake.accept(packet.getSocketAddress(), buffer, packet.getLength(), monoNs.getAsLong());
            }
        } catch (IOException e) {
            // Closed, or broken: the next read finds the thread gone and opens the socket again.
            from.close();
        }
    }
}

package dev.unhang.lab.local;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/** The ports of the one-machine cluster, all on the loopback. */
record LocalPorts(int healer, int broker, int metrics, int heartbeats) {

    static final String HOST = "127.0.0.1";

    /** A sentence for each port that somebody else listens on, with the key and the option that change it. */
    List<String> busy() {
        List<String> busy = new ArrayList<>();
        tcp(healer, "the healer (http.port)", "--port", busy);
        tcp(broker, "the broker (kafka.bootstrap-servers)", "--kafka-port", busy);
        tcp(metrics, "the collector's metrics (serve.listen)", "--metrics-port", busy);
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(address(), heartbeats))) {
            socket.getLocalPort();
        } catch (IOException e) {
            busy.add(sentence(heartbeats + "/udp", "heartbeats (heartbeat.listen)", "--heartbeat-port"));
        }
        return List.copyOf(busy);
    }

    private static void tcp(int port, String use, String option, List<String> busy) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(address(), port));
        } catch (IOException e) {
            busy.add(sentence(Integer.toString(port), use, option));
        }
    }

    private static String sentence(String port, String use, String option) {
        return "port " + port + " for " + use + " is taken by another process: stop that one (`ss -lnp` names it), or"
                + " choose another port with " + option;
    }

    private static InetAddress address() {
        return InetAddress.getLoopbackAddress();
    }
}

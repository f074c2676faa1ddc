package dev.unhang.collector.source.clock;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where chronyd takes commands: {@code 127.0.0.1:323} or {@code unix:/run/chrony/chronyd.sock}. Exactly one of the two
 * is set.
 */
public record ChronyAddress(
        @Nullable InetSocketAddress udp, @Nullable Path unix) {

    /** Throws IllegalArgumentException with a sentence for the operator. */
    public static ChronyAddress parse(String text) {
        if (text.startsWith("unix:/")) {
            return new ChronyAddress(null, Path.of(text.substring("unix:".length())));
        }
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon).replaceAll("^\\[|\\]$", "");
        if (!host.matches("[0-9.]+|[0-9a-fA-F:]*:[0-9a-fA-F:.]*")) {
            throw new IllegalArgumentException(
                    "'" + text + "' must be ADDRESS:PORT with an address in numbers, or unix:/PATH");
        }
        try {
            int port = Integer.parseInt(text.substring(colon + 1));
            return new ChronyAddress(new InetSocketAddress(InetAddress.getByName(host), port), null);
        } catch (UnknownHostException | IllegalArgumentException e) {
            throw new IllegalArgumentException("'" + text + "' is no address and port: " + e.getMessage(), e);
        }
    }

    @Override
    public String toString() {
        return udp == null ? "unix:" + unix : udp.toString();
    }
}

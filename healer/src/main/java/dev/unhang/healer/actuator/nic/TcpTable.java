package dev.unhang.healer.actuator.nic;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;

/** Reads {@code /proc/net/tcp} and {@code tcp6}. Pure. */
final class TcpTable {

    private static final String ESTABLISHED = "01";
    private static final Pattern SPACES = Pattern.compile("\\s+");

    /** One established connection. */
    record Connection(InetAddress local, int localPort, InetAddress remote, long inode) {}

    private TcpTable() {}

    /** The established ones; lines that are none are skipped, the heading among them. */
    static List<Connection> established(List<String> lines) {
        List<Connection> found = new ArrayList<>();
        for (String line : lines) {
            String[] words = SPACES.split(line.strip(), -1);
            if (words.length > 9 && ESTABLISHED.equals(words[3]) && words[1].contains(":")) {
                String[] local = words[1].split(":", 2);
                String[] remote = words[2].split(":", 2);
                found.add(new Connection(
                        address(local[0]),
                        Integer.parseInt(local[1], 16),
                        address(remote[0]),
                        Long.parseLong(words[9])));
            }
        }
        return found;
    }

    /** Words of 32 bits, each in the machine's order, which is little-endian wherever there is a GPU. */
    private static InetAddress address(String hex) {
        byte[] bytes = HexFormat.of().parseHex(hex);
        for (int word = 0; word < bytes.length; word += 4) {
            swap(bytes, word, word + 3);
            swap(bytes, word + 1, word + 2);
        }
        try {
            return InetAddress.getByAddress(bytes); // IPv4 in IPv6 becomes IPv4
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("'" + hex + "' is no address", e);
        }
    }

    private static void swap(byte[] bytes, int a, int b) {
        byte kept = bytes[a];
        bytes[a] = bytes[b];
        bytes[b] = kept;
    }
}

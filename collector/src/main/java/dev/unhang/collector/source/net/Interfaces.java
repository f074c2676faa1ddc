package dev.unhang.collector.source.net;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The network devices of the namespace in which this process runs, as the C library's ioctls tell them. sysfs shows
 * the namespace of whoever mounted it, which can be another one; this tells the two apart.
 */
@FunctionalInterface
public interface Interfaces {

    /**
     * One device.
     *
     * @param index the kernel's ifindex
     * @param running up and with a carrier
     * @param addresses by which others can reach it, IPv4 first; no loopback and no link-local ones
     */
    record Interface(int index, boolean running, List<String> addresses) {
        public Interface {
            addresses = List.copyOf(addresses);
        }
    }

    /** More than this no card of a cluster has; what balances load may have thousands. */
    int MOST_ADDRESSES = 8;

    /** By name. */
    Map<String, Interface> list() throws SocketException;

    /** Asks the kernel. */
    static Map<String, Interface> ofThisProcess() throws SocketException {
        Map<String, Interface> found = new HashMap<>();
        for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            List<String> addresses = reachable(Collections.list(each.getInetAddresses()));
            found.put(each.getName(), new Interface(each.getIndex(), each.isUp(), addresses));
        }
        return found;
    }

    /** Those by which others can reach it, in an order that stays. */
    static List<String> reachable(Collection<InetAddress> addresses) {
        return addresses.stream()
                .filter(each -> !each.isLoopbackAddress() && !each.isLinkLocalAddress())
                .filter(each -> !each.isAnyLocalAddress() && !each.isMulticastAddress())
                .sorted(Comparator.comparing((InetAddress each) -> each instanceof Inet6Address)
                        .thenComparing(InetAddress::getHostAddress))
                .map(each -> withoutZone(each.getHostAddress()))
                .limit(MOST_ADDRESSES)
                .toList();
    }

    private static String withoutZone(String address) {
        int zone = address.indexOf('%');
        return zone < 0 ? address : address.substring(0, zone);
    }
}

package dev.unhang.healer.actuator.nic;

import io.vertx.core.json.JsonObject;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

/**
 * The routes to connected networks, and the link-local addresses, that the kernel will make when the port comes up, although somebody had taken them away
 * or put others in their place. Pure.
 */
final class Connected {

    private Connected() {}

    /** Commands that take them away. */
    static List<List<String>> unwanted(Snapshot saved, DeviceStack stack) {
        List<List<String>> commands = new ArrayList<>();
        for (String device : stack.own()) {
            if (saved.addresses(device).stream().noneMatch(AddressWords::isLinkLocal)) {
                commands.add(noLinkLocal(device));
            }
            for (JsonObject address : saved.addresses(device)) {
                boolean six = AddressWords.isSix(address);
                if (address.containsKey("noprefixroute")
                        || address.containsKey("secondary")
                        || AddressWords.isLinkLocal(address)) {
                    continue;
                }
                String network = network(address);
                if (saved.routes(six).stream().noneMatch(route -> isIt(route, network, device))) {
                    commands.add(List.of(
                            "ip", six ? "-6" : "-4", "route", "del", network, "dev", device, "proto", "kernel"));
                }
            }
        }
        return commands;
    }

    static List<String> noLinkLocal(String device) {
        return List.of("ip", "-6", "addr", "flush", "dev", device, "scope", "link");
    }

    private static boolean isIt(JsonObject route, String network, String device) {
        return RouteWords.isKernels(route)
                && !RouteWords.isKernelsOwn(route)
                && network.equals(route.getString("dst"))
                && device.equals(route.getString("dev"));
    }

    /** As ip writes it: a network of one address without its length. */
    private static String network(JsonObject address) {
        String of = address.getString("address", address.getString("local", ""));
        int length = address.getInteger("prefixlen");
        try {
            byte[] bytes = InetAddress.getByName(of).getAddress();
            if (length == bytes.length * 8) {
                return of;
            }
            for (int bit = length; bit < bytes.length * 8; bit++) {
                bytes[bit / 8] &= (byte) ~(0x80 >> bit % 8);
            }
            return words(bytes) + '/' + length;
        } catch (UnknownHostException e) {
            throw new IllegalStateException("ip printed an address that is none: " + of, e);
        }
    }

    /** Java writes 2001:db8:0:0:0:0:0:0 where ip writes 2001:db8::. */
    private static String words(byte[] bytes) throws UnknownHostException {
        String written = InetAddress.getByAddress(bytes).getHostAddress();
        if (bytes.length == 4) {
            return written;
        }
        String[] groups = written.split(":", -1);
        int from = -1;
        int most = 1;
        for (int i = 0; i < groups.length; i++) {
            int to = i;
            while (to < groups.length && "0".equals(groups[to])) {
                to++;
            }
            if (to - i > most) {
                from = i;
                most = to - i;
            }
        }
        if (from < 0) {
            return written;
        }
        String head = String.join(":", List.of(groups).subList(0, from));
        String tail = String.join(":", List.of(groups).subList(from + most, groups.length));
        return head + "::" + tail;
    }
}

package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.NicReport;
import dev.unhang.events.v1.NodeReport;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which node an address or a host name means, from the nodes' own reports. What several nodes have, as the address of a
 * bridge that looks alike everywhere, means nobody. Never asks a name server. Confined to the decider's thread.
 */
final class AddressBook {

    private static final Pattern IPV4 = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");

    /** Addresses by node, as it told them, */
    private final Map<String, List<String>> told = new HashMap<>();

    /** and as keys. */
    private final Map<String, List<String>> spoken = new HashMap<>();

    private final Map<String, Set<String>> nodesByKey = new HashMap<>();

    /** Takes what a node reports; what it said before is forgotten. */
    void onReport(NodeReport report) {
        String node = report.getNode();
        if (isKnown(report)) {
            return;
        }
        List<String> keys = report.getNicsList().stream()
                .map(NicReport::getAddressesList)
                .flatMap(List::stream)
                .map(AddressBook::key)
                .toList();
        forget(node);
        told.put(
                node,
                report.getNicsList().stream()
                        .flatMap(nic -> nic.getAddressesList().stream())
                        .toList());
        spoken.put(node, keys);
        keys.forEach(key -> enter(key, node));
        names(node).forEach(name -> enter(name, node));
    }

    /** The node has told the same before. Nearly all reports do. */
    private boolean isKnown(NodeReport report) {
        List<String> before = told.get(report.getNode());
        if (before == null) {
            return false;
        }
        int at = 0;
        for (NicReport nic : report.getNicsList()) {
            for (String address : nic.getAddressesList()) {
                if (at == before.size() || !before.get(at).equals(address)) {
                    return false;
                }
                at++;
            }
        }
        return at == before.size();
    }

    /** The node is no more. */
    void forget(String node) {
        told.remove(node);
        List<String> keys = spoken.remove(node);
        if (keys != null) {
            keys.forEach(key -> strike(key, node));
            names(node).forEach(name -> strike(name, node));
        }
    }

    /** The one node that an address or a host name means; null where there is none, or several. */
    @Nullable
    String node(String peer) {
        String found = only(key(peer));
        int dot = peer.indexOf('.');
        boolean name = found == null && dot > 0 && !IPV4.matcher(peer).matches() && peer.indexOf(':') < 0;
        return name ? only(key(peer.substring(0, dot))) : found;
    }

    private @Nullable String only(String key) {
        Set<String> nodes = nodesByKey.getOrDefault(key, Set.of());
        return nodes.size() == 1 ? nodes.iterator().next() : null;
    }

    private void enter(String key, String node) {
        nodesByKey.computeIfAbsent(key, ignored -> new HashSet<>()).add(node);
    }

    private void strike(String key, String node) {
        Set<String> nodes = nodesByKey.get(key);
        if (nodes != null && nodes.remove(node) && nodes.isEmpty()) {
            nodesByKey.remove(key);
        }
    }

    /** Its whole name, and the part before the first dot. */
    private static Set<String> names(String node) {
        int dot = node.indexOf('.');
        return dot > 0 ? Set.of(key(node), key(node.substring(0, dot))) : Set.of(key(node));
    }

    /** One spelling for each address: IPv6 has many. */
    private static String key(String peer) {
        if (peer.indexOf(':') < 0) {
            return peer.toLowerCase(Locale.ROOT);
        }
        try {
            return InetAddress.getByName(peer).getHostAddress(); // a colon: a literal, so nothing is looked up
        } catch (UnknownHostException e) {
            return peer;
        }
    }
}

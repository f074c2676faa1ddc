package dev.unhang.healer.actuator.nic;

import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An address of {@code ip -d -j addr}, as words that make it again. Keys are those of iproute2 6.1 ({@code ipaddress.c}).
 * Pure.
 */
final class AddressWords {

    private static final long FOREVER = 4294967295L;

    /** They follow from other things, or from time. */
    private static final Set<String> STATE =
            Set.of("secondary", "tentative", "dadfailed", "dynamic", "deprecated", "optimistic", "stable-privacy");

    private static final List<String> FLAGS = List.of("home", "mngtmpaddr", "nodad", "noprefixroute", "autojoin");

    private static final Set<String> KEYS = Set.of(
            "family",
            "local",
            "address",
            "prefixlen",
            "scope",
            "label",
            "broadcast",
            "metric",
            "protocol",
            "valid_life_time",
            "preferred_life_time");

    private AddressWords() {}

    static boolean isSix(JsonObject address) {
        return "inet6".equals(address.getString("family"));
    }

    /** A privacy address: nobody but the kernel can make one, and it makes another. */
    static boolean isTemporary(JsonObject address) {
        return address.containsKey("temporary");
    }

    static boolean isLinkLocal(JsonObject address) {
        return isSix(address) && "link".equals(address.getString("scope"));
    }

    static Optional<String> doubt(JsonObject address) {
        if (isTemporary(address)) {
            return Optional.empty();
        }
        return address.fieldNames().stream()
                .filter(key -> !KEYS.contains(key) && !STATE.contains(key) && !FLAGS.contains(key))
                .findFirst()
                .map(key -> "'" + key + "' of it is not known here");
    }

    /** Without the first words {@code ip -6 addr add}. */
    static List<String> words(JsonObject address, String device, long elapsed) {
        List<String> words = new ArrayList<>();
        String peer = address.getString("address");
        String prefix = "/" + address.getValue("prefixlen");
        if (peer == null) {
            words.add(address.getString("local") + prefix);
        } else {
            words.addAll(List.of(address.getString("local", ""), "peer", peer + prefix));
        }
        text(words, "broadcast", address.getString("broadcast"));
        words.addAll(List.of("dev", device));
        text(words, "scope", address.getString("scope"));
        text(words, "label", address.getString("label"));
        if (address.containsKey("metric")) {
            text(words, "metric", String.valueOf(address.getValue("metric")));
        }
        String protocol = address.getString("protocol");
        if (protocol != null && !protocol.startsWith("kernel")) {
            text(words, "proto", protocol);
        }
        for (String flag : FLAGS) {
            if (address.containsKey(flag)) {
                words.add(flag);
            }
        }
        lifetime(words, "valid_lft", address.getLong("valid_life_time", FOREVER), elapsed);
        lifetime(words, "preferred_lft", address.getLong("preferred_life_time", FOREVER), elapsed);
        return words;
    }

    static JsonObject lasting(JsonObject address) {
        JsonObject lasting = address.copy();
        STATE.forEach(lasting::remove);
        lasting.remove("valid_life_time");
        lasting.remove("preferred_life_time");
        if (lasting.getString("protocol", "").startsWith("kernel")) {
            lasting.remove("protocol");
        }
        return lasting;
    }

    private static void lifetime(List<String> words, String name, long seconds, long elapsed) {
        if (seconds < FOREVER) {
            long least = "valid_lft".equals(name) ? 1 : 0;
            text(words, name, String.valueOf(Math.max(least, seconds - elapsed)));
        }
    }

    private static void text(List<String> words, String name, @org.jspecify.annotations.Nullable String value) {
        if (value != null) {
            words.add(name);
            words.add(value);
        }
    }
}

package dev.unhang.healer.actuator.nic;

import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A policy rule of {@code ip -d -j rule}, as words that make it again. The kernel keeps rules when a port goes down; a
 * script that runs at a port's down may not. Keys are those of iproute2 6.1 ({@code iprule.c}). Pure.
 */
final class RuleWords {

    private static final Set<String> KEYS = Set.of(
            "priority",
            "not",
            "src",
            "srclen",
            "dst",
            "dstlen",
            "tos",
            "fwmark",
            "fwmask",
            "iif",
            "oif",
            "uid_start",
            "uid_end",
            "ipproto",
            "sport",
            "sport_start",
            "sport_end",
            "dport",
            "dport_start",
            "dport_end",
            "tun_id",
            "table",
            "suppress_prefixlen",
            "flow_from",
            "flow_to",
            "goto",
            "action",
            "protocol");

    private static final Set<String> STATE = Set.of("iif_detached", "oif_detached", "unresolved");

    private RuleWords() {}

    static Optional<String> doubt(JsonObject rule) {
        return rule.fieldNames().stream()
                .filter(key -> !KEYS.contains(key) && !STATE.contains(key))
                .findFirst()
                .map(key -> "'" + key + "' of it is not known here");
    }

    /** Without the first words {@code ip -4 rule add}. */
    static List<String> words(JsonObject rule) {
        List<String> words = new ArrayList<>();
        if (rule.containsKey("not")) {
            words.add("not");
        }
        prefix(words, rule, "from", "src", "srclen");
        prefix(words, rule, "to", "dst", "dstlen");
        value(words, rule, "tos", "tos");
        if (rule.containsKey("fwmark")) {
            String mask = rule.containsKey("fwmask") ? "/" + rule.getValue("fwmask") : "";
            words.addAll(List.of("fwmark", rule.getValue("fwmark") + mask));
        }
        value(words, rule, "iif", "iif");
        value(words, rule, "oif", "oif");
        if (rule.containsKey("uid_start")) {
            words.addAll(List.of("uidrange", rule.getValue("uid_start") + "-" + rule.getValue("uid_end")));
        }
        value(words, rule, "ipproto", "ipproto");
        ports(words, rule, "sport");
        ports(words, rule, "dport");
        value(words, rule, "tun_id", "tun_id");
        value(words, rule, "priority", "priority");
        value(words, rule, "protocol", "protocol");
        value(words, rule, "table", "table");
        value(words, rule, "suppress_prefixlen", "suppress_prefixlength");
        if (rule.containsKey("flow_to")) {
            String from = rule.containsKey("flow_from") ? rule.getValue("flow_from") + "/" : "";
            words.addAll(List.of("realms", from + rule.getValue("flow_to")));
        }
        value(words, rule, "goto", "goto");
        if (rule.containsKey("action") && !"to_tbl".equals(rule.getValue("action"))) {
            words.add(String.valueOf(rule.getValue("action")));
        }
        return words;
    }

    static JsonObject lasting(JsonObject rule) {
        JsonObject lasting = rule.copy();
        STATE.forEach(lasting::remove);
        return lasting;
    }

    private static void prefix(List<String> words, JsonObject rule, String word, String key, String length) {
        if (rule.containsKey(key)) {
            String slash = rule.containsKey(length) ? "/" + rule.getValue(length) : "";
            words.addAll(List.of(word, rule.getValue(key) + slash));
        }
    }

    private static void ports(List<String> words, JsonObject rule, String key) {
        value(words, rule, key, key);
        if (rule.containsKey(key + "_start")) {
            words.addAll(List.of(key, rule.getValue(key + "_start") + "-" + rule.getValue(key + "_end")));
        }
    }

    private static void value(List<String> words, JsonObject rule, String word, String key) {
        if (rule.containsKey(key)) {
            words.addAll(List.of(word, String.valueOf(rule.getValue(key))));
        }
    }
}

package dev.unhang.collector.source.net;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Which network devices are watched, by name. A device is watched if it matches {@code include} and not
 * {@code exclude}; patterns are the shell's {@code *} and {@code ?}. Immutable.
 */
public final class NetNames {

    /** All. */
    public static final List<String> INCLUDE = List.of("*");

    /** Loopback, bridges and taps of containers and virtual machines, and devices that carry no traffic of a job. */
    public static final List<String> EXCLUDE = List.of(
            "lo",
            "docker*",
            "br-*",
            "cni*",
            "cali*",
            "cilium*",
            "lxc*",
            "flannel*",
            "virbr*",
            "vnet*",
            "tap*",
            "tun*",
            "ifb*",
            "dummy*",
            "kube-*",
            "nodelocaldns",
            "sit*",
            "gre*",
            "gretap*",
            "erspan*",
            "ip6tnl*",
            "tunl*");

    private final List<Pattern> include;
    private final List<Pattern> exclude;

    public NetNames(List<String> include, List<String> exclude) {
        this.include = include.stream().map(NetNames::glob).toList();
        this.exclude = exclude.stream().map(NetNames::glob).toList();
    }

    public static NetNames defaults() {
        return new NetNames(INCLUDE, EXCLUDE);
    }

    public boolean watched(String name) {
        return matches(include, name) && !matches(exclude, name);
    }

    private static boolean matches(List<Pattern> patterns, String name) {
        return patterns.stream().anyMatch(pattern -> pattern.matcher(name).matches());
    }

    private static Pattern glob(String glob) {
        StringBuilder regex = new StringBuilder();
        for (int i = 0; i < glob.length(); i++) {
            char c = glob.charAt(i);
            switch (c) {
                case '*' -> regex.append(".*");
                case '?' -> regex.append('.');
                default -> regex.append(Pattern.quote(String.valueOf(c)));
            }
        }
        return Pattern.compile(regex.toString());
    }
}

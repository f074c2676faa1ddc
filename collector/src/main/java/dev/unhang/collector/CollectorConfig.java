package dev.unhang.collector;

import dev.unhang.collector.source.clock.ChronyAddress;
import dev.unhang.collector.source.net.NetNames;
import dev.unhang.collector.source.nvml.NvmlConfig;
import dev.unhang.settings.BadSettingsException;
import dev.unhang.settings.Kafka;
import dev.unhang.settings.Settings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The collector's settings, as read from one YAML file. Every mistake is told at once, with its line.
 *
 * @param node the scheduler's name of this node
 * @param enabled names of the sources that are read
 * @param heartbeat where heartbeats are taken
 * @param chrony where chronyd is asked, in turn
 * @param labels go into the inventory: rack, pool and what else the operator wants
 */
public record CollectorConfig(
        String node,
        Kafka kafka,
        Duration interval,
        Backlog backlog,
        Set<String> enabled,
        Address heartbeat,
        NvmlConfig nvml,
        NetNames net,
        List<ChronyAddress> chrony,
        Map<String, String> labels,
        Serve serve) {

    /** Every source there is, in the order of the page. */
    public static final List<String> SOURCES =
            List.of("nvml", "net", "rdma", "clock", "kernel", "process", "heartbeat", "nccl");

    /** Bounds of what waits for the broker. */
    public record Backlog(int records, long bytes) {}

    /** {@code socket} null: no local commands. */
    public record Serve(
            boolean enabled, Address listen, @Nullable Path socket) {}

    /** A host and a port. */
    public record Address(String host, int port) {}

    /**
     * Reads and checks all settings.
     *
     * @param hostname the default of {@code node}
     * @param publishes false where nothing is sent, as for {@code --print-sample}: then no broker need be named
     */
    public static CollectorConfig read(Settings settings, String hostname, boolean publishes)
            throws BadSettingsException {
        CollectorConfig config = new CollectorConfig(
                node(settings, hostname),
                Kafka.from(settings, publishes),
                settings.duration(
                        "sample.interval",
                        Duration.ofSeconds(1),
                        Duration.ofMillis(100),
                        Duration.ofSeconds(10),
                        "Time between samples. Detection is made for 1s."),
                new Backlog(
                        settings.number(
                                "backlog.records",
                                700,
                                10,
                                1_000_000,
                                "How many records wait for a broker that does not answer; the default is ten minutes of"
                                        + " samples and some events. When it is full the oldest samples are dropped"
                                        + " first and events last."),
                        settings.size(
                                "backlog.bytes",
                                2L << 20,
                                64L << 10,
                                1L << 30,
                                "How many bytes they may take. Raise -Xmx with it.")),
                enabled(settings),
                address(
                        settings,
                        "heartbeat.listen",
                        new Address("127.0.0.1", 9721),
                        "UDP address for heartbeats of training loops. In a pod, the host's address."),
                NvmlConfig.read(settings),
                new NetNames(
                        settings.list(
                                "net.include", NetNames.INCLUDE, "Network devices to read, as patterns with * and ?."),
                        settings.list(
                                "net.exclude",
                                NetNames.EXCLUDE,
                                "Network devices to leave out, as patterns with * and ?.")),
                chrony(settings),
                settings.map("labels", "Labels of the node, as rack and pool. They travel with the inventory."),
                serve(settings));
        settings.finish();
        return config;
    }

    private static String node(Settings settings, String hostname) {
        String node = settings.text(
                "node",
                "",
                "The scheduler's name of this node; the host name when left out. In Kubernetes the node's name.");
        String name = node.isEmpty() ? hostname : node;
        if (!name.matches("[A-Za-z0-9]([A-Za-z0-9._-]{0,252})")) {
            settings.mistake(
                    "node",
                    "node is '" + name
                            + "' and must be a host name: letters, digits, dots, dashes, at most 253 of them");
        }
        return name;
    }

    private static Set<String> enabled(Settings settings) {
        Map<String, String> meanings = new LinkedHashMap<>();
        meanings.put("nvml", "Whether GPUs are read. A machine without a driver is no error.");
        meanings.put("net", "Whether network devices are read.");
        meanings.put("rdma", "Whether RDMA ports are read.");
        meanings.put("clock", "Whether chronyd and the kernel are asked how right the clock is.");
        meanings.put("kernel", "Whether the kernel's log is read. Needs root or CAP_SYSLOG.");
        meanings.put("process", "Whether ranks are found in /proc.");
        meanings.put("heartbeat", "Whether heartbeats of training loops are taken.");
        meanings.put(
                "nccl",
                "Whether the ranks' own NCCL and PyTorch logs are read (NCCL_DEBUG_FILE; standard error and output where"
                        + " they are files) for the peers that they name. Needs `sources.process`. No line and no path"
                        + " leaves the node, only addresses, ranks and error numbers.");
        Set<String> enabled = new TreeSet<>();
        meanings.forEach((name, meaning) -> {
            if (settings.flag("sources." + name + ".enabled", true, meaning)) {
                enabled.add(name);
            }
        });
        return Set.copyOf(enabled);
    }

    private static List<ChronyAddress> chrony(Settings settings) {
        List<ChronyAddress> addresses = new ArrayList<>();
        for (String text : settings.list(
                "clock.chrony-address",
                List.of("127.0.0.1:323", "unix:/run/chrony/chronyd.sock"),
                "Where chronyd answers: ADDRESS:PORT in numbers, or unix:/PATH; tried in turn.")) {
            try {
                addresses.add(ChronyAddress.parse(text));
            } catch (IllegalArgumentException e) {
                settings.mistake("clock.chrony-address", "clock.chrony-address " + e.getMessage());
            }
        }
        return List.copyOf(addresses);
    }

    private static Serve serve(Settings settings) {
        boolean enabled = settings.flag("serve.enabled", true, "Whether /metrics and /healthz are served over HTTP.");
        Address listen = address(
                settings,
                "serve.listen",
                new Address("127.0.0.1", 9720),
                "Where. There is no login: keep it on the loopback, or behind a network policy.");
        String socket = settings.text(
                "serve.socket",
                "/run/unhang/collector.sock",
                "Unix socket for local commands (release-gpus, give-back-gpus, status); `none` for no socket.");
        return new Serve(enabled, listen, "none".equals(socket) ? null : Path.of(socket));
    }

    private static Address address(Settings settings, String key, Address fallback, String meaning) {
        String text = settings.text(key, fallback.host() + ":" + fallback.port(), meaning);
        int colon = text.lastIndexOf(':');
        try {
            int port = Integer.parseInt(text.substring(colon + 1));
            if (colon > 0 && port > 0 && port < 65536) {
                return new Address(text.substring(0, colon).replaceAll("[\\[\\]]", ""), port);
            }
        } catch (NumberFormatException e) {
            // Told below, as every other fault of an address.
        }
        settings.mistake(key, key + " is '" + text + "' and must be HOST:PORT");
        return fallback;
    }
}

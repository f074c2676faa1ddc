package dev.unhang.healer.actuator;

import dev.unhang.healer.actuator.gpu.GpuSettings;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.command.GrantSeal;
import dev.unhang.settings.BadSettingsException;
import dev.unhang.settings.Kafka;
import dev.unhang.settings.Settings;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PublicKey;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * An actuator's settings, as read from one YAML file. Every mistake is told at once, with its line. What it may do is here
 * and nowhere else: no healer can widen it.
 *
 * @param node the scheduler's name of this node, as its collector has it
 * @param actions what it may do
 * @param units what relaunch-unit may restart
 * @param keys public keys of the healers that may grant, by id
 * @param stop while this file is there nothing is begun
 * @param state what must survive this process
 * @param terminate between SIGTERM and SIGKILL
 */
public record ActuatorConfig(
        String node,
        Kafka kafka,
        Set<Action> actions,
        Set<String> units,
        Map<String, PublicKey> keys,
        Path stop,
        Path state,
        Duration terminate,
        Programs programs,
        Evidence evidence,
        Gpu gpu) {

    /** Names or paths of outside programs. */
    public record Programs(
            String systemctl, String chronyc, String nvidiaSmi, String dmesg, String pySpy, String bugReport) {}

    /**
     * Bounds of collect-evidence.
     *
     * @param bytes of one command
     * @param keep how many commands'
     * @param ras whether NCCL's RAS is asked, at this port of the loopback
     */
    public record Evidence(long bytes, int keep, boolean ras, int rasPort) {}

    /**
     * What a reset has to know.
     *
     * @param collectorSocket where the collector is told to let go
     * @param clients units that only watch GPUs: stopped for the reset and started again
     * @param deadline for the reset itself
     */
    public record Gpu(Path collectorSocket, List<String> clients, Duration deadline) {}

    public ActuatorConfig {
        actions = Set.copyOf(actions);
        units = Set.copyOf(units);
        keys = Map.copyOf(keys);
    }

    /**
     * Reads and checks all settings, and the key files that they name.
     *
     * @param hostname the default of {@code node}
     */
    public static ActuatorConfig read(Settings settings, String hostname) throws BadSettingsException {
        ActuatorConfig config = new ActuatorConfig(
                node(settings, hostname),
                Kafka.from(settings, true),
                actions(settings),
                Set.copyOf(settings.list(
                        "units", List.of(), "systemd units that `relaunch-unit` may restart, as train.service.")),
                keys(settings),
                Path.of(settings.text(
                        "stop-file",
                        "/etc/unhang/stop",
                        "While this file is there everything is refused, whatever Kafka says. What runs goes on.")),
                Path.of(settings.text(
                        "state-folder",
                        "/var/lib/unhang",
                        "Where evidence is kept, and what a repair must put back. On a disk; for root alone.")),
                settings.duration(
                        "terminate-wait",
                        Duration.ofSeconds(10),
                        Duration.ZERO,
                        Duration.ofMinutes(5),
                        "How long a process has between SIGTERM and SIGKILL. One in state T is killed at once."),
                new Programs(
                        program(settings, "systemctl", "systemctl", "systemd's, for units"),
                        program(settings, "chronyc", "chronyc", "chrony's, for the clock"),
                        program(settings, "nvidia-smi", "nvidia-smi", "the driver's, for persistence mode"),
                        program(settings, "dmesg", "dmesg", "util-linux's, for the kernel's log"),
                        program(settings, "py-spy", "py-spy", "for Python stacks; left out where it is not installed"),
                        program(settings, "nvidia-bug-report", "nvidia-bug-report.sh", "the driver's bug report")),
                new Evidence(
                        settings.size(
                                "evidence.most-bytes",
                                64L << 20,
                                64L << 10,
                                16L << 30,
                                "How much one `collect-evidence` may keep; it is refused when the disk has less room."),
                        settings.number("evidence.keep", 20, 1, 10_000, "Of how many commands evidence is kept."),
                        settings.flag(
                                "evidence.nccl-ras", true, "Whether NCCL's RAS subsystem is asked for its state."),
                        settings.number(
                                "evidence.nccl-ras-port",
                                28028,
                                1,
                                65535,
                                "Its port on the loopback (NCCL_RAS_ADDR).")),
                new Gpu(
                        Path.of(settings.text(
                                "gpu.collector-socket",
                                "/run/unhang/collector.sock",
                                "The collector's `serve.socket`, where it is told to let go of the GPUs for a reset.")),
                        settings.list(
                                "gpu.clients",
                                List.of(),
                                "Units that only watch GPUs, as nvidia-dcgm.service: stopped for a reset, started again."),
                        settings.duration(
                                "gpu.reset-deadline",
                                GpuSettings.DEADLINE,
                                Duration.ofSeconds(10),
                                Duration.ofMinutes(10),
                                "How long nvidia-smi has for a reset.")));
        if (config.keys().isEmpty() && acts(config.actions())) {
            settings.mistake(
                    "actions", "actions are allowed, but grant-keys names no key, so that no grant would ever hold");
        }
        settings.finish();
        return config;
    }

    /** More than the default, which only looks: then an operator meant something to happen. */
    private static boolean acts(Set<Action> actions) {
        return actions.stream().anyMatch(action -> action.harm() != Action.Harm.NONE);
    }

    private static String node(Settings settings, String hostname) {
        String node = settings.text(
                "node",
                "",
                "The scheduler's name of this node, the same as its collector's; the host name when left out.");
        String name = node.isEmpty() ? hostname : node;
        if (!name.matches("[A-Za-z0-9]([A-Za-z0-9._-]{0,252})")) {
            settings.mistake(
                    "node",
                    "node is '" + name
                            + "' and must be a host name: letters, digits, dots, dashes, at most 253 of them");
        }
        return name;
    }

    private static String program(Settings settings, String name, String fallback, String meaning) {
        return settings.text("programs." + name, fallback, "Name or path of a program: " + meaning + ".");
    }

    private static Set<Action> actions(Settings settings) {
        Set<Action> actions = EnumSet.noneOf(Action.class);
        for (String label : settings.list(
                "actions",
                List.of(Action.LOOK.label(), Action.COLLECT_EVIDENCE.label()),
                "What this node lets a healer do: names of actions.md. The healer cannot widen it.")) {
            Action.named(label)
                    .filter(action -> !action.atScheduler())
                    .ifPresentOrElse(
                            actions::add,
                            () -> settings.mistake(
                                    "actions", "actions has '" + label + "', and a node knows only " + known()));
        }
        return actions;
    }

    private static String known() {
        return String.join(
                ", ",
                EnumSet.allOf(Action.class).stream()
                        .filter(action -> !action.atScheduler())
                        .map(Action::label)
                        .toList());
    }

    private static Map<String, PublicKey> keys(Settings settings) {
        Map<String, PublicKey> keys = new HashMap<>();
        settings.map(
                        "grant-keys",
                        "A key id of a healer, and the PEM file with its public key"
                                + " (openssl pkey -in grant.pem -pubout). Only what is signed with one of them is done.")
                .forEach((id, file) -> {
                    try {
                        keys.put(id, GrantSeal.publicKey(Files.readString(Path.of(file))));
                    } catch (GrantSeal.BadSealException e) {
                        settings.mistake("grant-keys." + id, "grant-keys." + id + ": " + file + ": " + e.getMessage());
                    } catch (MalformedInputException e) {
                        settings.mistake("grant-keys." + id, "grant-keys." + id + ": " + file + " is no text");
                    } catch (IOException e) {
                        settings.mistake(
                                "grant-keys." + id,
                                "grant-keys." + id + ": " + file + " cannot be read: "
                                        + e.getClass().getSimpleName());
                    }
                });
        return keys;
    }
}

package dev.unhang.healer.actuator.nic;

import java.nio.file.Path;
import java.util.List;

/**
 * What a bounce has to know of its node.
 *
 * @param state folder for what is saved; on a disk, root's alone
 * @param brokers {@code host:port} of Kafka's bootstrap servers
 * @param proc where {@code /proc} is
 * @param sys where {@code /sys} is
 * @param systemd whether systemd runs in our network namespace, so that it can run the watchdog
 */
public record NicSettings(Path state, List<String> brokers, Path proc, Path sys, boolean systemd) {

    public NicSettings {
        brokers = List.copyOf(brokers);
    }
}

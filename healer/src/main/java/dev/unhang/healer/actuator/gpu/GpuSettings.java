package dev.unhang.healer.actuator.gpu;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * What a reset has to know of its node.
 *
 * @param state folder for what is saved; on a disk, root's alone
 * @param collectorSocket where the collector takes local commands
 * @param proc where {@code /proc} is
 * @param dev where {@code /dev} is
 * @param persistenced unit of nvidia-persistenced
 * @param fabricManager unit of Fabric Manager
 * @param clients units that use GPUs only to watch them, as nvidia-dcgm: stopped for the reset, and started again
 * @param deadline for the reset itself
 */
public record GpuSettings(
        Path state,
        Path collectorSocket,
        Path proc,
        Path dev,
        String persistenced,
        String fabricManager,
        List<String> clients,
        Duration deadline) {

    public static final String PERSISTENCED = "nvidia-persistenced.service";
    public static final String FABRIC_MANAGER = "nvidia-fabricmanager.service";
    public static final Duration DEADLINE = Duration.ofMinutes(2);

    public GpuSettings {
        clients = List.copyOf(clients);
    }
}

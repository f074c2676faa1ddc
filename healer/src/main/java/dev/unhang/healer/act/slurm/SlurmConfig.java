package dev.unhang.healer.act.slurm;

import dev.unhang.settings.Settings;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How Slurm is reached: the keys {@code scheduler.slurm.*}.
 *
 * @param enabled without it Slurm is never asked
 * @param folder of squeue, sinfo and scontrol; null: they are found by PATH
 * @param configFile Slurm's own; null: where the programs look by themselves
 * @param deadline of each call
 */
public record SlurmConfig(
        boolean enabled, @Nullable Path folder, @Nullable Path configFile, Duration deadline) {

    public static SlurmConfig from(Settings settings) {
        boolean enabled = settings.flag(
                "scheduler.slurm.enabled",
                false,
                "Whether the healer asks Slurm for jobs and nodes. Needs squeue, sinfo and scontrol beside it.");
        String folder = settings.optionalText(
                "scheduler.slurm.commands", "Folder of squeue, sinfo and scontrol. Found by PATH when left out.");
        String file = settings.optionalText(
                "scheduler.slurm.config-file", "Slurm's own configuration, where it is not where the programs look.");
        Duration deadline = settings.duration(
                "scheduler.slurm.deadline",
                Duration.ofSeconds(10),
                Duration.ofSeconds(1),
                Duration.ofMinutes(1),
                "How long one program of Slurm may take before it is killed.");
        return new SlurmConfig(
                enabled, folder == null ? null : Path.of(folder), file == null ? null : Path.of(file), deadline);
    }
}

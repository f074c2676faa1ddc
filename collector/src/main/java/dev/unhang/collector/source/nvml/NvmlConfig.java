package dev.unhang.collector.source.nvml;

import dev.unhang.settings.Settings;
import java.time.Duration;

/**
 * How NVML is read.
 *
 * @param library name or path of the library; the versioned name, since the plain one belongs to a development package
 * @param deadline how long the calls into one GPU may take in one read before the GPU counts as stuck
 * @param retry how often a driver that is not there is looked for again
 */
public record NvmlConfig(String library, Duration deadline, Duration retry) {

    public static final NvmlConfig DEFAULT =
            new NvmlConfig("libnvidia-ml.so.1", Duration.ofMillis(800), Duration.ofSeconds(30));

    public static NvmlConfig read(Settings settings) {
        return new NvmlConfig(
                settings.text("nvml.library", DEFAULT.library, "name or path of NVML's library"),
                settings.duration(
                        "nvml.deadline",
                        DEFAULT.deadline,
                        Duration.ofMillis(50),
                        Duration.ofSeconds(10),
                        "how long the calls into one GPU may take before the GPU counts as stuck"),
                settings.duration(
                        "nvml.retry",
                        DEFAULT.retry,
                        Duration.ofSeconds(1),
                        Duration.ofHours(1),
                        "how often a driver that is not there is looked for again"));
    }
}

package dev.unhang.collector;

import dev.unhang.collector.serve.GpuLease;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The sources of this machine, as the settings ask for them.
 *
 * @param all each with how often it is read
 * @param lease lets go of the GPUs, where they are read
 */
record Sources(List<Collector.Paced> all, GpuLease lease) {

    static final Duration KERNEL_PACE = Duration.ofMillis(200);
    static final Duration CLOCK_PACE = Duration.ofSeconds(4);

    Sources {
        all = List.copyOf(all);
    }

    static Sources of(CollectorConfig config, Clock wall, LongSupplier nanos) {
        return new Sources(new ArrayList<>(), GpuLease.none());
    }
}

package dev.unhang.collector.source;

import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One place that the collector reads, as NVML or {@code /sys/class/net}. Each source has a worker thread of its own
 * that alone calls {@link #read} and {@link #close}; a call that outlasts its {@link #deadline} becomes the reading
 * "stuck since …" while the other sources go on.
 */
public interface Source extends AutoCloseable {

    /** A short fixed name, as {@code nvml}; it appears in samples, logs and metrics. */
    String name();

    /** How long one read may take before it counts as stuck. */
    Duration deadline();

    /**
     * Reads once. What a device answers, errors included, is data in the reading. An exception means that the source
     * itself could not be read this time; it becomes a {@code SourceFault} and the source is asked again.
     */
    Reading read() throws IOException;

    @Override
    void close();

    /**
     * What one read gave.
     *
     * @param part only the fields of {@link NodeSample} that this source owns; parts of all sources are merged
     * @param inventory only the fields of {@link NodeInventory} that this source owns; null where it owns none or
     *     nothing changed since the last read
     * @param events what happened since the last read, without the envelope fields (boot, start, seq, times)
     */
    record Reading(NodeSample part, @Nullable NodeInventory inventory, List<NodeEvent> events) {
        public Reading {
            events = List.copyOf(events);
        }

        public static Reading of(NodeSample part) {
            return new Reading(part, null, List.of());
        }
    }
}

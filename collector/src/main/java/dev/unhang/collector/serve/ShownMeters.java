package dev.unhang.collector.serve;

import dev.unhang.collector.serve.CollectorMetrics.Meter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Keeps a registry equal to what was last read: between {@link #begin} and {@link #end} each value is set, and what was
 * not set is taken away. Confined to one thread.
 */
final class ShownMeters {

    private record Key(Meter meter, List<String> labels) {}

    private static final class Row {
        private final io.micrometer.core.instrument.Meter meter;
        private final double[] value;
        private boolean seen;

        Row(io.micrometer.core.instrument.Meter meter, double[] value) {
            this.meter = meter;
            this.value = value;
        }
    }

    private final MeterRegistry registry;
    private final List<Meter> declared = new ArrayList<>();
    private final Map<Key, Row> rows = new HashMap<>();

    ShownMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    Meter declare(Meter meter) {
        declared.add(meter);
        return meter;
    }

    List<Meter> declared() {
        return List.copyOf(declared);
    }

    void begin() {
        rows.values().forEach(row -> row.seen = false);
    }

    /** {@code present} false: not read, so not shown. */
    void set(Meter meter, boolean present, double value, String... labels) {
        if (present) {
            Row row = rows.computeIfAbsent(new Key(meter, List.of(labels)), this::register);
            row.value[0] = value;
            row.seen = true;
        }
    }

    void set(Meter meter, boolean present, long value, String... labels) {
        set(meter, present, (double) value, labels);
    }

    void end() {
        rows.values().removeIf(row -> {
            if (!row.seen) {
                registry.remove(row.meter);
            }
            return !row.seen;
        });
    }

    private Row register(Key key) {
        double[] value = new double[1];
        Meter meter = key.meter();
        Tags tags = Tags.empty();
        for (int i = 0; i < meter.labels().size(); i++) {
            tags = tags.and(meter.labels().get(i), key.labels().get(i));
        }
        if (meter.counter()) {
            return new Row(
                    FunctionCounter.builder(meter.name(), value, now -> now[0])
                            .description(meter.meaning())
                            .tags(tags)
                            .register(registry),
                    value);
        }
        return new Row(
                Gauge.builder(meter.name(), value, now -> now[0])
                        .description(meter.meaning())
                        .tags(tags)
                        .register(registry),
                value);
    }
}

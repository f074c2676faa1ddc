package dev.unhang.healer.web;

import com.google.protobuf.Message;
import dev.unhang.events.Topic;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.Incident;
import dev.unhang.healer.intake.IntakeMetrics;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;

/**
 * The healer's meters, all named here; {@code docs/reference/healer-metrics.md} is printed from {@link Name}. Callers
 * tell what happened and never see a tag. Tags are from bounded sets only: a node, GPU or job is never one. Any thread
 * may call.
 */
public final class HealerMetrics implements IntakeMetrics, AutoCloseable {

    /** Every meter of ours, as Prometheus shows it. */
    enum Name {
        INCIDENTS_OPEN("unhang.incidents.open", Kind.GAUGE, "kind, state", "Incidents that stand now"),
        NODES("unhang.nodes", Kind.GAUGE, "watch", "Nodes by how they are watched"),
        BLIND("unhang.blind", Kind.GAUGE, "", "Reasons why the healer cannot see all; 0 when it sees"),
        PAUSED("unhang.paused", Kind.GAUGE, "", "1 while a person has paused all actions"),
        VIEWS_READY("unhang.views.ready", Kind.GAUGE, "", "1 while the views of this instance show the whole log"),
        LAG_SECONDS(
                "unhang.partition.lag.seconds", Kind.GAUGE, "partition", "How late a telemetry partition is judged"),
        LAG_RECORDS(
                "unhang.partition.lag.records", Kind.GAUGE, "partition", "Telemetry records that wait to be judged"),
        COVERED_AGE(
                "unhang.partition.covered.age.seconds",
                Kind.GAUGE,
                "partition",
                "Log time since the partition's owner last said how far it has judged; absent if never"),
        EPOCH("unhang.decider.epoch", Kind.GAUGE, "", "Epoch of the decider; one more after each take-over"),
        LOG_TIME("unhang.log.time.seconds", Kind.GAUGE, "", "Log time of the inbox at the last decision"),
        DECIDER_ACTIVE("unhang.decider.active", Kind.GAUGE, "", "1 on the instance that decides"),
        RECORDS_READ("unhang.records.read", Kind.COUNTER, "type", "Records that this instance read, by message type"),
        FINDINGS("unhang.findings", Kind.COUNTER, "kind, standing", "Findings that this instance's detectors said"),
        DEAD_LETTERS("unhang.dead.letters", Kind.COUNTER, "", "Unreadable records kept in the dead letters"),
        UNREADABLE("unhang.records.unreadable", Kind.COUNTER, "topic", "Records that could not be read, by topic"),
        SKIPPED("unhang.records.skipped", Kind.COUNTER, "", "Records of a type that only a newer version knows"),
        DECISION_LATENCY(
                "unhang.decision.latency",
                Kind.TIMER,
                "",
                "From the broker's stamp of a record to its judgement; the two clocks may differ, so for people only");

        enum Kind {
            GAUGE,
            COUNTER,
            TIMER
        }

        final String meter;
        final Kind kind;
        final String tags;
        final String meaning;

        Name(String meter, Kind kind, String tags, String meaning) {
            this.meter = meter;
            this.kind = kind;
            this.tags = tags;
            this.meaning = meaning;
        }

        /** As it stands in Prometheus' text. */
        String exposed() {
            String base = meter.replace('.', '_');
            return switch (kind) {
                case GAUGE -> base;
                case COUNTER -> base + "_total";
                case TIMER -> base + "_seconds";
            };
        }
    }

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics gc = new JvmGcMetrics();
    private final Views views;
    private final MultiGauge incidents;
    private final MultiGauge nodes;
    private final MultiGauge lagSeconds;
    private final MultiGauge lagRecords;
    private final MultiGauge coveredAge;
    private final AtomicBoolean deciding = new AtomicBoolean();
    private final Counter deadLetters;
    private final Counter skipped;
    private final Timer decisionLatency;
    private final Map<String, Counter> counters = new ConcurrentHashMap<>();

    public HealerMetrics(Views views, LongSupplier nanos) {
        this.views = views;
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
        gc.bindTo(registry);
        incidents = multi(Name.INCIDENTS_OPEN);
        nodes = multi(Name.NODES);
        lagSeconds = multi(Name.LAG_SECONDS);
        lagRecords = multi(Name.LAG_RECORDS);
        coveredAge = multi(Name.COVERED_AGE);
        gauge(Name.BLIND, shown -> shown.blind(nanos.getAsLong()).size());
        gauge(Name.PAUSED, shown -> shown.pause().getPaused() ? 1 : 0);
        gauge(Name.VIEWS_READY, shown -> shown.unready().isEmpty() ? 1 : 0);
        gauge(Name.EPOCH, shown -> shown.position().getEpoch());
        gauge(Name.LOG_TIME, shown -> shown.position().getLogTimeMs() / 1e3);
        Gauge.builder(Name.DECIDER_ACTIVE.meter, deciding, active -> active.get() ? 1 : 0)
                .description(Name.DECIDER_ACTIVE.meaning)
                .register(registry);
        deadLetters = Counter.builder(Name.DEAD_LETTERS.meter)
                .description(Name.DEAD_LETTERS.meaning)
                .register(registry);
        skipped = Counter.builder(Name.SKIPPED.meter)
                .description(Name.SKIPPED.meaning)
                .register(registry);
        decisionLatency = Timer.builder(Name.DECISION_LATENCY.meter)
                .description(Name.DECISION_LATENCY.meaning)
                .serviceLevelObjectives(
                        Duration.ofMillis(10),
                        Duration.ofMillis(25),
                        Duration.ofMillis(50),
                        Duration.ofMillis(100),
                        Duration.ofMillis(250),
                        Duration.ofMillis(500),
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(5))
                .register(registry);
    }

    @Override
    public void recordRead(String type) {
        counter(Name.RECORDS_READ, "type", type).increment();
    }

    @Override
    public void found(Finding finding) {
        String kind = Words.of(finding.getKind());
        String standing = Words.of(finding.getStanding(), "STANDING_");
        counters.computeIfAbsent(
                        Name.FINDINGS + kind + '/' + standing,
                        ignored -> Counter.builder(Name.FINDINGS.meter)
                                .description(Name.FINDINGS.meaning)
                                .tags("kind", kind, "standing", standing)
                                .register(registry))
                .increment();
    }

    @Override
    public void unreadable(Topic topic) {
        counter(Name.UNREADABLE, "topic", Words.of(topic, "")).increment();
    }

    /** The type is from outside and without a bound, so it is no tag. */
    @Override
    public void skipped(String type) {
        skipped.increment();
    }

    @Override
    public void deadLetterWritten() {
        deadLetters.increment();
    }

    @Override
    public void deciding(boolean active) {
        deciding.set(active);
    }

    /** Whether this healer decides now. */
    public boolean deciding() {
        return deciding.get();
    }

    /** Below zero, since the two clocks differ, counts as zero. */
    @Override
    public void judged(String node, Message message, Duration sinceStamp) {
        decisionLatency.record(sinceStamp.isNegative() ? Duration.ZERO : sinceStamp);
    }

    /** All meters in Prometheus' text format. */
    public synchronized String scrape() {
        refresh();
        return registry.scrape();
    }

    PrometheusMeterRegistry registry() {
        return registry;
    }

    @Override
    public void close() {
        gc.close();
        registry.close();
    }

    private void refresh() {
        Map<Tags, Integer> open = new LinkedHashMap<>();
        for (Incident incident : views.incidents()) {
            if (Words.open(incident)) {
                Tags tags = Tags.of("kind", Words.of(incident.getKind()), "state", Words.of(incident.getState()));
                open.merge(tags, 1, Integer::sum);
            }
        }
        register(incidents, open);
        Map<String, Integer> watches = new TreeMap<>(Map.of("watched", 0, "silent", 0, "unwatched", 0, "unknown", 0));
        for (String node : views.nodes()) {
            watches.merge(NodeJson.watch(views.seen(node)), 1, Integer::sum);
        }
        Map<Tags, Integer> byWatch = new LinkedHashMap<>();
        watches.forEach((watch, count) -> byWatch.put(Tags.of("watch", watch), count));
        register(nodes, byWatch);
        register(lagSeconds, covers(cover -> cover.lagMs() / 1e3));
        register(lagRecords, covers(Cover::lagRecords));
        register(coveredAge, covers(cover -> (views.inboxLogMs() - cover.atLogMs()) / 1e3));
    }

    private Map<Tags, Number> covers(Function<Cover, Number> value) {
        Map<Tags, Number> values = new LinkedHashMap<>();
        for (Cover cover : views.covers()) {
            // the topic's partitions are fixed; a number beyond them would be a tag without a bound
            if (cover.partition() >= 0 && cover.partition() < Topic.TELEMETRY.partitions()) {
                values.put(Tags.of("partition", Integer.toString(cover.partition())), value.apply(cover));
            }
        }
        return values;
    }

    private static <N extends Number> void register(MultiGauge gauge, Map<Tags, N> values) {
        List<MultiGauge.Row<?>> rows = new ArrayList<>();
        values.forEach((tags, value) -> rows.add(MultiGauge.Row.of(tags, value)));
        gauge.register(rows, true);
    }

    private MultiGauge multi(Name name) {
        return MultiGauge.builder(name.meter).description(name.meaning).register(registry);
    }

    private void gauge(Name name, ToDoubleFunction<Views> value) {
        Gauge.builder(name.meter, views, value).description(name.meaning).register(registry);
    }

    private Counter counter(Name name, String tag, String value) {
        return counters.computeIfAbsent(
                name.meter + '/' + value,
                ignored -> Counter.builder(name.meter)
                        .description(name.meaning)
                        .tag(tag, value)
                        .register(registry));
    }
}

package dev.unhang.collector;

import dev.unhang.collector.publish.Backlog;
import dev.unhang.collector.publish.KafkaSettings;
import dev.unhang.collector.publish.Losses;
import dev.unhang.collector.publish.Publisher;
import dev.unhang.collector.publish.TelemetryTopic;
import dev.unhang.collector.sample.InventoryBook;
import dev.unhang.collector.sample.NodeIdentity;
import dev.unhang.collector.sample.Sampler;
import dev.unhang.collector.sample.SourceWorker;
import dev.unhang.collector.serve.Served;
import dev.unhang.collector.source.Source;
import dev.unhang.events.SlimSample;
import dev.unhang.events.Topic;
import dev.unhang.events.v1.CollectorStarted;
import dev.unhang.events.v1.CollectorStopped;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.settings.Kafka;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * One running collector: sources, sampler, backlog and publisher, put together. {@link Main} runs it as a daemon and the
 * lab inside its own process. Its owner starts and closes it once; it has threads of its own.
 */
public final class Collector implements Served, AutoCloseable {

    /** How long the goodbye may take. */
    private static final Duration GOODBYE = Duration.ofSeconds(3);

    /**
     * A source and how often it is read.
     *
     * @param pace the sample interval for counters; longer for what changes slowly, shorter for events
     */
    public record Paced(Source source, Duration pace) {}

    private final NodeIdentity identity;
    private final Duration interval;
    private final Losses losses = new Losses();
    private final Backlog backlog;
    private final Publisher publisher;
    private final InventoryBook inventory;
    private final Sampler sampler;
    private final LongSupplier nanos;
    private volatile NodeSample last = NodeSample.getDefaultInstance();
    private Map<String, String> nicNames = Map.of();

    /** {@code host} is the part of the inventory that no source tells. */
    public Collector(
            CollectorConfig config,
            NodeIdentity identity,
            NodeInventory host,
            List<Paced> sources,
            Clock wall,
            LongSupplier nanos) {
        this.identity = identity;
        interval = config.interval();
        this.nanos = nanos;
        backlog = new Backlog(config.backlog().records(), config.backlog().bytes(), losses);
        Kafka kafka = config.kafka();
        Map<String, Object> producer = KafkaSettings.producer(kafka, identity.node());
        publisher = new Publisher(
                new Publisher.Target(
                        Topic.TELEMETRY.name(kafka.topicPrefix()), identity.node(), kafka.bootstrapServers()),
                backlog,
                losses,
                TelemetryTopic.on(KafkaSettings.admin(kafka, identity.node()), kafka.topicPrefix()),
                () -> new KafkaProducer<>(producer, new StringSerializer(), new ByteArraySerializer()),
                nanos);
        inventory = new InventoryBook(describe(host, identity, config.labels()));
        sampler = new Sampler(identity, config.interval(), inventory, losses::all, new Outlet(), wall, nanos);
        for (Paced paced : sources) {
            sampler.add(new SourceWorker(paced.source(), paced.pace(), config.interval(), nanos, sampler::event));
        }
    }

    /** Says hello, then samples and publishes until it is closed. */
    public void start() {
        publisher.start();
        sampler.event(NodeEvent.newBuilder()
                .setStarted(CollectorStarted.newBuilder()
                        .setMachineId(identity.machineId())
                        .setVersion(identity.version()))
                .build());
        sampler.start();
    }

    /** Says goodbye, so that the node is unwatched and not silent, and waits until that is out, for 3 s at most. */
    public void close(String reason) {
        sampler.close();
        sampler.event(NodeEvent.newBuilder()
                .setStopped(CollectorStopped.newBuilder().setReason(reason))
                .build());
        publisher.close(GOODBYE);
    }

    @Override
    public void close() {
        close("the collector was closed");
    }

    public NodeIdentity identity() {
        return identity;
    }

    /** The last sample, whole as it was read; any thread. The default instance before the first. */
    @Override
    public NodeSample last() {
        return last;
    }

    /** The last inventory; any thread. */
    @Override
    public NodeInventory inventory() {
        return inventory.last();
    }

    @Override
    public Duration interval() {
        return interval;
    }

    @Override
    public List<SourceWorker.Health> health() {
        return sampler.health();
    }

    @Override
    public Backlog.Level backlog() {
        return backlog.level(nanos.getAsLong());
    }

    @Override
    public Losses losses() {
        return losses;
    }

    /** Records that the broker has acknowledged. */
    @Override
    public long sent() {
        return publisher.sent();
    }

    /** Age of the last sample, ms. */
    @Override
    public long lastAgeMs() {
        return (nanos.getAsLong() - last.getMonoNs()) / 1_000_000;
    }

    /** The inventory's part that is fixed for the life of this collector. */
    static NodeInventory describe(NodeInventory host, NodeIdentity identity, Map<String, String> labels) {
        return host.toBuilder()
                .setBootId(identity.bootId())
                .setCollectorStart(identity.collectorStart())
                .setMachineId(identity.machineId())
                .setCollectorVersion(identity.version())
                .putAllLabels(labels)
                .build();
    }

    /** Keeps the last sample for people and metrics, and hands the slim one to the publisher. */
    private final class Outlet implements Sampler.Sink {

        @Override
        public void sample(NodeSample whole, Instant wall, long monoNs) {
            last = whole;
            publisher.publish(SlimSample.slim(whole, nicNames), wall, monoNs);
        }

        @Override
        public void event(NodeEvent event, Instant wall, long monoNs) {
            publisher.publish(event, wall, monoNs);
        }

        @Override
        public void inventory(NodeInventory told, Instant wall, long monoNs) {
            Map<String, String> names = new HashMap<>();
            told.getNicsList().forEach(nic -> names.put(nic.getId(), nic.getName()));
            nicNames = names;
            publisher.publish(told, wall, monoNs);
        }
    }
}

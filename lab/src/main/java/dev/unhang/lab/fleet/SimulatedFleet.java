package dev.unhang.lab.fleet;

import com.google.protobuf.ByteString;
import dev.unhang.collector.Collector;
import dev.unhang.collector.CollectorConfig;
import dev.unhang.collector.sample.NodeIdentity;
import dev.unhang.collector.source.Source;
import dev.unhang.settings.BadSettingsException;
import dev.unhang.settings.Settings;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Some nodes that run one training job, each with the real collector over simulated sources: sampler, backlog and
 * publisher are those of production. Time is this machine's. Thread-safe.
 */
public final class SimulatedFleet implements AutoCloseable {

    private final String brokers;
    private final String prefix;
    private final long startedNs = System.nanoTime();
    private final SimulatedJob job;
    private final List<SimulatedNode> nodes = new ArrayList<>();
    private final Map<String, Collector> running = new java.util.TreeMap<>();
    private long starts = System.currentTimeMillis();

    /** @param heartbeats whether the ranks tell their steps */
    public SimulatedFleet(String brokers, String prefix, int nodes, int gpusPerNode, boolean heartbeats, long seed) {
        this.brokers = brokers;
        this.prefix = prefix;
        this.job = new SimulatedJob("train-sim", nodes * gpusPerNode, 0.8);
        for (int i = 0; i < nodes; i++) {
            this.nodes.add(new SimulatedNode("sim-" + i, i, gpusPerNode, job, heartbeats, seed));
        }
    }

    /** Starts all collectors. */
    public synchronized void start() throws BadSettingsException {
        for (SimulatedNode node : nodes) {
            running.put(node.name(), collector(node));
        }
    }

    public SimulatedJob job() {
        return job;
    }

    public SimulatedNode node(int index) {
        return nodes.get(index);
    }

    /** Seconds since the fleet was made: the time of its job. */
    public double now() {
        return (System.nanoTime() - startedNs) / 1e9;
    }

    /** Ends a node's collector with a goodbye and starts another, as an upgrade does. */
    public synchronized void upgrade(int index) throws BadSettingsException {
        SimulatedNode node = nodes.get(index);
        Collector old = running.remove(node.name());
        if (old != null) {
            old.close("upgrade");
        }
        running.put(node.name(), collector(node));
    }

    /** Records sent by all collectors that run now. */
    public synchronized long sent() {
        return running.values().stream().mapToLong(Collector::sent).sum();
    }

    @Override
    public synchronized void close() {
        running.values().parallelStream().forEach(collector -> collector.close("the simulation ended"));
        running.clear();
    }

    private Collector collector(SimulatedNode node) throws BadSettingsException {
        Settings settings = Settings.none(Map.of(
                "UNHANG_NODE", node.name(),
                "UNHANG_KAFKA_BOOTSTRAP_SERVERS", brokers,
                "UNHANG_KAFKA_TOPIC_PREFIX", prefix));
        CollectorConfig config = CollectorConfig.read(settings, node.name(), true);
        settings.finish();
        NodeIdentity identity =
                new NodeIdentity(node.name(), id(node.name(), 1), starts++, id(node.name(), 2), "simulated");
        Collector collector = new Collector(
                config,
                identity,
                node.inventory(),
                List.of(new Collector.Paced(new Simulated(node), config.interval())),
                Clock.systemUTC(),
                System::nanoTime);
        collector.start();
        return collector;
    }

    private static ByteString id(String node, int what) {
        return ByteString.copyFrom(
                ByteBuffer.allocate(16).putLong(node.hashCode()).putLong(what).array());
    }

    /** What all sources of a node would read together. */
    private final class Simulated implements Source {
        private final SimulatedNode node;

        Simulated(SimulatedNode node) {
            this.node = node;
        }

        @Override
        public String name() {
            return "simulated";
        }

        @Override
        public Duration deadline() {
            return Duration.ofSeconds(1);
        }

        @Override
        public Reading read() {
            return Reading.of(node.read(now()));
        }

        @Override
        public void close() {
            // Nothing is held.
        }
    }
}

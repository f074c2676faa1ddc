package dev.unhang.collector;

import com.google.protobuf.TextFormat;
import dev.unhang.collector.sample.InventoryBook;
import dev.unhang.collector.sample.NodeIdentity;
import dev.unhang.collector.sample.Sampler;
import dev.unhang.collector.sample.SourceWorker;
import dev.unhang.events.SlimSample;
import dev.unhang.events.v1.NicInventory;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** Reads every source a few times and shows the last sample and the inventory, for a person; sends nothing. */
final class OnePrint {

    /** The first read only finds the devices; rates and slow fields need some more. */
    private static final int READS = 3;

    private final NodeIdentity identity;
    private final NodeInventory host;
    private final CollectorConfig config;
    private final Sources sources;

    OnePrint(NodeIdentity identity, NodeInventory host, CollectorConfig config, Sources sources) {
        this.identity = identity;
        this.host = host;
        this.config = config;
        this.sources = sources;
    }

    String read(Clock wall, LongSupplier nanos) throws InterruptedException {
        CountDownLatch reads = new CountDownLatch(READS);
        Last last = new Last(reads);
        InventoryBook book = new InventoryBook(Collector.describe(host, identity, config.labels()));
        Sampler sampler = new Sampler(identity, config.interval(), book, List::of, last, wall, nanos);
        for (Collector.Paced paced : sources.all()) {
            sampler.add(new SourceWorker(paced.source(), paced.pace(), config.interval(), nanos, event -> {}));
        }
        sampler.start();
        try {
            var unused = reads.await(READS * config.interval().toMillis() + 10_000, TimeUnit.MILLISECONDS);
        } finally {
            sampler.close();
        }
        NodeSample sample = last.sample;
        Map<String, String> names = book.last().getNicsList().stream()
                .collect(Collectors.toMap(NicInventory::getId, NicInventory::getName, (one, same) -> one));
        return "# the sample: " + sample.getSerializedSize() + " bytes as read, "
                + SlimSample.slim(sample, names).getSerializedSize() + " as sent\n"
                + TextFormat.printer().printToString(sample) + "\n# the inventory\n"
                + TextFormat.printer().printToString(book.last());
    }

    private static final class Last implements Sampler.Sink {
        private final CountDownLatch reads;
        private volatile NodeSample sample = NodeSample.getDefaultInstance();

        Last(CountDownLatch reads) {
            this.reads = reads;
        }

        @Override
        public void sample(NodeSample whole, Instant at, long monoNs) {
            sample = whole;
            reads.countDown();
        }

        @Override
        public void event(NodeEvent event, Instant at, long monoNs) {}

        @Override
        public void inventory(NodeInventory told, Instant at, long monoNs) {}
    }
}

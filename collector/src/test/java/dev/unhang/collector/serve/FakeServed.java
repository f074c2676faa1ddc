package dev.unhang.collector.serve;

import dev.unhang.collector.publish.Backlog;
import dev.unhang.collector.publish.Losses;
import dev.unhang.collector.sample.SourceWorker;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.ReadStatus;
import java.time.Duration;
import java.util.List;

/** A collector that shows what a test wants. */
public final class FakeServed implements Served {

    volatile NodeSample sample = NodeSample.getDefaultInstance();
    volatile NodeInventory inventory = NodeInventory.getDefaultInstance();
    volatile long ageMs;
    final Losses losses = new Losses();
    volatile List<SourceWorker.Health> health =
            List.of(new SourceWorker.Health("nvml", ReadStatus.READ_STATUS_STUCK, "", 12, 0));

    @Override
    public NodeSample last() {
        return sample;
    }

    @Override
    public long lastAgeMs() {
        return ageMs;
    }

    @Override
    public NodeInventory inventory() {
        return inventory;
    }

    @Override
    public Duration interval() {
        return Duration.ofSeconds(1);
    }

    @Override
    public List<SourceWorker.Health> health() {
        return health;
    }

    @Override
    public Backlog.Level backlog() {
        return new Backlog.Level(3, 4096, 2500);
    }

    @Override
    public Losses losses() {
        return losses;
    }

    @Override
    public long sent() {
        return 17;
    }
}

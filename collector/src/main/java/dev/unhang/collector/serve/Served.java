package dev.unhang.collector.serve;

import dev.unhang.collector.publish.Backlog;
import dev.unhang.collector.publish.Losses;
import dev.unhang.collector.sample.SourceWorker;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import java.time.Duration;
import java.util.List;

/** What is shown of a running collector. All of it may be asked from any thread. */
public interface Served {

    /** The last sample, whole. */
    NodeSample last();

    /** Age of the last sample, ms. */
    long lastAgeMs();

    /** The last inventory. */
    NodeInventory inventory();

    /** Planned time between samples. */
    Duration interval();

    List<SourceWorker.Health> health();

    Backlog.Level backlog();

    Losses losses();

    /** Records that the broker has acknowledged. */
    long sent();
}

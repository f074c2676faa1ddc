package dev.unhang.collector.serve;

import java.time.Duration;

/** Lets go of the GPUs for a while, so that somebody can reset one. Any thread; may wait some seconds. */
public interface GpuLease {

    /**
     * How a command ended.
     *
     * @param done whether the GPUs are as they were asked to be
     * @param detail a sentence for people
     */
    record Outcome(boolean done, String detail) {}

    Outcome release(Duration lease);

    Outcome giveBack();

    /** For a collector that reads no GPUs. */
    static GpuLease none() {
        return new GpuLease() {
            @Override
            public Outcome release(Duration lease) {
                return new Outcome(true, "this collector reads no GPUs, so it holds none");
            }

            @Override
            public Outcome giveBack() {
                return new Outcome(true, "this collector reads no GPUs");
            }
        };
    }
}

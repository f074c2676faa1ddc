package dev.unhang.collector.sample;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** One reading of all sources: begun together, and merged when all that were asked have answered, or at a deadline. */
final class Round {

    private final CountDownLatch answers;

    Round(int asked) {
        answers = new CountDownLatch(asked);
    }

    void answered() {
        answers.countDown();
    }

    /** True when all have answered. */
    boolean await(long ns) throws InterruptedException {
        return answers.await(ns, TimeUnit.NANOSECONDS);
    }
}

package dev.unhang.collector.publish;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;

/** Tells of a broker that does not take our records: at once, then once a minute, then that it is over. */
final class Trouble {

    private static final long AGAIN_NS = TimeUnit.MINUTES.toNanos(1);

    private final Logger log;
    private final String brokers;
    private final Supplier<Backlog.Level> backlog;
    private boolean now;
    private long sinceNs;
    private long toldNs;

    Trouble(Logger log, String brokers, Supplier<Backlog.Level> backlog) {
        this.log = log;
        this.brokers = brokers;
        this.backlog = backlog;
    }

    /** Something failed. True when it was said aloud and not only at DEBUG. */
    synchronized boolean tell(String cause, long nowNs) {
        boolean aloud = !now || nowNs - toldNs >= AGAIN_NS;
        if (!now) {
            now = true;
            sinceNs = nowNs;
        }
        if (!aloud) {
            log.debug("cannot publish to {}: {}", brokers, cause);
            return false;
        }
        toldNs = nowNs;
        Backlog.Level level = backlog.get();
        long seconds = TimeUnit.NANOSECONDS.toSeconds(nowNs - sinceNs);
        log.atWarn()
                .addKeyValue("waiting", level.records())
                .addKeyValue("bytes", level.bytes())
                .addKeyValue("oldest-seconds", level.oldestMs() / 1000)
                .log("cannot publish to {}{}: {}", brokers, seconds == 0 ? "" : " for " + seconds + " s", cause);
        return true;
    }

    /** A record was acknowledged. */
    synchronized void over(long nowNs) {
        if (now) {
            now = false;
            log.info("publishing to {} again after {} s", brokers, TimeUnit.NANOSECONDS.toSeconds(nowNs - sinceNs));
        }
    }

    synchronized boolean now() {
        return now;
    }
}

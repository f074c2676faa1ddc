package dev.unhang.collector.source.nvml;

import dev.unhang.collector.source.Source;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.ReadStatus;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The GPUs of this machine, through NVML. No driver is no error: the source is then ABSENT, and looks again at a slow
 * pace. All native calls run on workers (one for the library, one for each GPU), so {@link #read} ends within its
 * deadline whatever the driver does. {@link #release} and {@link #giveBack} may be called from any thread.
 */
public final class NvmlSource implements Source {

    static final String NAME = "nvml";

    private static final Logger log = LoggerFactory.getLogger(NvmlSource.class);
    /** How long {@link #release} waits for calls that are out. */
    private static final Duration RELEASE_WAIT = Duration.ofSeconds(3);

    /**
     * How a release ended.
     *
     * @param closed NVML is closed, all references of ours to the GPUs are gone
     * @param detail a sentence for people
     */
    public record Release(boolean closed, String detail) {}

    private final NvmlConfig config;
    private final NvmlHost host;
    private final LongSupplier nanoTime;
    private final KnownGpus known = new KnownGpus();
    private final ReentrantLock lock = new ReentrantLock();
    private final Lane<Session.Opened> libraryLane;

    private @Nullable Session session;
    private Session.Opened last = Session.Opened.not(ReadStatus.READ_STATUS_ABSENT, 0, "not looked for yet");
    private Session.@Nullable Opened logged;
    private Pace retry;
    private boolean leased;
    private boolean stopped;
    private long leaseEndsNs;
    private NodeInventory told = NodeInventory.getDefaultInstance();

    public NvmlSource(NvmlConfig config, NvmlHost host, LongSupplier nanoTime) {
        this.config = config;
        this.host = host;
        this.nanoTime = nanoTime;
        this.libraryLane = new Lane<>("nvml", nanoTime);
        this.retry = new Pace(nanoTime, config.retry());
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Duration deadline() {
        return config.deadline().multipliedBy(2).plus(RELEASE_WAIT).plusSeconds(1);
    }

    @Override
    public Reading read() {
        lock.lock();
        try {
            if (leased && nanoTime.getAsLong() - leaseEndsNs >= 0) {
                log.info("the lease on the GPUs has ended; NVML is opened again");
                endLease();
            }
            settle(0);
            if (leased) {
                closeSession(0);
                return released();
            }
            if (session == null && !stopped && !libraryLane.busy() && retry.due()) {
                libraryLane.start(() -> Session.open(config.library(), host, known, nanoTime));
                settle(config.deadline().toNanos());
            }
            Session open = session;
            return open == null ? unavailable() : read(open);
        } finally {
            lock.unlock();
        }
    }

    private Reading read(Session open) {
        NodeSample part = open.read(config.deadline().toNanos());
        NodeInventory inventory = open.inventory();
        int dead = open.sessionError();
        if (dead != 0) {
            last = Session.Opened.not(NvmlCode.status(dead), dead, NvmlCode.explain(dead));
            closeSession(config.deadline().toNanos());
            retry.postpone();
        }
        boolean news = !inventory.equals(told);
        told = inventory;
        return new Reading(part, news ? inventory : null, List.of());
    }

    /** Takes the answer of the library's worker, if it is there by then. */
    private void settle(long waitNs) {
        Session.@Nullable Opened answer = libraryLane.await(waitNs);
        if (answer == null) {
            return;
        }
        session = answer.session();
        if (answer.status() != ReadStatus.READ_STATUS_RELEASED) {
            last = answer;
            tell(answer);
        }
    }

    /** Once for each state: a machine without GPUs says so once, and not each half minute. */
    private void tell(Session.Opened answer) {
        Session.@Nullable Opened before = logged;
        logged = answer;
        Session opened = answer.session();
        if (opened != null) {
            log.atInfo()
                    .addKeyValue("gpus", opened.gpus())
                    .addKeyValue("driver", answer.detail())
                    .log("NVML is open");
        } else if (before == null || before.status() != answer.status() || before.code() != answer.code()) {
            boolean absent = answer.status() == ReadStatus.READ_STATUS_ABSENT;
            log.atLevel(absent ? Level.INFO : Level.WARN)
                    .log(
                            "no GPUs are read: {}; tried again each {} s",
                            answer.detail(),
                            config.retry().toSeconds());
        }
    }

    private Reading unavailable() {
        NodeSample.Builder part = NodeSample.newBuilder();
        if (libraryLane.busy()) {
            part.addSources(Session.fault(ReadStatus.READ_STATUS_STUCK, "the NVIDIA driver does not answer").toBuilder()
                    .setSinceMs(libraryLane.outForMs()));
            known.all().forEach(gpu -> part.addGpus(Session.only(gpu, ReadStatus.READ_STATUS_STUCK, 0)));
        } else {
            part.addSources(Session.fault(last.status(), last.detail()));
            known.all().forEach(gpu -> part.addGpus(Session.only(gpu, last.status(), last.code())));
        }
        return Reading.of(part.build());
    }

    private Reading released() {
        NodeSample.Builder part = NodeSample.newBuilder();
        long seconds = TimeUnit.NANOSECONDS.toSeconds(leaseEndsNs - nanoTime.getAsLong());
        part.addSources(
                Session.fault(ReadStatus.READ_STATUS_RELEASED, "released on request for " + seconds + " s more"));
        Session stillOpen = session;
        if (stillOpen != null) {
            part.addAllSources(stillOpen.stuckNow());
        }
        for (KnownGpus.Gpu gpu : known.all()) {
            boolean stuck = stillOpen != null && stillOpen.isOut(gpu);
            part.addGpus(Session.only(gpu, stuck ? ReadStatus.READ_STATUS_STUCK : ReadStatus.READ_STATUS_RELEASED, 0));
        }
        return Reading.of(part.build());
    }

    /**
     * Lets the GPUs go: NVML is closed whole, so that a GPU can be reset, and opened again when the lease ends or is given
     * back. Where a call is out NVML cannot be closed yet; it is as soon as the call is back, and a second release tells.
     * A release during a lease sets a new end.
     */
    public Release release(Duration lease) {
        if (lease.isNegative() || lease.isZero()) {
            throw new IllegalArgumentException("a lease must be longer than nothing: " + lease);
        }
        lock.lock();
        try {
            leased = true;
            leaseEndsNs = nanoTime.getAsLong() + lease.toNanos();
            settle(RELEASE_WAIT.toNanos());
            closeSession(RELEASE_WAIT.toNanos());
            Session stillOpen = session;
            if (stillOpen != null) {
                String who = stillOpen.stuckNow().stream()
                        .findFirst()
                        .map(fault -> fault.getDetail() + " for " + fault.getSinceMs() / 1000 + " s")
                        .orElse("a GPU answered only just now");
                return new Release(false, "NVML is still open: " + who);
            }
            if (libraryLane.busy()) {
                return new Release(false, "NVML is still open: the NVIDIA driver does not answer");
            }
            log.info("the GPUs are released for {} s", lease.toSeconds());
            return new Release(true, "NVML is closed for " + lease.toSeconds() + " s");
        } finally {
            lock.unlock();
        }
    }

    /** Ends a lease early; the next read opens NVML again. Harmless where there is none. */
    public void giveBack() {
        lock.lock();
        try {
            if (leased) {
                endLease();
            }
        } finally {
            lock.unlock();
        }
    }

    private void endLease() {
        leased = false;
        retry = new Pace(nanoTime, config.retry());
    }

    /** Shuts NVML down if no call into a GPU is out by then. */
    private void closeSession(long waitNs) {
        Session open = session;
        if (open == null || !open.idle(waitNs)) {
            return;
        }
        session = null;
        libraryLane.start(() -> {
            open.shutdown();
            return Session.Opened.not(ReadStatus.READ_STATUS_RELEASED, 0, "closed");
        });
        settle(Math.max(waitNs, config.deadline().toNanos()));
    }

    /** Closes NVML unless a call is out: then it stays as it is, and the workers are daemons. */
    @Override
    public void close() {
        lock.lock();
        try {
            stopped = true;
            settle(config.deadline().toNanos());
            closeSession(config.deadline().toNanos());
            libraryLane.close();
        } finally {
            lock.unlock();
        }
    }
}

package dev.unhang.healer;

import dev.unhang.healer.intake.Intake;
import dev.unhang.healer.intake.IntakeMetrics;
import java.time.Clock;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * A running healer without its HTTP: judges the telemetry partitions that it owns, and decides when its turn comes.
 * {@link #start} returns at once, also while no broker answers. Any thread may call.
 */
public final class Daemon implements AutoCloseable {

    private final Intake intake;

    private Daemon(Intake intake) {
        this.intake = intake;
    }

    /** Starts with what Main gives: the wall clock and a monotonic clock of nanoseconds. */
    public static Daemon start(HealerConfig config, IntakeMetrics metrics, Clock clock, LongSupplier nanos) {
        return new Daemon(Intake.start(
                config.brokers(),
                config.id(),
                config.judges(),
                config.decides(),
                config.orders(),
                metrics,
                clock,
                nanos));
    }

    /** Why this healer does not work, or empty: for {@code /readyz} and people. */
    public Optional<String> trouble() {
        return intake.trouble();
    }

    /** Waits until it is closed (true), or a broken promise of ours has ended it (false): then the process must end. */
    public boolean awaitEnd() throws InterruptedException {
        return intake.awaitEnd();
    }

    @Override
    public void close() {
        intake.close();
    }
}

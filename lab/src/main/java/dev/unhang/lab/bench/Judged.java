package dev.unhang.lab.bench;

import com.google.protobuf.Message;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.OperState;
import dev.unhang.healer.intake.IntakeMetrics;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Listens to the healer's poll loop: when each sample was taken, and when it had been judged. Collectors and healer share
 * the machine, so both are times of one wall clock. Thread-safe.
 */
final class Judged implements IntakeMetrics {

    private final Clock clock;
    private final Map<String, Long> firstDownNs = new HashMap<>();
    private double[] latenciesMs = new double[1024];
    private int count;
    private boolean measuring;

    Judged(Clock clock) {
        this.clock = clock;
    }

    @Override
    public synchronized void judged(String node, Message message, Duration sinceStamp) {
        if (!(message instanceof NodeSample sample)) {
            return;
        }
        long nowNs = wallNs(clock);
        if (sample.getNicsList().stream().anyMatch(Judged::down)) {
            firstDownNs.putIfAbsent(node, sample.getWallNs());
        }
        if (!measuring) {
            return;
        }
        if (count == latenciesMs.length) {
            latenciesMs = Arrays.copyOf(latenciesMs, 2 * count);
        }
        latenciesMs[count++] = (nowNs - sample.getWallNs()) / 1e6;
    }

    /** What was judged before is not counted: classes were loaded, topics made and partitions handed out. */
    synchronized void measure() {
        measuring = true;
    }

    /** From taken to judged, ms, of each sample since {@link #measure}. */
    synchronized double[] latenciesMs() {
        measuring = false;
        return Arrays.copyOf(latenciesMs, count);
    }

    /** When the first sample of a node was taken in which a NIC is down, wall ns; empty while none was judged. */
    synchronized OptionalLong firstDownNs(String node) {
        Long at = firstDownNs.get(node);
        return at == null ? OptionalLong.empty() : OptionalLong.of(at);
    }

    static long wallNs(Clock clock) {
        Instant now = clock.instant();
        return now.getEpochSecond() * 1_000_000_000 + now.getNano();
    }

    private static boolean down(NicReading nic) {
        return nic.getState() == OperState.OPER_STATE_DOWN;
    }
}

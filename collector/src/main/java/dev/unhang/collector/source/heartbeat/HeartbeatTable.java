package dev.unhang.collector.source.heartbeat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The last heartbeat of each process: the socket's thread writes, the process source reads and forgets those that have
 * ended. Holds a fixed number of senders at most; a new one then takes the place of the one silent for longest, if that
 * is silent for a minute. Safe for use by several threads.
 */
public final class HeartbeatTable {

    /** Far more than there are ranks on any node. */
    static final int MOST_SENDERS = 1024;

    private static final long SILENT_NS = 60_000_000_000L;

    // Loopback keeps the order but for what two threads of a sender do at once.
    private static final long REORDERED = 16;

    private final Map<Beat.Sender, Beat> beats = new HashMap<>();

    /** False where there is no room. */
    synchronized boolean accept(Beat beat) {
        Beat before = beats.get(beat.sender());
        if (before == null) {
            if (beats.size() >= MOST_SENDERS && !makeRoom(beat.receivedNs())) {
                return false;
            }
            beats.put(beat.sender(), beat);
            return true;
        }
        if (beat.seq() <= before.seq() && before.seq() - beat.seq() < REORDERED && beat.seq() != 1) {
            return true;
        }
        boolean moved = beat.phase() != before.phase() || !Objects.equals(beat.step(), before.step());
        beats.put(
                beat.sender(),
                new Beat(
                        beat.sender(),
                        beat.job(),
                        beat.rank(),
                        beat.world(),
                        beat.phase(),
                        beat.step(),
                        beat.seq(),
                        beat.announces(),
                        moved ? beat.receivedNs() : before.progressNs(),
                        beat.receivedNs()));
        return true;
    }

    public synchronized List<Beat> beats() {
        return new ArrayList<>(beats.values());
    }

    /** The process has ended. */
    public synchronized void forget(Beat.Sender sender) {
        beats.remove(sender);
    }

    private boolean makeRoom(long nowNs) {
        Beat silent = null;
        for (Beat each : beats.values()) {
            if (silent == null || each.receivedNs() < silent.receivedNs()) {
                silent = each;
            }
        }
        if (silent == null || nowNs - silent.receivedNs() < SILENT_NS) {
            return false;
        }
        beats.remove(silent.sender());
        return true;
    }
}

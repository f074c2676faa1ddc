package dev.unhang.healer.detect.node;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.Severity;
import dev.unhang.events.v1.Standing;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who speaks for a node, and in what order. The newest collector start is listened to; a sample that is not newer by its
 * sequence number is a double or late and is ignored. An earlier start that goes on speaking is a second collector under
 * the same name: its samples are ignored, and it is reported when it runs on another machine.
 */
final class Speakers {

    enum Order {
        /** The next sample of the start that we listen to. */
        NEXT,
        /** The first sample of a new start on the same boot: counters are compared anew. */
        RESTARTED,
        /** The first sample of a boot: nothing that was learned of its processes holds. */
        REBOOTED,
        /** A double, a late one, or one of a second collector. */
        IGNORED
    }

    /** For how long after its last sample a second collector counts as alive, ms of log time. */
    static final long ALIVE_MS = 10_000;

    private static final int REMEMBERED = 4;

    private static final class Speaker {
        final ByteString boot;
        final long start;
        long seq;
        ByteString machine = ByteString.EMPTY;

        /** When it last spoke although a newer one had begun; -1: never. */
        long againLogMs = -1;

        Speaker(ByteString boot, long start) {
            this.boot = boot;
            this.start = start;
        }

        boolean is(ByteString otherBoot, long otherStart) {
            return start == otherStart && boot.equals(otherBoot);
        }
    }

    private @Nullable Speaker current;
    private final Deque<Speaker> earlier = new ArrayDeque<>();

    Order sample(ByteString boot, long start, long seq, long logMs) {
        Speaker now = current;
        if (now != null && now.is(boot, start)) {
            if (seq <= now.seq) {
                return Order.IGNORED;
            }
            now.seq = seq;
            return Order.NEXT;
        }
        for (Speaker old : earlier) {
            if (old.is(boot, start)) {
                if (seq > old.seq) {
                    old.seq = seq;
                    old.againLogMs = logMs;
                }
                return Order.IGNORED;
            }
        }
        Speaker next = new Speaker(boot, start);
        next.seq = seq;
        if (now != null) {
            earlier.addFirst(now);
            if (earlier.size() > REMEMBERED) {
                earlier.removeLast();
            }
        }
        current = next;
        return now != null && now.boot.equals(boot) ? Order.RESTARTED : Order.REBOOTED;
    }

    /** Remembers on which machine a start runs. */
    void machine(ByteString boot, long start, ByteString machine) {
        if (machine.isEmpty()) {
            return;
        }
        Speaker now = current;
        if (now != null && now.is(boot, start)) {
            now.machine = machine;
            return;
        }
        for (Speaker old : earlier) {
            if (old.is(boot, start)) {
                old.machine = machine;
                return;
            }
        }
    }

    /** The machine of the start that we listen to; empty while it is not known. */
    ByteString machine() {
        Speaker now = current;
        return now == null ? ByteString.EMPTY : now.machine;
    }

    boolean several() {
        return !earlier.isEmpty();
    }

    /** Two machines speak under one name, or no longer do. */
    Verdict judge(String node, Now now) {
        ByteString ours = machine();
        for (Speaker old : earlier) {
            boolean alive = old.againLogMs >= 0 && now.logMs() - old.againLogMs <= ALIVE_MS;
            if (alive && !ours.isEmpty() && !old.machine.isEmpty() && !old.machine.equals(ours)) {
                return new Verdict(
                        IncidentKind.DUPLICATE_NODE,
                        "node:" + node,
                        Standing.CONFIRMED,
                        Severity.WARNING,
                        0,
                        Hex.of(old.machine, 4),
                        List.of(),
                        List.of("two machines report as node " + node + ": machine ids " + Hex.of(ours, 4) + " and "
                                + Hex.of(old.machine, 4) + "; give one of them another `node:`"),
                        Map.of());
            }
        }
        return Verdict.well(IncidentKind.DUPLICATE_NODE, "node:" + node, "one collector reports as this node");
    }
}

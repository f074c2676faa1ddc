package dev.unhang.collector.source.heartbeat;

import dev.unhang.events.v1.Loss;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Takes datagrams into the table, within limits of rate for each socket that sends, for each process that they name, and
 * for all. The socket's comes first, so that a flood of anything from one socket leaves the room of all to the others. What is refused is counted, and
 * nothing that a sender does can make it throw or grow. Safe for use by several threads.
 */
final class HeartbeatIntake {

    // A sender means one a second, and one more at each change of phase.
    private static final double EACH_PER_SECOND = 20;
    private static final int EACH_BURST = 40;
    // One socket may speak for all ranks of a node.
    private static final double SOCKET_PER_SECOND = 200;
    private static final int SOCKET_BURST = 400;
    private static final double ALL_PER_SECOND = 2000;
    private static final int ALL_BURST = 4000;

    private final HeartbeatTable table;
    private final TokenBucket all;
    private final Map<SocketAddress, TokenBucket> sockets = new Recent<>();
    private final Map<Beat.Sender, TokenBucket> each = new Recent<>();
    private long garbage;
    private long tooMany;

    HeartbeatIntake(HeartbeatTable table, long nowNs) {
        this.table = table;
        this.all = new TokenBucket(ALL_PER_SECOND, ALL_BURST, nowNs);
    }

    /** {@code from}: the socket that sent it. */
    synchronized void accept(SocketAddress from, byte[] bytes, int length, long nowNs) {
        TokenBucket socket =
                sockets.computeIfAbsent(from, sender -> new TokenBucket(SOCKET_PER_SECOND, SOCKET_BURST, nowNs));
        if (!socket.take(nowNs) || !all.take(nowNs)) {
            tooMany++;
            return;
        }
        Beat beat = Datagram.parse(bytes, length, nowNs);
        if (beat == null) {
            garbage++;
            return;
        }
        TokenBucket bucket =
                each.computeIfAbsent(beat.sender(), sender -> new TokenBucket(EACH_PER_SECOND, EACH_BURST, nowNs));
        if (!bucket.take(nowNs) || !table.accept(beat)) {
            tooMany++;
        }
    }

    /** Cumulative; only what is not zero. */
    synchronized List<Loss> losses() {
        List<Loss> losses = new ArrayList<>();
        if (garbage > 0) {
            losses.add(Loss.newBuilder()
                    .setKind("heartbeat-garbage")
                    .setCount(garbage)
                    .build());
        }
        if (tooMany > 0) {
            losses.add(Loss.newBuilder()
                    .setKind("heartbeat-rate")
                    .setCount(tooMany)
                    .build());
        }
        return losses;
    }

    /** Forgets whoever was silent for longest when there are too many. */
    private static final class Recent<K> extends LinkedHashMap<K, TokenBucket> {
        private static final long serialVersionUID = 1L;

        Recent() {
            super(16, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<K, TokenBucket> eldest) {
            return size() > HeartbeatTable.MOST_SENDERS;
        }
    }
}

package dev.unhang.collector.source.heartbeat;

import dev.unhang.events.v1.Loss;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Takes datagrams into the table, within limits of rate for each sender and for all. What is refused is counted, and
 * nothing that a sender does can make it throw or grow. Safe for use by several threads.
 */
final class HeartbeatIntake {

    // A sender means one a second, and one more at each change of phase.
    private static final double EACH_PER_SECOND = 20;
    private static final int EACH_BURST = 40;
    private static final double ALL_PER_SECOND = 2000;
    private static final int ALL_BURST = 4000;

    private final HeartbeatTable table;
    private final TokenBucket all;
    private final Map<Beat.Sender, TokenBucket> each = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Beat.Sender, TokenBucket> eldest) {
            return size() > HeartbeatTable.MOST_SENDERS;
        }
    };
    private long garbage;
    private long tooMany;

    HeartbeatIntake(HeartbeatTable table, long nowNs) {
        this.table = table;
        this.all = new TokenBucket(ALL_PER_SECOND, ALL_BURST, nowNs);
    }

    synchronized void accept(byte[] bytes, int length, long nowNs) {
        if (!all.take(nowNs)) {
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
}

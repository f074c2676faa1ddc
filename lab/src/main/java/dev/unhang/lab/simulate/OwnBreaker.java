package dev.unhang.lab.simulate;

import dev.unhang.events.v1.BreakerCall;
import dev.unhang.events.v1.BreakerCallKind;
import dev.unhang.events.v1.BreakerState;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * When a breaker is open, by the rules' own count: in the fleet when half of the last ten and at least four have failed,
 * for 30 minutes of log time; on a node when the last two have, for six hours. Confined to one thread.
 */
final class OwnBreaker {

    private final boolean ofNode;
    private final Deque<Boolean> failed = new ArrayDeque<>();
    private BreakerState known = BreakerState.getDefaultInstance();
    private long openUntilMs = Long.MIN_VALUE;

    OwnBreaker(String name) {
        ofNode = name.indexOf('@') >= 0;
    }

    /** Reads the calls that are new in the list. */
    void take(BreakerState next) {
        int shared = Math.min(known.getCallsCount(), next.getCallsCount());
        int from = next.getCallsCount() > known.getCallsCount() ? shared : next.getCallsCount() - 1;
        for (BreakerCall call : next.getCallsList().subList(Math.max(0, from), next.getCallsCount())) {
            if (call.getKind() == BreakerCallKind.BREAKER_ACQUIRED) {
                continue;
            }
            if (call.getLogTimeMs() < openUntilMs) {
                continue;
            }
            failed.addLast(call.getKind() == BreakerCallKind.BREAKER_ERROR);
            int window = ofNode ? 2 : 10;
            while (failed.size() > window) {
                failed.removeFirst();
            }
            long errors = failed.stream().filter(each -> each).count();
            int least = ofNode ? 2 : 4;
            if (failed.size() >= least && errors * 100 >= (ofNode ? 100L : 50L) * failed.size()) {
                openUntilMs = call.getLogTimeMs() + (ofNode ? 6 * 3_600_000L : 30 * 60_000L);
                failed.clear();
            }
        }
        known = next;
    }

    boolean open(long logMs) {
        return logMs < openUntilMs;
    }
}

package dev.unhang.healer.detect.node;

import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.Severity;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.Watch;
import java.util.List;
import java.util.Map;

/**
 * Whether a node still speaks, by log time. Any record of its collector proves that the collector lives, however old the
 * record is. A goodbye makes the node unwatched for ten minutes, and only then silent.
 *
 * <p>After the log itself stood still (no record for a while, not even a pulse: broker away, partition without an owner)
 * the pulses may be back before the collectors are, which still have their connections to make and a backlog to send. So
 * a node that has not spoken since then gets a longer limit, counted from the moment the log went on.
 */
final class Silence {

    /** Suspected after so long, ms of log time. Ten samples at 1 Hz. */
    static final long SUSPECT_MS = 10_000;

    /** Confirmed after so long. */
    static final long CONFIRM_MS = 12_000;

    /** What a node gets on top, once, after the log stood still: a client's request timeout is 30 s. */
    static final long AFTER_STANDSTILL_MS = 35_000;

    /** For how long a goodbye holds. */
    static final long GOODBYE_MS = 600_000;

    /** No such moment. Log time may be negative for what an owner before has seen. */
    static final long NEVER = Long.MIN_VALUE;

    private long heardLogMs;
    private long goodbyeLogMs = NEVER;

    Silence(long logMs) {
        heardLogMs = logMs;
    }

    void heard(long logMs) {
        heardLogMs = Math.max(heardLogMs, logMs);
        goodbyeLogMs = NEVER;
    }

    void goodbye(long logMs) {
        heardLogMs = Math.max(heardLogMs, logMs);
        goodbyeLogMs = logMs;
    }

    /** Goes on where another owner stood. May set what was heard into the past. */
    void restore(long heard, long goodbye) {
        heardLogMs = heard;
        goodbyeLogMs = goodbye;
    }

    long silentMs(long logMs) {
        return logMs - heardLogMs;
    }

    /** Since the goodbye, ms; -1 without one. */
    long unwatchedMs(long logMs) {
        return goodbyeLogMs == NEVER ? -1 : logMs - goodbyeLogMs;
    }

    /** Since when the limit runs; {@code resumedLogMs}: when the log last went on after it stood still, or {@link #NEVER}. */
    private long overdueMs(long logMs, long resumedLogMs) {
        long since = goodbyeLogMs != NEVER ? goodbyeLogMs + GOODBYE_MS : heardLogMs;
        if (resumedLogMs >= since) {
            since = resumedLogMs + AFTER_STANDSTILL_MS;
        }
        return logMs - since;
    }

    Watch watch(long logMs, long resumedLogMs) {
        if (overdueMs(logMs, resumedLogMs) >= SUSPECT_MS) {
            return Watch.WATCH_SILENT;
        }
        return goodbyeLogMs != NEVER ? Watch.WATCH_UNWATCHED : Watch.WATCH_WATCHED;
    }

    Verdict judge(String node, Now now, long resumedLogMs) {
        String subject = "node:" + node;
        if (watch(now.logMs(), resumedLogMs) != Watch.WATCH_SILENT) {
            return Verdict.well(IncidentKind.NODE_SILENT, subject, "node " + node + " reports");
        }
        boolean confirmed = overdueMs(now.logMs(), resumedLogMs) >= CONFIRM_MS;
        long silent = silentMs(now.logMs());
        String sentence = "no record of node " + node + " for " + silent / 1000 + " s, while the log goes on";
        return new Verdict(
                IncidentKind.NODE_SILENT,
                subject,
                confirmed ? Standing.CONFIRMED : Standing.SUSPECTED,
                Severity.WARNING,
                silent,
                "",
                List.of(),
                goodbyeLogMs == NEVER
                        ? List.of(sentence)
                        : List.of(sentence, "its collector said goodbye and did not come back within ten minutes"),
                Map.of("silent_seconds", silent / 1000.0));
    }
}

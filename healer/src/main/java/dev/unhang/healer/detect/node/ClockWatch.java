package dev.unhang.healer.detect.node;

import dev.unhang.events.v1.ClockReading;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.ReadStatus;
import dev.unhang.events.v1.Severity;
import dev.unhang.events.v1.Standing;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Compares a node's clock with what chrony knows. An offset beyond the limit for three samples is confirmed and five good
 * samples end it. A clock that lost its source, or whose error bound grew beyond the limit, is suspected: it may still be
 * right. One that never had a source since the boot is a note and no finding, since many a test machine has none.
 */
final class ClockWatch {

    /** Beyond it, stops on different nodes cannot be put in order. */
    static final long LIMIT_NS = 100_000_000;

    /** Back below it counts as good. */
    static final long GOOD_NS = 80_000_000;

    static final int TO_CONFIRM = 3;
    static final int TO_CLEAR = 5;

    /** chrony updates at least each 1,024 s; four missed updates. */
    private static final long STALE_S = 4_096;

    private int wrong;
    private int unsure;
    private int good;
    private long sinceNodeMs;
    private boolean confirmed;
    private boolean stands;
    private boolean onceSynchronised;
    private boolean read;
    private long offsetNs;
    private long boundNs;
    private String doubt = "";

    void onSample(ClockReading clock, boolean present, Now now) {
        read = present && clock.getStatus() == ReadStatus.READ_STATUS_OK && clock.hasOffsetNs();
        if (!read) {
            return;
        }
        offsetNs = clock.getOffsetNs();
        boundNs = Math.abs(offsetNs) + clock.getRootDispersionNs() + clock.getRootDelayNs() / 2;
        doubt = doubt(clock);
        if (!now.fresh()) {
            return;
        }
        onceSynchronised |= doubt.isEmpty();
        boolean off = Math.abs(offsetNs) > LIMIT_NS && doubtAllowsOffset(clock);
        boolean vague = boundNs > LIMIT_NS || !doubt.isEmpty();
        if ((off || vague) && wrong == 0 && unsure == 0) {
            sinceNodeMs = now.nodeMs();
        }
        wrong = off ? wrong + 1 : 0;
        unsure = vague ? unsure + 1 : 0;
        good = Math.abs(offsetNs) < GOOD_NS && !vague ? good + 1 : 0;
    }

    /** Without a source chrony's offset is that of its own guess and says nothing. */
    private static boolean doubtAllowsOffset(ClockReading clock) {
        return clock.getLeap() != 3 && !clock.getLocalReference();
    }

    private static String doubt(ClockReading clock) {
        if (clock.getLeap() == 3 || (clock.hasStratum() && (clock.getStratum() == 0 || clock.getStratum() >= 16))) {
            return "chrony is not synchronised";
        }
        if (clock.getLocalReference()) {
            return "chrony follows its own clock only (7F7F0101)";
        }
        if (clock.getReferenceAgeS() > STALE_S) {
            return "chrony's last update is " + clock.getReferenceAgeS() + " s old";
        }
        return "";
    }

    boolean known() {
        return read;
    }

    long offsetNs() {
        return offsetNs;
    }

    long boundNs() {
        return boundNs;
    }

    /** For the report: what is doubtful and yet no finding. */
    void notes(List<String> notes) {
        if (read && !doubt.isEmpty()) {
            notes.add("clock: " + doubt);
        }
    }

    boolean mayBeSaid() {
        return stands || wrong > 0 || unsure > 0;
    }

    Verdict judge(String node, Now now) {
        String subject = "node:" + node;
        confirmed |= wrong >= TO_CONFIRM;
        boolean suspected = wrong > 0 || (unsure >= TO_CONFIRM && onceSynchronised);
        if (!suspected && wrong == 0 && (!stands || good >= TO_CLEAR)) {
            confirmed = false;
            stands = false;
            return Verdict.well(IncidentKind.CLOCK_OFFSET, subject, "clock of " + node + " is within 100 ms again");
        }
        stands = true;
        double seconds = offsetNs / 1e9;
        List<String> evidence = new ArrayList<>();
        if (wrong > 0 || Math.abs(offsetNs) >= GOOD_NS) {
            evidence.add(String.format(
                    Locale.ROOT,
                    "clock of %s is %.3f s %s of its time source (chrony), limit 0.1 s",
                    node,
                    Math.abs(seconds),
                    offsetNs > 0 ? "ahead" : "behind"));
        }
        if (boundNs > LIMIT_NS) {
            evidence.add(String.format(Locale.ROOT, "its error may be up to %.3f s", boundNs / 1e9));
        }
        if (!doubt.isEmpty()) {
            evidence.add(doubt);
        }
        if (evidence.isEmpty()) {
            evidence.add("clock of " + node + " is coming back: " + good + " of " + TO_CLEAR + " good samples");
        }
        return new Verdict(
                IncidentKind.CLOCK_OFFSET,
                subject,
                confirmed ? Standing.CONFIRMED : Standing.SUSPECTED,
                Math.abs(seconds) > 1 ? Severity.CRITICAL : Severity.WARNING,
                now.nodeMs() - sinceNodeMs,
                size(seconds) + doubt.isEmpty(),
                List.of(),
                evidence,
                Map.of("offset_seconds", seconds, "bound_seconds", boundNs / 1e9));
    }

    /** Steps of a twentieth: an offset that is slewed away is said again a few times and not each second. */
    private static String size(double seconds) {
        if (seconds == 0) {
            return "0";
        }
        return (seconds > 0 ? "+" : "-") + Math.round(Math.log(Math.abs(seconds)) / Math.log(1.05));
    }
}

package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.IncidentKind;

/**
 * Whether it is worth the words to say again what is the matter: when it is another matter, when it is surer, when what
 * it rests on looks otherwise, and else each five seconds, since figures that move by themselves (CPU use, what logs say)
 * may come to point at another rank. Weighing the evidence against each rank costs more than all the rest of a look. Times
 * are ms of log time.
 */
final class News {

    static final long AGAIN_MS = 5_000;

    /** A look comes each second, less the jitter of what beats. */
    private static final long JITTER_MS = 100;

    private IncidentKind kind = IncidentKind.INCIDENT_KIND_UNSPECIFIED;
    private boolean confirmed;
    private int looks;
    private long saidMs;

    /** {@code looks}: a hash of what it rests on. True when it should be put into words, which the caller then does. */
    boolean worthWords(IncidentKind nextKind, boolean nextConfirmed, int nextLooks, long nowMs) {
        boolean same = nextKind == kind
                && nextConfirmed == confirmed
                && nextLooks == looks
                && nowMs - saidMs < AGAIN_MS - JITTER_MS;
        if (same) {
            return false;
        }
        kind = nextKind;
        confirmed = nextConfirmed;
        looks = nextLooks;
        saidMs = nowMs;
        return true;
    }

    /** Nothing is said, so whatever comes next is news. */
    void nothing() {
        kind = IncidentKind.INCIDENT_KIND_UNSPECIFIED;
    }
}

package dev.unhang.lab.bench;

/** What happens to the job of a {@link DetectedFleet} after five minutes. */
public enum Scene {
    /** Nothing, and its ranks send heartbeats. */
    PEACE(true, "at peace"),
    /** Nothing, and there are no heartbeats. */
    PEACE_WITHOUT_HEARTBEATS(false, "at peace, without heartbeats"),
    /** One rank is stopped for good, and the others wait for it. */
    HANG(true, "hung"),
    /** The same without heartbeats. */
    HANG_WITHOUT_HEARTBEATS(false, "hung, without heartbeats"),
    /** Each step takes half as long again as before. */
    SLOW(true, "slow");

    final boolean heartbeats;
    final String words;

    Scene(boolean heartbeats, String words) {
        this.heartbeats = heartbeats;
        this.words = words;
    }

    /** Nothing is wrong in it, as nearly always. */
    boolean quiet() {
        return this == PEACE || this == PEACE_WITHOUT_HEARTBEATS;
    }
}

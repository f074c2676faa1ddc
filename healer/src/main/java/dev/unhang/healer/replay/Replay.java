package dev.unhang.healer.replay;

import com.google.protobuf.Message;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.Origin;
import dev.unhang.healer.decide.InboxCore;
import dev.unhang.healer.detect.node.PartitionDetector;
import dev.unhang.healer.policy.Policy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * Runs one trace through the same detectors and the same decider as the live path: telemetry into the detector of one
 * partition, what it says into the inbox with the stamp of the record behind it, and the inbox into the core. Each trace
 * is a world of its own. Not thread safe.
 */
public final class Replay {

    /** What was read, for the last line of a trace. */
    public record Summary(String trace, long records, double seconds) {}

    private static final Origin ORIGIN = Origin.newBuilder()
            .setPartition(0)
            .setGeneration(1)
            .setOwner("replay")
            .build();

    private final PartitionDetector detector = new PartitionDetector(ORIGIN);
    private final InboxCore core;
    private final BiConsumer<String, Line> journal;
    private final String name;
    private long telemetryOffset;
    private long inboxOffset;
    private boolean covered;

    private Replay(String name, Policy policy, BiConsumer<String, Line> journal) {
        this.core = InboxCore.rehearsal(policy);
        this.name = name;
        this.journal = journal;
    }

    /** Replays a file and drops what is decided: for those who measure how fast that goes. */
    public static Summary run(Path file, boolean heartbeats) throws IOException {
        return run(file, heartbeats, Policy.NONE, (name, line) -> {});
    }

    /** The same with each line, with the trace's name, handed over as it is decided. */
    static Summary run(Path file, boolean heartbeats, BiConsumer<String, Line> journal) throws IOException {
        return run(file, heartbeats, Policy.NONE, journal);
    }

    /** The same with what would have been offered by these playbooks. */
    static Summary run(Path file, boolean heartbeats, Policy policy, BiConsumer<String, Line> journal)
            throws IOException {
        try (Trace trace = Trace.open(file, heartbeats)) {
            return run(trace, policy, journal);
        }
    }

    /** Replays what is left of an open trace and hands over each line, with the trace's name, as it is decided. */
    public static Summary run(Trace trace, BiConsumer<String, Line> journal) throws IOException {
        return run(trace, Policy.NONE, journal);
    }

    private static Summary run(Trace trace, Policy policy, BiConsumer<String, Line> journal) throws IOException {
        Replay replay = new Replay(trace.header().name(), policy, journal);
        for (Trace.Item item = trace.next(); item != null; item = trace.next()) {
            replay.onItem(item);
        }
        return new Summary(trace.header().name(), trace.records(), trace.lengthMs() / 1000.0);
    }

    private void onItem(Trace.Item item) {
        telemetryOffset++;
        if (item instanceof Trace.Item.Sample sample) {
            inbox(detector.onRecord(sample.node(), sample.sample(), sample.stampMs()), sample.stampMs());
        } else if (item instanceof Trace.Item.Beat beat) {
            inbox(detector.onRecord("", beat.pulse(), beat.stampMs()), beat.stampMs());
            inbox(covered(), beat.stampMs());
            inbox(beat.pulse(), beat.stampMs());
        } else {
            throw new IllegalStateException("not an item of a trace: " + item);
        }
    }

    /** As the owner of a partition writes it each second; here everything is judged as soon as it is there. */
    private Covered covered() {
        boolean first = !covered;
        covered = true;
        return Covered.newBuilder()
                .setOrigin(ORIGIN)
                .setJudgedOffset(telemetryOffset)
                .setFirst(first)
                .setNodes(detector.nodes())
                .setLogTimeMs(detector.logTimeMs())
                .build();
    }

    private void inbox(List<Message> messages, long stampMs) {
        for (Message message : messages) {
            inbox(message, stampMs);
        }
    }

    private void inbox(Message message, long stampMs) {
        for (JournalEntry entry : core.onRecord(inboxOffset, stampMs, message)) {
            for (Line line : Line.of(entry)) {
                journal.accept(name, line);
            }
        }
        inboxOffset++;
    }
}

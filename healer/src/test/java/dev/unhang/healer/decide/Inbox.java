package dev.unhang.healer.decide;

import com.google.protobuf.Message;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.Pulse;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.StateValue;
import dev.unhang.events.v1.Suspect;
import dev.unhang.events.v1.Watch;
import dev.unhang.healer.ledger.Ledger;
import dev.unhang.healer.policy.Policy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** An inbox in memory for tests: appends records, feeds a core, and keeps all that was decided. */
final class Inbox {

    static final long T0 = 1_800_000_000_000L;

    record Appended(long offset, long stampMs, Message message) {}

    final List<Appended> log = new ArrayList<>();
    final List<JournalEntry> journal = new ArrayList<>();
    final Policy policy;
    InboxCore core;
    private long stampMs = T0;
    private long generation = 1;
    private int decisions;

    Inbox() {
        this(Policy.NONE);
    }

    Inbox(Policy policy) {
        this.policy = policy;
        this.core = new InboxCore(policy);
    }

    /** Appends at the present stamp and answers with what was decided. */
    List<JournalEntry> say(Message message) {
        Appended record = new Appended(log.size(), stampMs, message);
        log.add(record);
        List<JournalEntry> entries = core.onRecord(record.offset(), record.stampMs(), message);
        journal.addAll(entries);
        return entries;
    }

    /** Lets seconds pass, each with a Covered of each partition named (and a pulse). */
    List<JournalEntry> seconds(int seconds, int... partitions) {
        List<JournalEntry> entries = new ArrayList<>();
        for (int i = 0; i < seconds; i++) {
            stampMs += 1_000;
            for (int partition : partitions) {
                entries.addAll(say(covered(partition, 0, false)));
            }
            entries.addAll(say(Pulse.getDefaultInstance()));
        }
        return entries;
    }

    void generation(long next) {
        generation = next;
    }

    Origin origin(int partition) {
        return Origin.newBuilder()
                .setPartition(partition)
                .setGeneration(generation)
                .build();
    }

    Covered covered(int partition, long lagMs, boolean first) {
        return Covered.newBuilder()
                .setOrigin(origin(partition))
                .setLagMs(lagMs)
                .setFirst(first)
                .build();
    }

    List<JournalEntry> node(String node, int partition) {
        return say(report(node, partition, Watch.WATCH_WATCHED));
    }

    NodeReport report(String node, int partition, Watch watch) {
        return NodeReport.newBuilder()
                .setOrigin(origin(partition))
                .setNode(node)
                .setWatch(watch)
                .build();
    }

    Finding finding(int partition, IncidentKind kind, String subject, Standing standing, String... nodes) {
        return Finding.newBuilder()
                .setOrigin(origin(partition))
                .setKind(kind)
                .setSubject(subject)
                .setStanding(standing)
                .addAllNodes(List.of(nodes))
                .addEvidence("evidence of " + subject)
                .build();
    }

    Finding jobFinding(int partition, IncidentKind kind, Standing standing, String node) {
        return finding(partition, kind, "job:train@0", standing, node).toBuilder()
                .addSuspects(Suspect.newBuilder().setNode(node).setRank(1).setConfidence("high"))
                .build();
    }

    List<JournalEntry> decide(String verb, String target) {
        return say(OperatorDecision.newBuilder()
                .setId("d" + decisions++)
                .setWho("ann")
                .setWhy("I know better")
                .setVerb(verb)
                .setTarget(target)
                .build());
    }

    /** A decider of another process that starts from the state and reads the inbox again. */
    InboxCore restarted() {
        Map<String, StateValue> state = new HashMap<>(core.ledger().values());
        state.put(
                Ledger.POSITION,
                StateValue.newBuilder().setPosition(core.position()).build());
        InboxCore next = InboxCore.resume(state, "healer-2", policy);
        for (Appended record : log) {
            if (record.offset() >= next.readFrom()) {
                List<JournalEntry> entries = next.onRecord(record.offset(), record.stampMs(), record.message());
                if (!entries.isEmpty()) {
                    throw new AssertionError("a warm-up decided " + entries);
                }
            }
        }
        return next;
    }

    static List<String> steps(List<JournalEntry> entries) {
        List<String> steps = new ArrayList<>();
        for (JournalEntry entry : entries) {
            if (entry.getFrom() != entry.getTo()) {
                steps.add(name(entry.getTo()));
            }
        }
        return steps;
    }

    private static String name(IncidentState state) {
        return dev.unhang.healer.incident.Kinds.name(state);
    }
}

package dev.unhang.healer.decide;

import dev.unhang.events.v1.Command;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.StateChange;
import dev.unhang.events.v1.StateValue;
import dev.unhang.healer.incident.Moment;
import dev.unhang.healer.incident.Step;
import dev.unhang.healer.ledger.Ledger;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one inbox record brings about. Each entry is applied to the ledger as it is made, so what is decided next within
 * the same record sees it. Lives for one record.
 */
final class Turn {

    private final Moment now;
    private final long previousLogMs;
    private final long epoch;
    private final Ledger ledger;
    private final List<JournalEntry> entries = new ArrayList<>();
    private @Nullable OperatorDecision decision;
    private boolean loosened;

    Turn(Moment now, long previousLogMs, long epoch, Ledger ledger) {
        this.now = now;
        this.previousLogMs = previousLogMs;
        this.epoch = epoch;
        this.ledger = ledger;
    }

    Moment now() {
        return now;
    }

    /** Of the decider, as each grant bears it. */
    long epoch() {
        return epoch;
    }

    Ledger ledger() {
        return ledger;
    }

    List<JournalEntry> entries() {
        return entries;
    }

    /** Whether a multiple of {@code everyMs} since {@code sinceMs} was reached at this record. */
    boolean passed(long everyMs, long sinceMs) {
        return Math.floorDiv(now.logMs() - sinceMs, everyMs) != Math.floorDiv(previousLogMs - sinceMs, everyMs);
    }

    /** Entries from here on answer this decision of a person; null: they are the healer's own. */
    void answering(@Nullable OperatorDecision asked) {
        decision = asked;
    }

    /** A step of an incident. */
    void incident(IncidentState from, Step step) {
        incident(from, step, List.of());
    }

    /** A step of an incident with what goes with it, all in one entry. */
    void incident(IncidentState from, Step step, List<StateChange> more) {
        Incident next = step.next();
        loosened |= from != next.getState();
        emit(JournalEntry.newBuilder()
                .setIncident(next.getId())
                .setFrom(from)
                .setTo(next.getState())
                .setSentence(step.sentence())
                .addAllGuards(step.answers())
                .addChanges(change(
                        Ledger.incidentKey(next.getId()),
                        StateValue.newBuilder().setIncident(next).build()))
                .addAllChanges(more));
    }

    /** Changes that concern no incident that is known. */
    void changes(List<StateChange> changes, String sentence) {
        loosened = true;
        emit(JournalEntry.newBuilder().setSentence(sentence).addAllChanges(changes));
    }

    /**
     * Whether something was decided at this record after which a guard may answer otherwise: anything but that an
     * incident stayed in its state.
     */
    boolean loosened() {
        return loosened;
    }

    void loosen() {
        loosened = true;
    }

    static StateChange change(Command command) {
        return change(
                Ledger.commandKey(command.getId()),
                StateValue.newBuilder().setCommand(command).build());
    }

    /** A change of what is known of a node. */
    void node(NodeState next, String sentence) {
        put(
                Ledger.nodeKey(next.getNode()),
                StateValue.newBuilder().setNode(next).build(),
                sentence);
    }

    /** Puts any other value; null forgets the key. */
    void put(String key, @Nullable StateValue value, String sentence) {
        loosened = true;
        emit(JournalEntry.newBuilder().setSentence(sentence).addChanges(change(key, value)));
    }

    /** An answer that changes nothing. */
    void answer(String sentence, boolean refused, String incident) {
        emit(JournalEntry.newBuilder().setSentence(sentence).setRefused(refused).setIncident(incident));
    }

    private void emit(JournalEntry.Builder entry) {
        entry.setInboxOffset(now.offset())
                .setLogTimeMs(now.logMs())
                .setStampMs(now.stampMs())
                .setEpoch(epoch)
                .setIndex(entries.size());
        if (decision != null) {
            entry.setWho(decision.getWho()).setDecision(decision.getId());
        }
        JournalEntry built = entry.build();
        ledger.apply(built);
        entries.add(built);
    }

    private static StateChange change(String key, @Nullable StateValue value) {
        StateChange.Builder change = StateChange.newBuilder().setKey(key);
        if (value != null) {
            change.setValue(value);
        }
        return change.build();
    }
}

package dev.unhang.lab.simulate;

import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.Position;
import dev.unhang.events.v1.Pulse;
import dev.unhang.events.v1.StateValue;
import dev.unhang.healer.decide.InboxCore;
import dev.unhang.healer.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One reign of a decider: the real {@link InboxCore}, driven as the live one is. It fences the others, reads the state,
 * raises the epoch in its first transaction, reads the inbox again and then decides batch by batch, each in one
 * transaction. It dies between any two steps, or is fenced and ends by itself. Confined to one thread.
 */
final class Decider {

    /** Where it is to die. */
    enum Crash {
        NEVER,
        NOW,
        /** What was decided is not written. */
        BEFORE_WRITE,
        /** It is written, and nobody has told it. */
        AFTER_WRITE
    }

    private static final int MOST_A_POLL = 500;
    private static final long BOOKMARK_MS = 1_000;

    private final String healer;
    private final Agenda agenda;
    private final Chance chance;
    private final Trail trail;
    private final SimulatedKafka kafka;
    private final Policy policy;
    private final Function<JournalEntry, List<SimulatedKafka.CommandRecord>> records;
    private final Plant plant;
    private final Runnable onDeath;
    private @Nullable InboxCore core;
    private long transactionalEpoch;
    private long next;
    private long writtenLogMs;
    private long pausedUntilNs;
    private boolean pollDue;
    private boolean alive = true;
    private Crash crash = Crash.NEVER;
    private long pulses;

    Decider(
            String healer,
            Agenda agenda,
            Chance chance,
            Trail trail,
            SimulatedKafka kafka,
            Policy policy,
            Function<JournalEntry, List<SimulatedKafka.CommandRecord>> records,
            Plant plant,
            Runnable onDeath) {
        this.healer = healer;
        this.agenda = agenda;
        this.chance = chance;
        this.trail = trail;
        this.kafka = kafka;
        this.policy = policy;
        this.records = records;
        this.plant = plant;
        this.onDeath = onDeath;
        kafka.inbox.wake(this::wake);
        agenda.after(0, this::takeOver);
    }

    boolean alive() {
        return alive;
    }

    void crash(Crash when) {
        if (when == Crash.NOW) {
            die("dies");
        } else {
            crash = when;
        }
    }

    /** It stands still and does not know it: another may take over meanwhile. */
    void pause(long ns) {
        pausedUntilNs = agenda.nowNs() + ns;
    }

    private void takeOver() {
        try {
            transactionalEpoch = kafka.initTransactions();
            Map<String, StateValue> state = kafka.state();
            if (plant == Plant.FORGETS_ATTEMPTS) {
                Planted.forgetAttempts(state);
            }
            InboxCore fresh = InboxCore.resume(state, healer, policy);
            kafka.commit(transactionalEpoch, List.of(), fresh.position(), List.of());
            next = fresh.readFrom();
            core = fresh;
            trail.note(healer + " decides, epoch " + fresh.epoch() + ", from inbox offset " + next);
            wake();
            agenda.after(Agenda.SECOND, this::second);
        } catch (SimulatedKafka.Unavailable | SimulatedKafka.Fenced e) {
            die("cannot take over");
        }
    }

    private void second() {
        if (!alive) {
            return;
        }
        agenda.after(Agenda.SECOND, this::second);
        InboxCore current = core;
        if (current != null && kafka.up() && agenda.nowNs() >= pausedUntilNs) {
            kafka.inbox.append(
                    "",
                    Pulse.newBuilder()
                            .setOwner(healer)
                            .setGeneration(current.epoch())
                            .setSeq(++pulses)
                            .build());
        }
    }

    private void wake() {
        if (alive && !pollDue) {
            pollDue = true;
            agenda.after(chance.seconds(0.002, 0.1), this::poll);
        }
    }

    private void poll() {
        pollDue = false;
        InboxCore current = core;
        if (!alive || current == null) {
            return;
        }
        if (agenda.nowNs() < pausedUntilNs) {
            pollDue = true;
            agenda.after(pausedUntilNs - agenda.nowNs(), this::poll);
            return;
        }
        List<JournalEntry> entries = new ArrayList<>();
        for (int taken = 0; taken < MOST_A_POLL && next < kafka.inbox.end(); taken++) {
            SimulatedKafka.Appended record = kafka.inbox.at(next++);
            boolean deaf = plant == Plant.DEAF_TO_PEOPLE && record.message() instanceof OperatorDecision;
            entries.addAll(current.onRecord(record.offset(), record.stampMs(), deaf ? null : record.message()));
        }
        try {
            write(current, entries);
        } catch (SimulatedKafka.Fenced e) {
            die("was fenced");
            return;
        } catch (SimulatedKafka.Unavailable e) {
            die("cannot write");
            return;
        }
        if (next < kafka.inbox.end()) {
            wake();
        }
    }

    private void write(InboxCore current, List<JournalEntry> entries) {
        Position position = current.position();
        boolean due = position.getLogTimeMs() - writtenLogMs >= BOOKMARK_MS;
        if (entries.isEmpty() && !due) {
            return;
        }
        if (crash == Crash.BEFORE_WRITE) {
            die("dies before it has written " + entries.size() + " entries");
            return;
        }
        List<SimulatedKafka.CommandRecord> out = new ArrayList<>();
        entries.forEach(entry -> out.addAll(records.apply(entry)));
        if (plant == Plant.GRANT_BEFORE_JOURNAL && !out.isEmpty() && kafka.up()) {
            kafka.commitCommands(out);
            if (chance.perMille(300)) {
                die("dies with its commands out and its journal not");
                return;
            }
            out.clear();
        }
        kafka.commit(transactionalEpoch, entries, position, out);
        writtenLogMs = position.getLogTimeMs();
        for (JournalEntry entry : entries) {
            if (!entry.getIncident().isEmpty()) {
                trail.note("decided: " + entry.getIncident() + " " + entry.getTo() + ": " + entry.getSentence());
            }
        }
        if (crash == Crash.AFTER_WRITE && !entries.isEmpty()) {
            die("dies, and does not know that it has written " + entries.size() + " entries");
        }
    }

    private void die(String how) {
        if (alive) {
            alive = false;
            core = null;
            trail.note(healer + " " + how);
            onDeath.run();
        }
    }
}

package dev.unhang.lab.simulate;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Message;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.Position;
import dev.unhang.events.v1.StateChange;
import dev.unhang.events.v1.StateValue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The topics as logs in memory. Stamps come from the broker that leads a partition, and each broker's clock is wrong in
 * its own way; a leader change moves them, backwards too. A transaction is whole or it is not there, and a producer that
 * was fenced commits nothing. Confined to one thread.
 */
final class SimulatedKafka {

    static final int PARTITIONS = 12;
    private static final int BROKERS = 3;
    private static final long WALL_MS = 1_750_000_000_000L;

    /** One record as its readers see it. */
    record Appended(
            long offset, long stampMs, String key, @Nullable Message message) {}

    /** A record for {@code unhang.commands}. */
    record CommandRecord(String key, Message message) {}

    /** One step of the decider as it was committed. */
    record Committed(List<JournalEntry> entries, Position position, List<CommandRecord> commands) {}

    /** What is thrown at whoever writes while no broker answers. */
    static final class Unavailable extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** What is thrown at a decider that another one has fenced. */
    static final class Fenced extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** One partition. */
    final class Log {
        private final List<Appended> records = new ArrayList<>();
        private final List<Runnable> readers = new ArrayList<>();
        private int leader;

        long end() {
            return records.size();
        }

        Appended at(long offset) {
            return records.get((int) offset);
        }

        /** Calls back at each append: something is there to be polled. */
        void wake(Runnable reader) {
            readers.add(reader);
        }

        long append(String key, @Nullable Message message) {
            if (!up) {
                throw new Unavailable();
            }
            Appended record = new Appended(records.size(), stampMs(leader), key, message);
            records.add(record);
            onAppend.accept(this, record);
            readers.forEach(Runnable::run);
            return record.offset();
        }
    }

    /** Told of each record as it is appended. */
    interface OnAppend {
        void accept(Log log, Appended record);
    }

    private final Agenda agenda;
    private final long[] clockOffMs = new long[BROKERS];
    final Log inbox = new Log();
    final Log commands = new Log();
    final List<Log> telemetry = new ArrayList<>();
    final List<JournalEntry> journal = new ArrayList<>();
    private final Map<String, StateValue> state = new HashMap<>();
    private final Map<String, ByteString> stateBytes = new HashMap<>();
    private OnAppend onAppend = (log, record) -> {};
    private Consumer<Committed> onCommit = committed -> {};
    private boolean up = true;
    private long transactionalEpoch;
    private @Nullable Chance tears;

    SimulatedKafka(Agenda agenda) {
        this.agenda = agenda;
        for (int partition = 0; partition < PARTITIONS; partition++) {
            Log log = new Log();
            log.leader = partition % BROKERS;
            telemetry.add(log);
        }
    }

    void watch(OnAppend append, Consumer<Committed> commit) {
        onAppend = append;
        onCommit = commit;
    }

    /** A planted fault: now and then a value does not reach the state. */
    void tearsState(Chance chance) {
        tears = chance;
    }

    boolean up() {
        return up;
    }

    void up(boolean now) {
        up = now;
    }

    /** Another broker leads all partitions now. */
    void changeLeaders(Chance chance) {
        inbox.leader = chance.between(0, BROKERS - 1);
        commands.leader = chance.between(0, BROKERS - 1);
        telemetry.forEach(log -> log.leader = chance.between(0, BROKERS - 1));
    }

    void jumpClock(int broker, long byMs) {
        clockOffMs[broker % BROKERS] += byMs;
    }

    private long stampMs(int broker) {
        return WALL_MS + agenda.nowMs() + clockOffMs[broker];
    }

    /** Fences whoever decided before; the answer is needed to commit. */
    long initTransactions() {
        if (!up) {
            throw new Unavailable();
        }
        return ++transactionalEpoch;
    }

    /** Commits one step whole. */
    void commit(long epoch, List<JournalEntry> entries, Position position, List<CommandRecord> records) {
        if (!up) {
            throw new Unavailable();
        }
        if (epoch != transactionalEpoch) {
            throw new Fenced();
        }
        commitJournal(entries);
        commitState(entries, position);
        commitCommands(records);
        onCommit.accept(new Committed(entries, position, records));
    }

    void commitJournal(List<JournalEntry> entries) {
        journal.addAll(entries);
    }

    void commitCommands(List<CommandRecord> records) {
        records.forEach(record -> commands.append(record.key(), record.message()));
    }

    void commitState(List<JournalEntry> entries, Position position) {
        Map<String, @Nullable StateValue> changed = new LinkedHashMap<>();
        for (JournalEntry entry : entries) {
            for (StateChange change : entry.getChangesList()) {
                changed.put(change.getKey(), change.hasValue() ? change.getValue() : null);
            }
        }
        changed.put("position", StateValue.newBuilder().setPosition(position).build());
        changed.forEach((key, value) -> {
            if (tears != null && !key.equals("position") && tears.perMille(20)) {
                return;
            }
            if (value == null) {
                state.remove(key);
                stateBytes.remove(key);
            } else {
                state.put(key, value);
                stateBytes.put(key, bytes(value));
            }
        });
    }

    /** What {@code unhang.state} holds. */
    Map<String, StateValue> state() {
        return new HashMap<>(state);
    }

    @Nullable
    StateValue state(String key) {
        return state.get(key);
    }

    /** The same as it is on the wire. */
    Map<String, ByteString> stateBytes() {
        return stateBytes;
    }

    static ByteString bytes(Message message) {
        byte[] bytes = new byte[message.getSerializedSize()];
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        out.useDeterministicSerialization();
        try {
            message.writeTo(out);
        } catch (IOException e) {
            throw new UncheckedIOException("an array cannot fail", e);
        }
        return ByteString.copyFrom(bytes);
    }
}

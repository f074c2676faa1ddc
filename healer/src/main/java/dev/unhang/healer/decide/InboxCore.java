package dev.unhang.healer.decide;

import com.google.protobuf.Message;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.JobProfile;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.Position;
import dev.unhang.events.v1.StateValue;
import dev.unhang.healer.detect.LogTime;
import dev.unhang.healer.detect.fleet.FleetDetector;
import dev.unhang.healer.guard.Sightings;
import dev.unhang.healer.incident.Moment;
import dev.unhang.healer.ledger.Ledger;
import dev.unhang.healer.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Steps 4b and 5 as one function of the inbox: counts log time, lets the fleet detector judge, decides and applies.
 * The live decider, a take-over and a replay all run this, so they cannot drift apart.
 *
 * <p>Whoever feeds it must feed {@code Covered} too, each second for each telemetry partition that has nodes: only what
 * is covered is confirmed, resolved or dismissed. Offsets ascend; gaps are allowed. Confined to one thread.
 */
public final class InboxCore {

    private static final long LEARNED_EVERY_MS = 60_000;

    private final FleetDetector fleet = new FleetDetector();
    private final Sightings sightings = new Sightings();
    private final Ledger ledger = new Ledger();
    private final Decider decider;
    private final Rewind rewind;
    private final Recollection recollection;
    private final Position start;
    private final long epoch;
    private final String healer;
    private LogTime logTime;
    private boolean live;
    private long nextOffset;

    /** Begins with an empty state and acts on nothing. */
    public InboxCore() {
        this(Policy.NONE);
    }

    /** Begins with an empty state. */
    public InboxCore(Policy policy) {
        this(Map.of(), Position.getDefaultInstance(), 1, "replay", policy, Rulings.Executors.KNOWN);
    }

    /** Begins with an empty state, and tells what it would have offered were there somebody to run each action. */
    public static InboxCore rehearsal(Policy policy) {
        return new InboxCore(Map.of(), Position.getDefaultInstance(), 1, "replay", policy, Rulings.Executors.ASSUMED);
    }

    /**
     * Goes on where another decider stood, as a take-over does: feed it the inbox from {@link #readFrom()}.
     *
     * @param state what {@code unhang.state} holds, its position included
     * @param healer id of this healer
     * @param policy what is wanted; it is no part of the state
     */
    public static InboxCore resume(Map<String, StateValue> state, String healer, Policy policy) {
        StateValue position = state.get(Ledger.POSITION);
        Position start = position == null ? Position.getDefaultInstance() : position.getPosition();
        return new InboxCore(state, start, start.getEpoch() + 1, healer, policy, Rulings.Executors.KNOWN);
    }

    private InboxCore(
            Map<String, StateValue> state,
            Position start,
            long epoch,
            String healer,
            Policy policy,
            Rulings.Executors executors) {
        state.forEach(ledger::put);
        state.forEach(this::restore);
        this.start = start;
        this.epoch = epoch;
        this.healer = healer;
        Jobs jobs = new Jobs(fleet);
        Rulings rulings = new Rulings(policy, ledger, sightings, jobs, executors);
        this.decider = new Decider(ledger, start, epoch, sightings, rulings, jobs);
        this.rewind = new Rewind(start);
        this.live = start.getInboxOffset() == 0;
        this.recollection = live ? Recollection.none() : new Recollection(start.getLogTimeMs());
        this.logTime = live ? new LogTime() : new LogTime(start.getRewindLogTimeMs(), start.getRewindStampMs());
        this.nextOffset = start.getInboxOffset();
    }

    /** The inbox offset from which this core must be fed: about two minutes before its position. */
    public long readFrom() {
        return live ? nextOffset : start.getRewindOffset();
    }

    /**
     * Takes one inbox record and answers with what was decided, already applied, in order. Records before the position
     * that it started from only warm the detectors up and give nothing.
     *
     * @param message null for a record that could not be read: log time passes all the same
     */
    public List<JournalEntry> onRecord(long offset, long stampMs, @Nullable Message message) {
        if (!live && offset < start.getInboxOffset()) {
            List<Finding> found = judge(message, logTime.advance(stampMs), stampMs);
            recollection.heard(found);
            return List.of();
        }
        if (!live) {
            live = true;
            logTime = new LogTime(start.getLogTimeMs(), start.getLastStampMs());
        }
        rewind.pass(offset, logTime.nowMs(), logTime.lastStampMs());
        long beforeMs = logTime.nowMs();
        long nowMs = logTime.advance(stampMs);
        nextOffset = offset + 1;
        List<Finding> found = judge(message, nowMs, stampMs);
        if (!recollection.over()) {
            List<Finding> both = new ArrayList<>(recollection.reconcile(ledger, nowMs));
            recollection.heard(found);
            both.addAll(found);
            found = both;
        }
        return decider.decide(new Moment(offset, nowMs, stampMs), message, found, learned(beforeMs, nowMs));
    }

    /** Where this core stands: written in one transaction with what it decided. */
    public Position position() {
        if (!live) {
            return start.toBuilder().setEpoch(epoch).setDecider(healer).build();
        }
        Position.Builder position = Position.newBuilder()
                .setInboxOffset(nextOffset)
                .setLogTimeMs(logTime.nowMs())
                .setLastStampMs(logTime.lastStampMs())
                .setEpoch(epoch)
                .setDecider(healer);
        rewind.describe(position);
        decider.describe(position);
        return position.build();
    }

    /** What has been decided so far. To read, on the thread that feeds this core. */
    public Ledger ledger() {
        return ledger;
    }

    /** Log time of the inbox, ms. */
    public long logTimeMs() {
        return logTime.nowMs();
    }

    /** The number that each grant and each entry of this decider bears. */
    public long epoch() {
        return epoch;
    }

    private void restore(String key, StateValue value) {
        if (key.startsWith(Ledger.JOB) && value.getJob().hasProfile()) {
            fleet.restore(key.substring(Ledger.JOB.length()), value.getJob().getProfile());
        }
    }

    /** What the detectors have learned of jobs, each time that log time passes a whole minute. */
    private Map<String, @Nullable JobProfile> learned(long beforeMs, long nowMs) {
        return nowMs / LEARNED_EVERY_MS == beforeMs / LEARNED_EVERY_MS ? Map.of() : fleet.learned(nowMs);
    }

    private List<Finding> judge(@Nullable Message message, long nowMs, long stampMs) {
        if (message instanceof NodeReport report) {
            sightings.onReport(report, nowMs);
        } else if (message instanceof OperatorDecision decision
                && decision.getVerb().equals("forget")) {
            sightings.forget(decision.getTarget());
        }
        return message == null ? List.of() : fleet.onRecord(message, nowMs, stampMs);
    }
}

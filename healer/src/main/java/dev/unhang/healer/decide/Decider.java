package dev.unhang.healer.decide;

import com.google.protobuf.Message;
import dev.unhang.events.v1.ActionResult;
import dev.unhang.events.v1.ActuatorHello;
import dev.unhang.events.v1.Claim;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.JobProfile;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.Position;
import dev.unhang.events.v1.SchedulerFact;
import dev.unhang.healer.guard.Sightings;
import dev.unhang.healer.incident.Moment;
import dev.unhang.healer.ledger.Ledger;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Step 5: from what was found and what people decided to journal entries. A pure function of its state and the record;
 * its state is the ledger and what {@link Position} holds, so a decider that starts from both goes on with the very same
 * entries. What {@link #decide} answers is applied already, entry by entry, through the same {@link Ledger#apply} by which
 * a replay applies the journal. Timers are data: what is due is found by comparing log time with the values in the
 * ledger. Confined to one thread.
 */
public final class Decider {

    private static final int DECISIONS_KEPT = 64;
    private static final long SWEEP_MS = 1_000;
    private static final long TIDY_MS = 60_000;

    private final Ledger ledger;
    private final Coverage coverage;
    private final IncidentBook book;
    private final People people;
    private final CommandBook commands;
    private final Rulings rulings;
    private final Sightings sightings;
    private final Deque<String> decisions;
    private final long epoch;
    private long lastLogMs;
    private long nowMs;

    /** Goes on from a ledger and the position that was written with it. */
    Decider(Ledger ledger, Position position, long epoch, Sightings sightings, Rulings rulings, Jobs jobs) {
        this.ledger = ledger;
        this.coverage = new Coverage(position.getCoversList());
        this.sightings = sightings;
        this.rulings = rulings;
        this.commands = new CommandBook(ledger, rulings, this::covered);
        Proofs proofs = new Proofs(ledger, rulings, commands, jobs::job, sightings::silent);
        this.book = new IncidentBook(ledger, coverage, rulings, commands, proofs);
        this.people = new People(book, commands);
        this.decisions = new ArrayDeque<>(position.getDecisionsList());
        this.lastLogMs = position.getLogTimeMs();
        this.epoch = epoch;
    }

    /**
     * Takes one record of the inbox.
     *
     * @param record null for one that could not be read: time passes all the same
     * @param found what the decider's own detectors say at this record
     * @param learned what they have learned of jobs; for most records nothing
     * @return what was decided, in order, applied already; empty for most records
     */
    public List<JournalEntry> decide(
            Moment now, @Nullable Message record, List<Finding> found, Map<String, @Nullable JobProfile> learned) {
        nowMs = now.logMs();
        Turn turn = new Turn(now, lastLogMs, epoch, ledger);
        if (record instanceof NodeReport report) {
            if (coverage.heard(report.getOrigin(), now.logMs())) {
                NodeBook.report(turn, report);
                commands.booted(turn, report);
            }
        } else if (record instanceof Finding finding) {
            if (finding.getOrigin().getPartition() >= 0 && coverage.heard(finding.getOrigin(), now.logMs())) {
                book.hear(turn, finding);
            }
        } else if (record instanceof Covered covered) {
            if (coverage.heard(covered.getOrigin(), now.logMs())) {
                coverage.covered(covered, now.logMs());
                if (covered.getFirst()) {
                    book.dropUnsaid(turn, covered.getOrigin());
                }
            }
        } else if (record instanceof OperatorDecision decision && isNew(decision)) {
            people.decide(turn, decision);
        } else if (record instanceof Claim claim) {
            commands.claimed(turn, claim);
        } else if (record instanceof ActionResult result) {
            commands.ended(turn, result);
        } else if (record instanceof ActuatorHello hello) {
            commands.hello(turn, hello);
        } else if (record instanceof SchedulerFact fact) {
            SchedulerBook.fact(turn, fact);
        }
        for (Finding finding : found) {
            book.hear(turn, finding.toBuilder().setOrigin(Blindness.OWN).build());
        }
        JobBook.learned(turn, learned);
        if (!turn.entries().isEmpty() || turn.passed(SWEEP_MS, 0)) {
            Blindness.judge(ledger, coverage, now.logMs(), now.stampMs())
                    .ifPresent(finding -> book.hear(turn, finding));
            NodeBook.count(turn);
            commands.sweep(turn);
            book.sweep(turn);
            Looks.sweep(turn, rulings, commands);
            Recoveries.sweep(turn, rulings, commands, sightings);
            if (turn.passed(TIDY_MS, 0)) {
                commands.tidy(turn);
            }
        }
        lastLogMs = now.logMs();
        return turn.entries();
    }

    private long covered(Incident incident) {
        return book.covered(incident, nowMs) ? 1 : 0;
    }

    /** Puts what this class knows beside the ledger into the position. */
    void describe(Position.Builder position) {
        position.addAllCovers(coverage.states()).addAllDecisions(decisions);
    }

    private boolean isNew(OperatorDecision decision) {
        if (decision.getId().isEmpty()) {
            return true;
        }
        if (decisions.contains(decision.getId())) {
            return false;
        }
        decisions.addLast(decision.getId());
        if (decisions.size() > DECISIONS_KEPT) {
            decisions.removeFirst();
        }
        return true;
    }
}

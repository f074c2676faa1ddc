package dev.unhang.healer.decide;

import com.google.protobuf.Message;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.JobProfile;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.Position;
import dev.unhang.healer.incident.Moment;
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

    private final Ledger ledger;
    private final Coverage coverage;
    private final IncidentBook book;
    private final People people;
    private final Deque<String> decisions;
    private final long epoch;
    private long lastLogMs;

    /** Goes on from a ledger and the position that was written with it. */
    public Decider(Ledger ledger, Position position, long epoch) {
        this.ledger = ledger;
        this.coverage = new Coverage(position.getCoversList());
        this.book = new IncidentBook(ledger, coverage);
        this.people = new People(book);
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
        Turn turn = new Turn(now, lastLogMs, epoch, ledger);
        if (record instanceof NodeReport report) {
            if (coverage.heard(report.getOrigin(), now.logMs())) {
                NodeBook.report(turn, report);
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
        }
        for (Finding finding : found) {
            book.hear(turn, finding.toBuilder().setOrigin(Blindness.OWN).build());
        }
        JobBook.learned(turn, learned);
        if (!turn.entries().isEmpty() || turn.passed(SWEEP_MS, 0)) {
            Blindness.judge(ledger, coverage, now.logMs(), now.stampMs())
                    .ifPresent(finding -> book.hear(turn, finding));
            book.sweep(turn);
        }
        lastLogMs = now.logMs();
        return turn.entries();
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

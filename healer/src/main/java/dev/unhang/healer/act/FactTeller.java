package dev.unhang.healer.act;

import dev.unhang.events.v1.SchedulerFact;
import dev.unhang.healer.text.SafeText;
import java.util.concurrent.locks.Lock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks a scheduler what it has and tells what is news. A scheduler that does not answer is told of once, and once when it
 * answers again. Confined to one thread, which its call may block for two deadlines of the scheduler.
 */
final class FactTeller {

    private static final Logger log = LoggerFactory.getLogger(FactTeller.class);

    private final Scheduler scheduler;
    private final Inbox inbox;
    private final Lock changes;
    private final FactBook book;
    private boolean silent;

    /**
     * {@code changes} is held from a view until what it shows is written: else what was seen before a drain of ours could
     * be told after it, and read as a person's word that the node is in service.
     */
    FactTeller(Scheduler scheduler, Inbox inbox, Lock changes) {
        this.scheduler = scheduler;
        this.inbox = inbox;
        this.changes = changes;
        this.book = new FactBook(scheduler.name());
    }

    /** Asks once. */
    void turn(long nowNs) {
        changes.lock();
        try {
            SchedulerView view = scheduler.view();
            if (silent) {
                log.info("{} answers again", scheduler.name());
                silent = false;
            }
            for (SchedulerFact fact : book.onView(view, nowNs)) {
                inbox.say(fact);
            }
        } catch (SchedulerException e) {
            if (!silent) {
                log.warn(
                        "nothing is known of jobs and nodes of {} until it answers: {}",
                        scheduler.name(),
                        SafeText.logged(e.words()));
                silent = true;
            }
            book.onSilence(e.words()).forEach(inbox::say);
        } finally {
            inbox.settle();
            changes.unlock();
        }
    }
}

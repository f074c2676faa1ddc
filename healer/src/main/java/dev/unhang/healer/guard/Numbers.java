package dev.unhang.healer.guard;

import dev.unhang.events.v1.Attempts;
import dev.unhang.events.v1.Command;
import dev.unhang.events.v1.JobState;
import dev.unhang.events.v1.NodeState;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.ledger.Ledger;
import dev.unhang.healer.policy.Aim;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;

/** How often and how soon: one action at a node, attempts a day, cooldowns. Stateless. */
final class Numbers {

    private static final long DAY_MS = 24 * 3_600_000L;
    private static final int MOST_DOUBLINGS = 5;

    private Numbers() {}

    static Optional<String> oneAction(Question question) {
        for (Command command : question.world().ledger().unreleasedCommands()) {
            if (!command.getId().equals(question.own())
                    && !Collections.disjoint(command.getLocksList(), question.nodes())) {
                return Optional.of("another action is at work there: " + command.getId());
            }
        }
        return Optional.empty();
    }

    static Optional<String> attempts(Question question) {
        Question.Deed deed = question.deed();
        if (deed == null) {
            return Optional.empty();
        }
        Ledger ledger = question.world().ledger();
        if (question.incident().getAttempts() >= question.world().limits().perIncident()) {
            return Optional.of(question.incident().getAttempts() + " actions were tried for this incident");
        }
        String today = Ledger.day(question.world().nowMs());
        Aim aim = deed.aim();
        if (aim.action().scope() == Action.Scope.JOB) {
            int tried = ledger.job(aim.job()).getAttemptsByDayMap().getOrDefault(today, 0);
            return tried >= question.world().limits().perJobADay()
                    ? Optional.of(tried + " actions were tried on job " + aim.job() + " today")
                    : Optional.empty();
        }
        for (String name : aim.nodes()) {
            NodeState node = ledger.node(name);
            int tried = node == null ? 0 : node.getAttemptsByDayMap().getOrDefault(today, 0);
            if (tried >= question.world().limits().perNodeADay()) {
                return Optional.of(tried + " actions were tried on node " + name + " today");
            }
        }
        return Optional.empty();
    }

    static Optional<String> cooldown(Question question) {
        Question.Deed deed = question.deed();
        if (deed == null) {
            return Optional.empty();
        }
        Ledger ledger = question.world().ledger();
        Aim aim = deed.aim();
        if (aim.action().scope() == Action.Scope.JOB) {
            JobState job = ledger.job(aim.job());
            return cooling(question, "job " + aim.job(), job.getAttemptsMap());
        }
        for (String name : aim.nodes()) {
            NodeState node = ledger.node(name);
            Optional<String> refusal =
                    node == null ? Optional.empty() : cooling(question, "node " + name, node.getAttemptsMap());
            if (refusal.isPresent()) {
                return refusal;
            }
        }
        return Optional.empty();
    }

    private static Optional<String> cooling(Question question, String what, Map<String, Attempts> attempts) {
        Question.Deed deed = question.deed();
        Attempts before = deed == null ? null : attempts.get(deed.aim().action().label());
        if (deed == null || before == null) {
            return Optional.empty();
        }
        int doublings = Math.min(MOST_DOUBLINGS, Math.max(0, before.getInARow() - 1));
        long coolMs = Math.min(DAY_MS, deed.rung().cooldown().toMillis() << doublings);
        long sinceMs = question.world().nowMs() - before.getLastLogMs();
        return sinceMs < coolMs
                ? Optional.of(deed.aim().action().label() + " was tried on " + what + " less than " + coolMs / 1000
                        + " s ago")
                : Optional.empty();
    }
}

package dev.unhang.healer.guard;

import dev.unhang.events.v1.Command;
import dev.unhang.events.v1.NodeState;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.ledger.Ledger;
import dev.unhang.healer.policy.Limits;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Never more at once than the operator can lose: nodes by cluster, rack and job, jobs by their own limit. A node that we
 * have drained counts until it is given back. Stateless.
 */
final class Radius {

    private Radius() {}

    static Optional<String> exceeded(Question question) {
        Question.Deed deed = question.deed();
        if (deed == null) {
            return Optional.empty();
        }
        return deed.aim().action().scope() == Action.Scope.JOB
                ? jobs(question, deed.aim().job())
                : nodes(question, deed.aim().nodes());
    }

    private static Optional<String> jobs(Question question, String job) {
        Set<String> under = new TreeSet<>();
        for (Command command : question.world().ledger().unreleasedCommands()) {
            if (!command.getJob().isEmpty() && !command.getId().equals(question.own())) {
                under.add(command.getJob());
            }
        }
        under.add(job);
        int most = question.world().limits().jobsAtMost();
        return under.size() > most
                ? Optional.of("job actions run on " + (under.size() - 1) + " other jobs; at most " + most + " at once")
                : Optional.empty();
    }

    private static Optional<String> nodes(Question question, Set<String> wanted) {
        Ledger ledger = question.world().ledger();
        Limits limits = question.world().limits();
        Set<String> under = new TreeSet<>();
        for (Command command : ledger.unreleasedCommands()) {
            boolean harms = Action.named(command.getOffer().getAction())
                    .map(action -> action.scope() == Action.Scope.NODE && action.harm() != Action.Harm.NONE)
                    .orElse(true);
            if (harms && !command.getId().equals(question.own())) {
                under.addAll(command.getLocksList());
            }
        }
        ledger.drainedByUs().forEach(node -> under.add(node.getNode()));
        Set<String> after = new TreeSet<>(under);
        after.addAll(wanted);
        if (after.size() == under.size()) {
            return Optional.empty();
        }
        int cluster = most(limits, ledger.mostNodes(question.world().nowMs()));
        if (after.size() > cluster) {
            return Optional.of(
                    under.size() + " nodes are under repair; at most " + cluster + " at once in the cluster");
        }
        for (String name : wanted) {
            NodeState node = ledger.node(name);
            String rack = node == null ? null : node.getLabelsMap().get(limits.rackLabel());
            if (rack != null) {
                long there = after.stream()
                        .filter(other -> {
                            NodeState state = ledger.node(other);
                            return state != null
                                    && rack.equals(state.getLabelsMap().get(limits.rackLabel()));
                        })
                        .count();
                int most = most(limits, ledger.nodesWith(limits.rackLabel(), rack));
                if (there > most) {
                    return Optional.of("nodes of rack " + rack + " are under repair; at most " + most + " at once");
                }
            }
            for (String job : question.world().jobs().jobsOn(name)) {
                Set<String> ofJob = question.world().jobs().nodesOf(job);
                long there = after.stream().filter(ofJob::contains).count();
                int most = most(limits, ofJob.size());
                if (there > most) {
                    return Optional.of("nodes of job " + job + " are under repair; at most " + most + " at once");
                }
            }
        }
        return Optional.empty();
    }

    private static int most(Limits limits, int of) {
        return Math.max(1, Math.min(of * limits.nodesPercent() / 100, limits.nodesAtMost()));
    }
}

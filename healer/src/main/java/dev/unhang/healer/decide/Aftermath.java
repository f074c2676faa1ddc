package dev.unhang.healer.decide;

import dev.unhang.events.v1.Attempts;
import dev.unhang.events.v1.BreakerCallKind;
import dev.unhang.events.v1.Command;
import dev.unhang.events.v1.CommandState;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JobState;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.StateChange;
import dev.unhang.events.v1.StateValue;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.guard.Breakers;
import dev.unhang.healer.ledger.Ledger;
import dev.unhang.healer.policy.Aim;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What an action leaves behind beside its own record: attempts, breakers, what a scheduler holds for us, locks. Pure. */
final class Aftermath {

    private static final int DAYS_KEPT = 2;

    private Aftermath() {}

    /** It is granted: that counts as an attempt, whatever comes of it. */
    static List<StateChange> granted(Ledger ledger, Aim aim, long nowMs) {
        List<StateChange> changes = new ArrayList<>();
        String action = aim.action().label();
        if (aim.action().scope() == Action.Scope.JOB) {
            JobState job = ledger.job(aim.job());
            changes.add(change(job.toBuilder()
                    .putAttempts(action, oneMore(job.getAttemptsMap().get(action), nowMs))
                    .clearAttemptsByDay()
                    .putAllAttemptsByDay(oneMoreToday(job.getAttemptsByDayMap(), nowMs))
                    .build()));
        } else {
            for (String name : aim.nodes()) {
                NodeState node = ledger.node(name);
                if (node != null) {
                    changes.add(change(node.toBuilder()
                            .putAttempts(action, oneMore(node.getAttemptsMap().get(action), nowMs))
                            .clearAttemptsByDay()
                            .putAllAttemptsByDay(oneMoreToday(node.getAttemptsByDayMap(), nowMs))
                            .build()));
                }
            }
        }
        for (String name : Breakers.names(aim)) {
            changes.add(call(ledger, name, BreakerCallKind.BREAKER_ACQUIRED, nowMs));
        }
        return changes;
    }

    /** It is done: a node that the scheduler drained for us is ours to give back, and one given back is not any more. */
    static List<StateChange> done(Ledger ledger, Command command) {
        String action = command.getOffer().getAction();
        NodeState node = ledger.node(command.getOffer().getParametersOrDefault("node", ""));
        if (node == null) {
            return List.of();
        }
        if (action.equals(Action.DRAIN.label())) {
            return List.of(change(node.toBuilder()
                    .setScheduler(node.getScheduler().toBuilder()
                            .setOurs(command.getOffer().getParametersOrDefault("reason", ""))
                            .setIncident(command.getIncident()))
                    .build()));
        }
        return action.equals(Action.UNDRAIN.label())
                ? List.of(change(node.toBuilder()
                        .setScheduler(
                                node.getScheduler().toBuilder().clearOurs().clearIncident())
                        .build()))
                : List.of();
    }

    /** The incident has seen what its last command came to: its nodes are free again, and the breakers know. */
    static List<StateChange> verified(Ledger ledger, Incident next, Command command, long nowMs) {
        List<StateChange> changes = new ArrayList<>();
        if (command.getState() != CommandState.COMMAND_TIMED_OUT) {
            changes.add(Turn.change(command.toBuilder().setReleased(true).build()));
        }
        Optional<Action> action = Action.named(command.getOffer().getAction());
        if (command.getGrantedLogMs() == 0 || action.isEmpty() || action.get().harm() == Action.Harm.NONE) {
            return changes;
        }
        boolean prepared = action.get().prepares() && command.getState() == CommandState.COMMAND_DONE;
        boolean helped = prepared || (next.getState() == IncidentState.INCIDENT_RESOLVED && next.hasWellSinceLogMs());
        boolean dismissedWell =
                next.getState() == IncidentState.INCIDENT_DISMISSED && command.getState() == CommandState.COMMAND_DONE;
        BreakerCallKind kind =
                helped || dismissedWell ? BreakerCallKind.BREAKER_SUCCESS : BreakerCallKind.BREAKER_ERROR;
        Aim aim = new Aim(
                action.get(),
                command.getOffer().getNode(),
                java.util.Set.copyOf(command.getLocksList()),
                command.getJob(),
                Map.of());
        for (String name : Breakers.names(aim)) {
            changes.add(call(ledger, name, kind, nowMs));
        }
        if (helped) {
            String label = action.get().label();
            if (action.get().scope() == Action.Scope.JOB) {
                JobState job = ledger.job(command.getJob());
                changes.add(change(job.toBuilder()
                        .putAttempts(label, none(job.getAttemptsMap().get(label)))
                        .build()));
            } else {
                for (String name : command.getLocksList()) {
                    NodeState node = ledger.node(name);
                    if (node != null) {
                        changes.add(change(node.toBuilder()
                                .putAttempts(label, none(node.getAttemptsMap().get(label)))
                                .build()));
                    }
                }
            }
        }
        return changes;
    }

    static StateChange change(NodeState node) {
        return StateChange.newBuilder()
                .setKey(Ledger.nodeKey(node.getNode()))
                .setValue(StateValue.newBuilder().setNode(node))
                .build();
    }

    private static StateChange change(JobState job) {
        return StateChange.newBuilder()
                .setKey(Ledger.jobKey(job.getJob()))
                .setValue(StateValue.newBuilder().setJob(job))
                .build();
    }

    private static StateChange call(Ledger ledger, String name, BreakerCallKind kind, long nowMs) {
        return StateChange.newBuilder()
                .setKey(Ledger.breakerKey(name))
                .setValue(StateValue.newBuilder().setBreaker(Breakers.with(ledger.breaker(name), name, kind, nowMs)))
                .build();
    }

    private static Attempts oneMore(@org.jspecify.annotations.Nullable Attempts before, long nowMs) {
        int inARow = before == null ? 0 : before.getInARow();
        return Attempts.newBuilder().setLastLogMs(nowMs).setInARow(inARow + 1).build();
    }

    private static Attempts none(@org.jspecify.annotations.Nullable Attempts before) {
        return before == null
                ? Attempts.getDefaultInstance()
                : before.toBuilder().setInARow(0).build();
    }

    private static Map<String, Integer> oneMoreToday(Map<String, Integer> byDay, long nowMs) {
        TreeMap<String, Integer> next = new TreeMap<>();
        for (int back = 0; back < DAYS_KEPT; back++) {
            String day = Ledger.day(Math.max(0, nowMs - back * 24L * 3_600_000L));
            Integer count = byDay.get(day);
            if (count != null) {
                next.put(day, count);
            }
        }
        next.merge(Ledger.day(nowMs), 1, Integer::sum);
        return next;
    }
}

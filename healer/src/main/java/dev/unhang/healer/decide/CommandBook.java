package dev.unhang.healer.decide;

import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.ActionResult;
import dev.unhang.events.v1.Actuator;
import dev.unhang.events.v1.ActuatorHello;
import dev.unhang.events.v1.Claim;
import dev.unhang.events.v1.Command;
import dev.unhang.events.v1.CommandState;
import dev.unhang.events.v1.Grant;
import dev.unhang.events.v1.GuardAnswer;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.StateChange;
import dev.unhang.events.v1.StateValue;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.command.ParameterHash;
import dev.unhang.healer.incident.LifeCycle;
import dev.unhang.healer.incident.Step;
import dev.unhang.healer.ledger.Ledger;
import dev.unhang.healer.policy.Aim;
import dev.unhang.healer.policy.Mode;
import dev.unhang.healer.policy.Rung;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The life of a command: {@code offered → granted → done | failed | timed-out | interrupted}, or {@code withdrawn}. It is
 * offered with its incident's step, granted once for ever to the first claim that all guards still agree with, and ended
 * by a result, by time, or by a new start of whoever ran it. Its nodes stay locked until it is released, which is when
 * its incident has seen what it came to. Holds nothing itself. Confined to the decider's thread.
 */
final class CommandBook {

    /** An offer that nobody claims is withdrawn, ms of log time. */
    static final long UNCLAIMED_MS = 30_000;

    /** Beyond its own time-out an executor has so long to say so, ms of log time. */
    static final long GRACE_MS = 30_000;

    /** Ended commands are kept for so long, ms of log time. */
    static final long KEPT_MS = 24 * 3_600_000L;

    private static final int PAST_STARTS = 8;
    private static final int NONCE_BYTES = 16;

    private final Ledger ledger;
    private final Rulings rulings;
    private final ToLongFunction<Incident> coveredAt;

    /** @param coveredAt 1 when all that the incident is about is covered at the present record, else 0 */
    CommandBook(Ledger ledger, Rulings rulings, ToLongFunction<Incident> coveredAt) {
        this.ledger = ledger;
        this.rulings = rulings;
        this.coveredAt = coveredAt;
    }

    /** The command of a step that the incident has just taken towards acting; not in the ledger yet. */
    Command offer(Turn turn, Incident incident, Aim aim, Rung rung) {
        return offer(
                turn,
                incident.getId() + '-' + (incident.getCommandsCount() + 1),
                incident,
                aim,
                rung.timeout().toMillis());
    }

    Command offer(Turn turn, String id, Incident incident, Aim aim, long timeoutMs) {
        String why = incident.getFinding().getEvidenceCount() == 0
                ? incident.getId()
                : incident.getFinding().getEvidence(0);
        return Command.newBuilder()
                .setId(id)
                .setIncident(incident.getId())
                .setState(CommandState.COMMAND_OFFERED)
                .setStateLogMs(turn.now().logMs())
                .setOfferedLogMs(turn.now().logMs())
                .addAllLocks(aim.nodes())
                .setJob(aim.job())
                .setOffer(Offer.newBuilder()
                        .setCommandId(id)
                        .setIncident(incident.getId())
                        .setNode(aim.executor())
                        .setAction(aim.action().label())
                        .putAllParameters(aim.parameters())
                        .setTimeoutMs(timeoutMs)
                        .setEpoch(turn.epoch())
                        .setReason(why))
                .build();
    }

    /** Somebody is willing. */
    void claimed(Turn turn, Claim claim) {
        Command command = ledger.command(claim.getCommandId());
        if (command == null) {
            turn.answer(claim.getNode() + " claims " + claim.getCommandId() + ", which was never offered", true, "");
            return;
        }
        if (command.getState() != CommandState.COMMAND_OFFERED) {
            return;
        }
        if (!claim.getNode().equals(command.getOffer().getNode())
                || claim.getNonce().size() != NONCE_BYTES) {
            turn.answer(
                    claim.getNode() + " claims " + command.getId() + ", which was offered to "
                            + command.getOffer().getNode(),
                    true,
                    command.getIncident());
            return;
        }
        Incident incident = ledger.incident(command.getIncident());
        Optional<Action> action = Action.named(command.getOffer().getAction());
        if (incident == null || action.isEmpty()) {
            withdraw(turn, command, "its incident is not known any more", List.of());
            return;
        }
        Asked asked = Looks.is(command)
                ? askedOfLook(turn, incident, command)
                : action.get() == Action.UNDRAIN
                        ? askedOfUndrain(turn, incident, command)
                        : askedOfStep(turn, incident, command);
        Optional<String> refusal = asked.answers().stream()
                .filter(answer -> !answer.getAllowed())
                .findFirst()
                .map(GuardAnswer::getReason);
        if (refusal.isPresent() || asked.aim() == null) {
            withdraw(turn, command, refusal.orElse(asked.changed()), asked.answers());
        } else {
            grant(turn, command, incident, asked.aim(), claim, asked.answers());
        }
    }

    /** @param aim what would be done, read anew; null: it is not what was offered, and {@code changed} says why */
    private record Asked(@Nullable Aim aim, String changed, List<GuardAnswer> answers) {}

    private Asked askedOfStep(Turn turn, Incident incident, Command command) {
        Rung rung = rulings.rungOf(incident);
        boolean stands = incident.getState() == IncidentState.INCIDENT_ACTING
                && command.getId().equals(last(incident))
                && rung != null
                && incident.getFinding().getStanding() == dev.unhang.events.v1.Standing.CONFIRMED;
        if (!stands || rung == null) {
            return new Asked(null, "what it was offered for does not stand any more", List.of());
        }
        Aim aim = Aims.of(incident, rung).orElse(null);
        if (aim == null
                || !aim.executor().equals(command.getOffer().getNode())
                || !aim.parameters().equals(command.getOffer().getParametersMap())
                || !aim.action().label().equals(command.getOffer().getAction())) {
            return new Asked(null, "the finding names something else now than when it was offered", List.of());
        }
        boolean covered = coveredAt.applyAsLong(incident) == 1;
        return new Asked(
                aim,
                "",
                rulings.again(
                        incident,
                        rulings.modeOf(incident),
                        rung,
                        aim,
                        command.getId(),
                        covered,
                        turn.now().logMs()));
    }

    private Asked askedOfLook(Turn turn, Incident incident, Command command) {
        Aim aim = Aims.look(incident.getFinding()).orElse(null);
        boolean same = aim != null
                && aim.executor().equals(command.getOffer().getNode())
                && aim.parameters().equals(command.getOffer().getParametersMap());
        if (aim == null || !same || !Looks.wanted(incident)) {
            return new Asked(null, "there is nothing more to look at, or something else", List.of());
        }
        return new Asked(aim, "", answersOfLook(turn, incident, aim, command.getId()));
    }

    /** Reading is allowed in observe mode. {@code own}: its id, once it has been offered; else empty. */
    List<GuardAnswer> answersOfLook(Turn turn, Incident incident, Aim aim, String own) {
        boolean covered = coveredAt.applyAsLong(incident) == 1;
        return rulings.again(
                incident,
                Mode.ENFORCE,
                Looks.RUNG,
                aim,
                own,
                covered,
                turn.now().logMs());
    }

    private Asked askedOfUndrain(Turn turn, Incident incident, Command command) {
        String name = command.getOffer().getParametersOrDefault("node", "");
        String reason = command.getOffer().getParametersOrDefault("reason", "");
        NodeState node = ledger.node(name);
        if (node == null || !node.getScheduler().getOurs().equals(reason) || reason.isEmpty()) {
            return new Asked(null, "node " + name + " is not drained by us any more", List.of());
        }
        Aim aim = Aims.undrain(name, reason);
        return new Asked(
                aim,
                "",
                rulings.again(
                        incident,
                        Mode.ENFORCE,
                        Recoveries.RUNG,
                        aim,
                        command.getId(),
                        coveredAt.applyAsLong(incident) == 1,
                        turn.now().logMs()));
    }

    private void grant(Turn turn, Command command, Incident incident, Aim aim, Claim claim, List<GuardAnswer> answers) {
        Grant grant = Grant.newBuilder()
                .setCommandId(command.getId())
                .setNode(command.getOffer().getNode())
                .setAction(command.getOffer().getAction())
                .setParametersHash(ParameterHash.of(command.getOffer().getParametersMap()))
                .setNonce(claim.getNonce())
                .setEpoch(turn.epoch())
                .build();
        Command granted = command.toBuilder()
                .setState(CommandState.COMMAND_GRANTED)
                .setStateLogMs(turn.now().logMs())
                .setGrantedLogMs(turn.now().logMs())
                .setGrant(grant)
                .setStartId(claim.getStartId())
                .setBootId(claim.getBootId())
                .build();
        List<StateChange> changes = new ArrayList<>();
        changes.add(Turn.change(granted));
        if (aim.action().harm() != Action.Harm.NONE) {
            changes.addAll(Aftermath.granted(ledger, aim, turn.now().logMs()));
            incident = incident.toBuilder()
                    .setAttempts(incident.getAttempts() + 1)
                    .clearApproval()
                    .build();
        }
        String sentence = command.getId() + " is granted to " + claim.getNode() + ": " + aim.sentence();
        turn.incident(incident.getState(), new Step(incident, sentence, answers), changes);
    }

    /** Whoever ran a command, or would not, says how it ended. */
    void ended(Turn turn, ActionResult result) {
        Command command = ledger.command(result.getCommandId());
        if (command == null) {
            turn.answer(
                    result.getNode() + " tells how " + result.getCommandId() + " ended, which was never offered",
                    true,
                    "");
            return;
        }
        if (!result.getNode().equals(command.getOffer().getNode())) {
            turn.answer(
                    result.getNode() + " tells how " + command.getId() + " ended, which is "
                            + command.getOffer().getNode() + "'s",
                    true,
                    command.getIncident());
            return;
        }
        boolean refused = result.getEnd() == ActionEnd.ACTION_REFUSED;
        boolean runs = command.getState() == CommandState.COMMAND_GRANTED
                || command.getState() == CommandState.COMMAND_TIMED_OUT;
        if (!runs && !(refused && command.getState() == CommandState.COMMAND_OFFERED)) {
            return;
        }
        CommandState state = switch (result.getEnd()) {
            case ACTION_DONE -> CommandState.COMMAND_DONE;
            case ACTION_TIMED_OUT -> CommandState.COMMAND_TIMED_OUT;
            case ACTION_INTERRUPTED -> CommandState.COMMAND_INTERRUPTED;
            default -> CommandState.COMMAND_FAILED;
        };
        if (state == command.getState()) {
            return;
        }
        String words = switch (result.getEnd()) {
            case ACTION_DONE -> " is done";
            case ACTION_TIMED_OUT -> " ran out of time, and may still be running";
            case ACTION_INTERRUPTED -> " was interrupted";
            case ACTION_REFUSED -> " was refused by " + result.getNode();
            default -> " failed";
        };
        end(
                turn,
                command.toBuilder().setResult(result),
                state,
                command.getId() + words + (result.getDetail().isEmpty() ? "" : ": " + result.getDetail()),
                List.of());
    }

    /** An actuator or executor has started, or says again that it is there. */
    void hello(Turn turn, ActuatorHello hello) {
        Actuator known = ledger.actuator(hello.getNode());
        if (known != null) {
            if (known.getPastStartsList().contains(hello.getStartId())
                    || known.getHello().equals(hello)) {
                return;
            }
        }
        Actuator.Builder next =
                Actuator.newBuilder().setHello(hello).setSinceLogMs(turn.now().logMs());
        boolean anew = known == null || !known.getHello().getStartId().equals(hello.getStartId());
        if (known != null) {
            List<String> past = new ArrayList<>(known.getPastStartsList());
            if (anew) {
                past.add(known.getHello().getStartId());
            }
            next.addAllPastStarts(past.subList(Math.max(0, past.size() - PAST_STARTS), past.size()));
        }
        turn.put(
                Ledger.actuatorKey(hello.getNode()),
                StateValue.newBuilder().setActuator(next).build(),
                "the actuator of " + hello.getNode() + " is there and allows "
                        + (hello.getActionsCount() == 0 ? "nothing" : String.join(", ", hello.getActionsList())));
        if (!anew) {
            return;
        }
        for (Command command : List.copyOf(ledger.unreleasedCommands())) {
            if (command.getOffer().getNode().equals(hello.getNode())
                    && !command.getStartId().equals(hello.getStartId())
                    && (command.getState() == CommandState.COMMAND_GRANTED
                            || command.getState() == CommandState.COMMAND_TIMED_OUT)) {
                end(
                        turn,
                        command.toBuilder(),
                        CommandState.COMMAND_INTERRUPTED,
                        command.getId() + " was interrupted: its actuator started anew",
                        List.of());
            }
        }
    }

    /** A node that has booted anew runs nothing of before. */
    void booted(Turn turn, NodeReport report) {
        if (report.getBootId().isEmpty()) {
            return;
        }
        for (Command command : List.copyOf(ledger.unreleasedCommands())) {
            if (command.getOffer().getNode().equals(report.getNode())
                    && !command.getBootId().isEmpty()
                    && !command.getBootId().equals(report.getBootId())
                    && (command.getState() == CommandState.COMMAND_GRANTED
                            || command.getState() == CommandState.COMMAND_TIMED_OUT)) {
                end(
                        turn,
                        command.toBuilder(),
                        CommandState.COMMAND_INTERRUPTED,
                        command.getId() + " was interrupted: its node booted anew",
                        List.of());
            }
        }
    }

    /** A person says that nothing of ours runs on the node any more. */
    boolean cleared(Turn turn, String node, String who) {
        boolean any = false;
        for (Command command : List.copyOf(ledger.unreleasedCommands())) {
            if (command.getState() == CommandState.COMMAND_TIMED_OUT
                    && command.getLocksList().contains(node)) {
                end(
                        turn,
                        command.toBuilder(),
                        CommandState.COMMAND_INTERRUPTED,
                        command.getId() + " is over, by the word of " + who,
                        List.of());
                any = true;
            }
        }
        return any;
    }

    /** What is due by log time alone. */
    void sweep(Turn turn) {
        long now = turn.now().logMs();
        for (Command command : List.copyOf(ledger.unreleasedCommands())) {
            if (command.getState() == CommandState.COMMAND_OFFERED && now - command.getOfferedLogMs() >= UNCLAIMED_MS) {
                end(
                        turn,
                        command.toBuilder(),
                        CommandState.COMMAND_WITHDRAWN,
                        command.getId() + " is withdrawn: nobody claimed it within " + UNCLAIMED_MS / 1000 + " s",
                        List.of());
            } else if (command.getState() == CommandState.COMMAND_GRANTED
                    && now - command.getGrantedLogMs() >= command.getOffer().getTimeoutMs() + GRACE_MS) {
                end(
                        turn,
                        command.toBuilder(),
                        CommandState.COMMAND_TIMED_OUT,
                        command.getId() + " ran out of time, and may still be running",
                        List.of());
            }
        }
    }

    /** Forgets what ended long ago and whose incident is not kept any more. */
    void tidy(Turn turn) {
        for (Command command : List.copyOf(ledger.commands())) {
            if (command.getReleased()
                    && turn.now().logMs() - command.getStateLogMs() >= KEPT_MS
                    && ledger.incident(command.getIncident()) == null) {
                turn.put(Ledger.commandKey(command.getId()), null, command.getId() + " ended a day ago");
            }
        }
    }

    @Nullable
    Command lastOf(Incident incident) {
        return incident.getCommandsCount() == 0 ? null : ledger.command(last(incident));
    }

    private void withdraw(Turn turn, Command command, String why, List<GuardAnswer> answers) {
        end(
                turn,
                command.toBuilder(),
                CommandState.COMMAND_WITHDRAWN,
                command.getId() + " is withdrawn at its claim: " + why,
                answers);
    }

    private void end(
            Turn turn, Command.Builder command, CommandState state, String sentence, List<GuardAnswer> answers) {
        boolean unused = state == CommandState.COMMAND_WITHDRAWN && !answers.isEmpty();
        command.setState(state).setStateLogMs(turn.now().logMs()).setEndedBy(sentence);
        Incident incident = ledger.incident(command.getIncident());
        boolean acting = incident != null
                && incident.getState() == IncidentState.INCIDENT_ACTING
                && command.getId().equals(last(incident));
        boolean verifying = incident != null
                && incident.getState() == IncidentState.INCIDENT_VERIFYING
                && command.getId().equals(last(incident));
        if (state != CommandState.COMMAND_TIMED_OUT && !acting && !verifying) {
            command.setReleased(true);
        }
        List<StateChange> changes = new ArrayList<>();
        changes.add(Turn.change(command.build()));
        if (state == CommandState.COMMAND_DONE) {
            changes.addAll(Aftermath.done(ledger, command.build()));
        }
        if (incident == null) {
            turn.changes(changes, sentence);
        } else if (acting) {
            Incident.Builder next = LifeCycle.ended(incident, turn.now());
            if (unused) {
                next.setRungAttempts(Math.max(0, incident.getRungAttempts() - 1));
            }
            turn.incident(incident.getState(), new Step(next.build(), sentence, answers), changes);
        } else {
            turn.incident(incident.getState(), new Step(incident, sentence, answers), changes);
        }
    }

    private static String last(Incident incident) {
        return incident.getCommandsCount() == 0 ? "" : incident.getCommands(incident.getCommandsCount() - 1);
    }
}

package dev.unhang.healer.decide;

import dev.unhang.events.v1.Command;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.StateChange;
import dev.unhang.healer.incident.Kinds;
import dev.unhang.healer.incident.LifeCycle;
import dev.unhang.healer.incident.Step;
import dev.unhang.healer.incident.Transitions;
import dev.unhang.healer.incident.Voices;
import dev.unhang.healer.ledger.Ledger;
import dev.unhang.healer.policy.Aim;
import dev.unhang.healer.policy.Rung;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Turns findings and the passing of log time into the steps of incidents. Holds nothing itself: all is in the ledger and
 * the coverage, so a restart goes on as if nothing had happened. Confined to the decider's thread.
 */
final class IncidentBook {

    /** Closed incidents are shown for so long, ms of log time. */
    static final long KEPT_MS = 24 * 3_600_000L;

    /** How often held incidents are asked again without a change, ms of log time. */
    static final long ASK_MS = 30_000;

    /** That a node was forgotten is remembered for so long, ms of log time. */
    static final long FORGOTTEN_MS = 7 * 24 * 3_600_000L;

    private static final long TIDY_MS = 60_000;
    private static final int MOST_PASSES = 16;

    private final Ledger ledger;
    private final Coverage coverage;
    private final Rulings rulings;
    private final CommandBook commands;
    private final Proofs proofs;

    IncidentBook(Ledger ledger, Coverage coverage, Rulings rulings, CommandBook commands, Proofs proofs) {
        this.ledger = ledger;
        this.coverage = coverage;
        this.rulings = rulings;
        this.commands = commands;
        this.proofs = proofs;
    }

    /** Takes a finding whose origin counts. Of a kind or standing that only a newer healer knows, nothing can be made. */
    void hear(Turn turn, Finding said) {
        if (said.getStanding() != Standing.WELL && !Voices.stands(said)) {
            return;
        }
        if (said.getKind() == IncidentKind.UNRECOGNIZED || said.getKind() == IncidentKind.INCIDENT_KIND_UNSPECIFIED) {
            return;
        }
        Incident muted = ledger.mutedBy(said);
        if (muted != null) {
            hearMuted(turn, muted, said);
            return;
        }
        if (onlyForgotten(said)) {
            return;
        }
        Incident incident = ledger.openIn(Kinds.slot(said.getKind(), said.getSubject()));
        if (incident != null) {
            emit(turn, incident, LifeCycle.hear(incident, said, turn.now()));
            settle(turn, incident.getId(), true);
        } else if (Voices.stands(said)) {
            Step step = goesOn(LifeCycle.open(said, turn.now()));
            turn.incident(IncidentState.INCIDENT_STATE_NONE, step);
            settle(turn, step.next().getId(), true);
        }
    }

    /** A new owner has said all that stands: what its partition said before and it did not say again is well. */
    void dropUnsaid(Turn turn, Origin owner) {
        List<Incident> all = new ArrayList<>(ledger.openIncidents());
        all.addAll(ledger.closedIncidents());
        for (Incident incident : all) {
            boolean counts =
                    Transitions.open(incident.getState()) || incident.getState() == IncidentState.INCIDENT_DISMISSED;
            for (Finding voice : counts ? Voices.standing(incident) : List.<Finding>of()) {
                if (voice.getOrigin().getPartition() == owner.getPartition()
                        && voice.getOrigin().getGeneration() < owner.getGeneration()) {
                    Incident current = current(incident.getId());
                    String why = "the new owner of partition " + owner.getPartition() + " does not see it";
                    emit(turn, current, LifeCycle.drop(current, voice, why, turn.now()));
                    settle(turn, incident.getId(), true);
                }
            }
        }
    }

    /** Takes each open incident as far as log time, coverage and what has changed since allow. */
    void sweep(Turn turn) {
        for (int pass = 0; pass < MOST_PASSES; pass++) {
            int before = turn.entries().size();
            for (Incident incident : List.copyOf(ledger.openIncidents())) {
                boolean ask = turn.loosened() || turn.passed(ASK_MS, incident.getStateLogMs());
                settle(turn, incident.getId(), ask);
            }
            if (turn.entries().size() == before) {
                break;
            }
        }
        if (turn.passed(TIDY_MS, 0)) {
            tidy(turn);
        }
    }

    /** Ends an incident because a person said so; what still stands stays muted until it is well. */
    void dismiss(Turn turn, Incident incident, String who, String why) {
        emit(turn, incident, Optional.of(LifeCycle.dismissed(incident, who, why, turn.now())));
    }

    /** Ends an incident with its node; nothing stays muted, since nothing is heard of a node that was forgotten. */
    void forget(Turn turn, Incident incident, String who, String node) {
        Incident silent = incident.toBuilder()
                .setFinding(incident.getFinding().toBuilder().setStanding(Standing.WELL))
                .clearOthers()
                .build();
        turn.incident(
                incident.getState(), LifeCycle.dismissed(silent, who, "node " + node + " was forgotten", turn.now()));
    }

    /** Whether all partitions that this incident is about are covered. */
    boolean covered(Incident incident, long nowMs) {
        if (incident.getKind() == IncidentKind.TELEMETRY_BLIND) {
            return true;
        }
        Finding finding = incident.getFinding();
        int own = finding.getOrigin().getPartition();
        if (own >= 0 && !coverage.covers(own, nowMs)) {
            return false;
        }
        boolean any = own >= 0;
        for (String name : Kinds.nodes(finding)) {
            NodeState node = ledger.node(name);
            if (node != null && !node.getForgotten()) {
                any = true;
                if (!coverage.covers(node.getPartition(), nowMs)) {
                    return false;
                }
            }
        }
        return any || ledger.partitions().stream().allMatch(partition -> coverage.covers(partition, nowMs));
    }

    private void settle(Turn turn, String id, boolean ask) {
        Incident incident = current(id);
        if (!Transitions.open(incident.getState())) {
            return;
        }
        boolean linked = linkCause(turn, incident);
        boolean again = ask || linked;
        for (int step = 0; step < MOST_PASSES; step++) {
            Incident before = current(id);
            long now = turn.now().logMs();
            boolean covered = covered(before, now);
            LifeCycle.World world = new LifeCycle.World(
                    covered,
                    proofs.well(before, now),
                    proofs.over(before),
                    proofs.wellMs(before),
                    again,
                    () -> rulings.rule(before, covered, now),
                    () -> proofs.of(before, now));
            if (!emit(turn, before, LifeCycle.advance(before, turn.now(), world))) {
                return;
            }
        }
        throw new IllegalStateException("incident " + id + " does not settle");
    }

    /** A job that was started anew and is in trouble again stands where its ladder stood, and not at its foot. */
    private Step goesOn(Step opened) {
        Incident incident = opened.next();
        Incident before = Kinds.isJob(incident.getKind())
                ? proofs.predecessor(incident.getFinding().getJob(), incident.getSubject())
                : null;
        if (before == null) {
            return opened;
        }
        Rung rung = rulings.rungOf(before);
        boolean used = rung == null || before.getRungAttempts() >= rung.attempts();
        Incident next = incident.toBuilder()
                .setPlaybook(before.getPlaybook())
                .setRung(used ? before.getRung() + 1 : before.getRung())
                .setRungAttempts(used ? 0 : before.getRungAttempts())
                .setAttempts(before.getAttempts())
                .setReopened(before.getReopened() + 1)
                .build();
        return new Step(next, opened.sentence() + "; it goes on from " + before.getId(), opened.answers());
    }

    private boolean linkCause(Turn turn, Incident incident) {
        Optional<Incident> cause = Causes.of(incident, ledger);
        if (cause.isPresent() && !incident.getCause().equals(cause.get().getId())) {
            String id = cause.get().getId();
            Incident next = incident.toBuilder().setCause(id).build();
            turn.incident(incident.getState(), new Step(next, "explained by " + id, List.of()));
            return true;
        }
        return false;
    }

    private boolean emit(Turn turn, Incident before, Optional<Step> step) {
        if (step.isEmpty()) {
            return false;
        }
        Incident next = step.get().next();
        List<StateChange> more = new ArrayList<>();
        if (before.getState() != next.getState()) {
            if (next.getState() == IncidentState.INCIDENT_ACTING) {
                Rung rung = Objects.requireNonNull(rulings.rungOf(next), "what is acted on has a step");
                Aim aim = Aims.of(next, rung).orElseThrow();
                Command command = commands.offer(turn, next, aim, rung);
                next = next.toBuilder().addCommands(command.getId()).build();
                more.add(Turn.change(command));
            } else if (before.getState() == IncidentState.INCIDENT_VERIFYING) {
                Command command = commands.lastOf(before);
                if (command != null && !command.getReleased()) {
                    more.addAll(
                            Aftermath.verified(ledger, next, command, turn.now().logMs()));
                }
            } else if (before.getState() == IncidentState.INCIDENT_SUSPECTED
                    && next.getState() == IncidentState.INCIDENT_CONFIRMED) {
                more.addAll(Offences.counted(ledger, next, turn.now().logMs()));
            }
        }
        turn.incident(
                before.getState(),
                new Step(next, step.get().sentence(), step.get().answers()),
                more);
        if (next.getState() == IncidentState.INCIDENT_RESOLVED) {
            next.getOthersList().forEach(other -> hear(turn, other));
        }
        return true;
    }

    private void hearMuted(Turn turn, Incident muted, Finding said) {
        boolean wellAgain = !Voices.stands(said);
        boolean newOwner = Voices.standing(muted).stream()
                .anyMatch(voice ->
                        Voices.sameVoice(voice, said) && !voice.getOrigin().equals(said.getOrigin()));
        if (wellAgain || newOwner) {
            emit(turn, muted, LifeCycle.hear(muted, said, turn.now()));
        }
    }

    private boolean onlyForgotten(Finding said) {
        Set<String> nodes = Kinds.nodes(said);
        return !nodes.isEmpty()
                && nodes.stream().allMatch(name -> {
                    NodeState node = ledger.node(name);
                    return node != null && node.getForgotten();
                });
    }

    private void tidy(Turn turn) {
        for (Incident incident : List.copyOf(ledger.closedIncidents())) {
            boolean muting = incident.getState() == IncidentState.INCIDENT_DISMISSED
                    && !Voices.standing(incident).isEmpty();
            if (!muting && turn.now().logMs() - incident.getClosedLogMs() >= KEPT_MS) {
                turn.put(Ledger.incidentKey(incident.getId()), null, incident.getId() + " ended a day ago");
            }
        }
        List<NodeState> forgotten = ledger.nodes().stream()
                .filter(node -> node.getForgotten() && turn.now().logMs() - node.getLastSeenLogMs() >= FORGOTTEN_MS)
                .sorted(Comparator.comparing(NodeState::getNode))
                .toList();
        for (NodeState node : forgotten) {
            turn.put(Ledger.nodeKey(node.getNode()), null, "node " + node.getNode() + " was forgotten a week ago");
        }
    }

    private Incident current(String id) {
        Incident incident = ledger.incident(id);
        if (incident == null) {
            throw new IllegalStateException("incident " + id + " is not in the ledger");
        }
        return incident;
    }
}

package dev.unhang.healer.decide;

import dev.unhang.events.v1.Command;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.Watch;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.guard.Sightings;
import dev.unhang.healer.incident.Step;
import dev.unhang.healer.ledger.Ledger;
import dev.unhang.healer.policy.Aim;
import dev.unhang.healer.policy.Condition;
import dev.unhang.healer.policy.Rung;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Gives back what we drained, once the incident that we drained it for is resolved and the node is well: if the scheduler
 * still holds it for our reason, word for word. A repeat offender stays drained, for a person. Pause and open breakers
 * do not stop it. Holds nothing itself.
 */
final class Recoveries {

    /** How it is offered; it puts nothing at risk. */
    static final Rung RUNG = new Rung(
            Action.UNDRAIN,
            Condition.ALWAYS,
            Duration.ofSeconds(60),
            Rung.USUAL_VERIFY_WITHIN,
            Rung.USUAL_VERIFY_FOR,
            Duration.ZERO,
            1,
            Map.of());

    private static final long TRY_EVERY_MS = 30_000;
    private static final int MOST_TRIES = 3;

    private Recoveries() {}

    static void sweep(Turn turn, Rulings rulings, CommandBook commands, Sightings sightings) {
        if (!turn.passed(TRY_EVERY_MS, 0)) {
            return;
        }
        Ledger ledger = turn.ledger();
        for (NodeState node : List.copyOf(ledger.drainedByUs())) {
            Incident incident = ledger.incident(node.getScheduler().getIncident());
            Aim aim = Aims.undrain(node.getNode(), node.getScheduler().getOurs());
            if (incident == null
                    || incident.getState() != IncidentState.INCIDENT_RESOLVED
                    || !well(ledger, node, sightings, turn.now().logMs())
                    || !rulings.executorOf(aim)
                    || rulings.repeatOffender(
                            node.getNode(), Long.MAX_VALUE, turn.now().logMs())) {
                continue;
            }
            List<Command> before = new ArrayList<>();
            for (String id : incident.getCommandsList()) {
                Command command = ledger.command(id);
                if (command != null && command.getOffer().getAction().equals(Action.UNDRAIN.label())) {
                    before.add(command);
                }
            }
            boolean open = before.stream().anyMatch(command -> !command.getReleased());
            if (open || before.size() >= MOST_TRIES || locked(ledger, node.getNode())) {
                continue;
            }
            Command command = commands.offer(turn, incident, aim, RUNG);
            Incident next = incident.toBuilder().addCommands(command.getId()).build();
            turn.incident(
                    incident.getState(),
                    new Step(next, "offered: " + aim.sentence() + ", which is well again", List.of()),
                    List.of(Turn.change(command)));
        }
    }

    private static boolean well(Ledger ledger, NodeState node, Sightings sightings, long nowMs) {
        NodeReport report = sightings.report(node.getNode());
        boolean seen = report != null
                && report.getWatch() == Watch.WATCH_WATCHED
                && sightings.ageMs(node.getNode(), nowMs) < TRY_EVERY_MS;
        return seen
                && ledger.openIncidents().stream()
                        .noneMatch(other -> Aims.culprit(other.getFinding())
                                .filter(node.getNode()::equals)
                                .isPresent());
    }

    private static boolean locked(Ledger ledger, String node) {
        return ledger.unreleasedCommands().stream()
                .anyMatch(command -> command.getLocksList().contains(node));
    }
}

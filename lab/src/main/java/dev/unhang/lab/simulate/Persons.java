package dev.unhang.lab.simulate;

import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.StateValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * People: they pause and resume, approve and deny, take and give back, drain by hand, set maintenance and dismiss, at
 * random, sometimes twice. They see what {@code unhang.state} holds. Confined to one thread.
 */
final class Persons {

    private final Agenda agenda;
    private final Chance chance;
    private final Trail trail;
    private final SimulatedKafka kafka;
    private final World world;
    private final Scheduler scheduler;
    private int decisions;
    private boolean paused;
    private boolean quiet;
    private final List<String> taken = new ArrayList<>();

    Persons(Agenda agenda, Chance chance, Trail trail, SimulatedKafka kafka, World world, Scheduler scheduler) {
        this.agenda = agenda;
        this.chance = chance;
        this.trail = trail;
        this.kafka = kafka;
        this.world = world;
        this.scheduler = scheduler;
        agenda.after(chance.seconds(5, 20), this::act);
        agenda.after(chance.seconds(3, 6), this::answer);
    }

    /** They end what they began, but for what they mean to keep. */
    void quiet() {
        quiet = true;
        if (paused && chance.perMille(900)) {
            paused = false;
            decide("resume", "", 0);
        }
        for (String node : List.copyOf(taken)) {
            if (chance.perMille(700)) {
                taken.remove(node);
                decide("give", node, 0);
            }
        }
    }

    private void act() {
        if (quiet) {
            return;
        }
        agenda.after(chance.seconds(5, 40), this::act);
        Machine machine = chance.of(world.machines);
        switch (chance.between(0, 8)) {
            case 0 -> {
                paused = true;
                decide("pause", "", 0);
                agenda.after(chance.seconds(5, 40), () -> {
                    if (paused && !quiet) {
                        paused = false;
                        decide("resume", "", 0);
                    }
                });
            }
            case 1 -> {
                taken.add(machine.name);
                decide("take", machine.name, 0);
            }
            case 2 -> {
                if (!taken.isEmpty()) {
                    decide("give", taken.remove(0), 0);
                }
            }
            case 3 -> decide("maintenance", machine.name, chance.between(10, 120) * 1000L);
            case 4 -> {
                List<Incident> open = incidents(false);
                if (!open.isEmpty()) {
                    decide("dismiss", chance.of(open).getId(), 0);
                }
            }
            case 5, 6 -> drain(machine);
            default -> {
                List<String> drained = List.copyOf(world.drained.keySet());
                if (!drained.isEmpty()) {
                    drain(java.util.Objects.requireNonNull(world.machine(chance.of(drained))));
                }
            }
        }
    }

    /** A node is about to be given back: now and then somebody drains it by hand in that very moment. */
    void onUndrain(String node, boolean surely) {
        Machine machine = world.machine(node);
        if (machine != null && (surely || chance.perMille(250))) {
            agenda.after(chance.seconds(0, 0.5), () -> {
                trail.note("a person drains " + node + " in the moment when it is to be given back");
                world.drained.put(node, new World.Drained("ann", "disk swap"));
                scheduler.changed(node);
            });
        }
    }

    /** By hand, at the scheduler; also over what the healer wrote. Or what was drained by hand is given back. */
    private void drain(Machine machine) {
        World.Drained before = world.drained.get(machine.name);
        if (before != null && !before.who().equals(World.HEALER) && chance.perMille(300)) {
            trail.note("a person gives " + machine.name + " back to the scheduler");
            world.drained.remove(machine.name);
        } else {
            trail.note("a person drains " + machine.name);
            world.drained.put(machine.name, new World.Drained("ann", "disk swap " + chance.between(1, 99)));
        }
        scheduler.changed(machine.name);
    }

    private void answer() {
        agenda.after(chance.seconds(5, 20), this::answer);
        for (Incident waiting : incidents(true)) {
            int what = chance.between(0, 9);
            if (what < 6 || quiet) {
                decide("approve", waiting.getId(), 0);
            } else if (what < 7) {
                decide("deny", waiting.getId(), 0);
            }
        }
    }

    private List<Incident> incidents(boolean waiting) {
        List<Incident> found = new ArrayList<>();
        for (Map.Entry<String, StateValue> each : new TreeMap<>(kafka.state()).entrySet()) {
            if (each.getValue().hasIncident()) {
                Incident incident = each.getValue().getIncident();
                boolean waits = incident.getState() == IncidentState.INCIDENT_AWAITING_APPROVAL;
                boolean closed = incident.getState() == IncidentState.INCIDENT_RESOLVED
                        || incident.getState() == IncidentState.INCIDENT_DISMISSED;
                if (waiting ? waits : !closed) {
                    found.add(incident);
                }
            }
        }
        return found;
    }

    private void decide(String verb, String target, long forMs) {
        if (!kafka.up()) {
            return;
        }
        trail.note("a person says " + verb + " " + target);
        OperatorDecision decision = OperatorDecision.newBuilder()
                .setId("d-" + ++decisions)
                .setWho("ann")
                .setWhy("so it is")
                .setVerb(verb)
                .setTarget(target)
                .setForMs(forMs)
                .build();
        kafka.inbox.append("", decision);
        if (chance.perMille(200)) {
            agenda.after(chance.seconds(0.1, 5), () -> {
                if (kafka.up()) {
                    kafka.inbox.append("", decision);
                }
            });
        }
    }
}

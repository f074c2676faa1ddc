package dev.unhang.lab.simulate;

import com.google.protobuf.Message;
import dev.unhang.events.v1.CommandState;
import dev.unhang.events.v1.Grant;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.StateChange;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.command.GrantSeal;
import dev.unhang.healer.journal.CommandRecords;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * One run of one seed: the real decider, detectors of jobs and actuators in a simulated cluster, and the nine rules
 * checked as each event becomes a fact. Things go wrong for some minutes; then all is quiet, and what was begun must end.
 * No thread, no clock, no broker: a seed gives the same run wherever it is run. Confined to the caller's thread.
 */
public final class Simulation {

    private static final String KEY_ID = "simulated";
    private static final long QUIET_AT_MOST_NS = 4_000 * Agenda.SECOND;
    /** What was drained is given back so long after its incident ended, at most. */
    private static final long STILL_NS = 45 * Agenda.SECOND;

    private static final long SETTLE_EVERY_NS = 20 * Agenda.SECOND;
    /** Of a small cluster's nodes: each partition that has some costs a record a second. */
    private static final int FEW_PARTITIONS = 4;

    private static final KeyPair TRUSTED = keys();
    private static final KeyPair FORGER = keys();

    private final Setup setup;
    private final Agenda agenda = new Agenda();
    private final Trail trail;
    private final SimulatedKafka kafka;
    private final World world;
    private final Chronicle chronicle = new Chronicle();
    private final Claims claims = new Claims();
    private final List<Rule> rules;
    private final Deciders deciders;
    private final Mishaps mishaps;
    private final Persons persons;
    private final Executors executors;
    private boolean over;
    private long turnedNs;

    private Simulation(Setup setup, int events) {
        this.setup = setup;
        Chance chance = new Chance(setup.seed());
        trail = new Trail(agenda, events);
        kafka = new SimulatedKafka(agenda);
        if (setup.plant() == Plant.TORN_STATE) {
            kafka.tearsState(chance);
        }
        world = new World(
                agenda,
                chance,
                trail,
                setup,
                name -> Math.floorMod(
                        name.hashCode(), setup.nodes() > 60 ? SimulatedKafka.PARTITIONS : FEW_PARTITIONS));
        rules = Rules.all(setup, world, kafka, chronicle, claims, agenda);
        kafka.watch(this::appended, this::committed);
        List<Detector> detectors = new ArrayList<>();
        for (int partition = 0; partition < SimulatedKafka.PARTITIONS; partition++) {
            int of = partition;
            List<Machine> machines = world.machines.stream()
                    .filter(machine -> machine.partition == of)
                    .toList();
            if (!machines.isEmpty()) {
                detectors.add(new Detector(
                        partition, machines, agenda, chance, kafka, setup.plant() == Plant.BELIEVES_RESULTS));
            }
        }
        Scheduler scheduler = new Scheduler(agenda, chance, kafka, world);
        world.watch(
                attempt -> check(rule -> rule.started(attempt)),
                attempt -> check(rule -> rule.ended(attempt)),
                scheduler::changed);
        executors = new Executors(
                agenda,
                chance,
                trail,
                kafka,
                world,
                claims,
                Map.of(KEY_ID, TRUSTED.getPublic()),
                setup.plant(),
                chronicle::entries);
        deciders = new Deciders(agenda, chance, trail, kafka, Policies.of(setup), Simulation::records, setup.plant());
        persons = new Persons(agenda, chance, trail, kafka, world, scheduler);
        Adversary adversary = new Adversary(chance, trail, kafka, world, FORGER.getPrivate(), KEY_ID);
        mishaps = new Mishaps(setup, agenda, chance, trail, kafka, world, deciders, detectors, executors, adversary);
        agenda.after(Agenda.SECOND, this::look);
        agenda.after(setup.restlessSeconds() * Agenda.SECOND, this::quiet);
    }

    /** Runs one seed. */
    public static Outcome run(Setup setup) {
        return run(setup, Trail.KEPT);
    }

    static Outcome run(Setup setup, int events) {
        Simulation simulation = new Simulation(setup, events);
        int rule = 0;
        String how = "";
        try {
            simulation.toItsEnd();
        } catch (BrokenRule e) {
            rule = e.rule();
            how = String.valueOf(e.getMessage());
        } catch (RuntimeException e) {
            how = e + " at " + List.of(e.getStackTrace()).subList(0, Math.min(8, e.getStackTrace().length));
        }
        return simulation.outcome(rule, how);
    }

    private void toItsEnd() {
        while (!over && agenda.step()) {
            // Each event checks the rules itself, as it becomes a fact.
        }
        for (Rule rule : rules) {
            checked(rule, Rule::atEnd);
        }
    }

    private void look() {
        world.look();
        agenda.after(Agenda.SECOND, this::look);
    }

    private void quiet() {
        trail.note("all is quiet from here on");
        world.quiet();
        mishaps.quiet();
        persons.quiet();
        agenda.after(QUIET_AT_MOST_NS, () -> over = true);
        agenda.after(150 * Agenda.SECOND, this::settled);
    }

    /** Ends early when nothing is open any more. */
    private void settled() {
        boolean open = !world.running().isEmpty()
                || chronicle.incidents().values().stream().anyMatch(incident -> switch (incident.getState()) {
                    case INCIDENT_RESOLVED, INCIDENT_DISMISSED -> false;
                    case INCIDENT_ESCALATED, INCIDENT_HELD -> incident.hasWellSinceLogMs();
                    default -> true;
                })
                || chronicle.commands().values().stream()
                        .map(story -> story.get(story.size() - 1).command().getState())
                        .anyMatch(state ->
                                state == CommandState.COMMAND_OFFERED || state == CommandState.COMMAND_GRANTED);
        over |= !open && agenda.nowNs() - turnedNs > STILL_NS;
        agenda.after(SETTLE_EVERY_NS, this::settled);
    }

    private void appended(SimulatedKafka.Log log, SimulatedKafka.Appended record) {
        if (record.message() instanceof Offer offer && offer.getAction().equals(Action.UNDRAIN.label())) {
            persons.onUndrain(offer.getParametersOrDefault("node", ""), setup.plant() == Plant.UNDRAINS_ALL);
        }
        check(rule -> rule.appended(log, record));
    }

    private void committed(SimulatedKafka.Committed step) {
        chronicle.take(step.entries());
        for (JournalEntry entry : step.entries()) {
            if (entry.getFrom() != entry.getTo()) {
                turnedNs = agenda.nowNs();
            }
            for (StateChange change : entry.getChangesList()) {
                if (change.hasValue()
                        && change.getValue().hasCommand()
                        && change.getValue().getCommand().getState() == CommandState.COMMAND_GRANTED) {
                    Grant grant = change.getValue().getCommand().getGrant();
                    claims.committed(grant.getCommandId(), grant.getNonce(), grant.getEpoch());
                }
            }
        }
        check(rule -> rule.committed(step));
    }

    private void check(Consumer<Rule> fact) {
        rules.forEach(rule -> checked(rule, fact));
    }

    /** With a planted fault only the rule that it is for counts. */
    private void checked(Rule rule, Consumer<Rule> fact) {
        try {
            fact.accept(rule);
        } catch (BrokenRule e) {
            if (setup.plant() == Plant.NONE || setup.plant().rule() == e.rule()) {
                throw e;
            }
        }
    }

    /** What the live journal writer sends with an entry, sealed as it does. */
    private static List<SimulatedKafka.CommandRecord> records(JournalEntry entry) {
        List<SimulatedKafka.CommandRecord> records = new ArrayList<>();
        for (CommandRecords.Outgoing each : CommandRecords.of(entry)) {
            Message message = each.message() instanceof Grant grant
                    ? GrantSeal.sign(grant, TRUSTED.getPrivate(), KEY_ID)
                    : each.message();
            records.add(new SimulatedKafka.CommandRecord(each.key(), message));
        }
        return records;
    }

    private Outcome outcome(int rule, String how) {
        return new Outcome(
                setup,
                rule,
                how,
                trail.lines(),
                begun(),
                kafka.inbox.end(),
                kafka.journal.size(),
                chronicle.incidents().size(),
                agenda.nowNs() / 1e9,
                digest());
    }

    private Map<String, Integer> begun() {
        Map<String, Integer> begun = new TreeMap<>();
        world.attempts.forEach(attempt -> begun.merge(attempt.action.label(), 1, Integer::sum));
        return begun;
    }

    private String digest() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (JournalEntry entry : kafka.journal) {
                digest.update(SimulatedKafka.bytes(entry).toByteArray());
            }
            return HexFormat.of().formatHex(digest.digest(), 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static KeyPair keys() {
        try {
            return KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has Ed25519", e);
        }
    }
}

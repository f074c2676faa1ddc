package dev.unhang.lab.simulate;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.Command;
import dev.unhang.events.v1.CommandState;
import dev.unhang.events.v1.GuardAnswer;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.StateChange;
import dev.unhang.events.v1.StateValue;
import dev.unhang.healer.command.Action;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The nine rules of docs/design.md, each a checker of its own. */
final class Rules {

    private static final Set<CommandState> ENDS = EnumSet.of(
            CommandState.COMMAND_DONE,
            CommandState.COMMAND_FAILED,
            CommandState.COMMAND_TIMED_OUT,
            CommandState.COMMAND_INTERRUPTED,
            CommandState.COMMAND_WITHDRAWN);

    /** Looks at the ranks of one incident while it is suspected; docs/healing.md. */
    private static final int MOST_LOOKS = 40;

    private Rules() {}

    /** A look at the ranks of a suspected hang is no step of a ladder. */
    private static boolean besideLadder(Command command) {
        return command.getOffer().getAction().equals(Action.LOOK.label())
                && command.getId().startsWith(command.getIncident() + "-look-");
    }

    static List<Rule> all(
            Setup setup, World world, SimulatedKafka kafka, Chronicle chronicle, Claims claims, Agenda agenda) {
        return List.of(
                new BlastRadius(setup, world),
                new OneAtATime(world),
                new DecidedBefore(chronicle),
                new NeverTwice(claims),
                new EndsAndIsVerified(world, chronicle, agenda),
                new NothingWhileStopped(kafka, chronicle),
                new PlaybooksEnd(setup, world, chronicle),
                new JournalIsState(kafka),
                new PeopleStay(world, chronicle));
    }

    /** 1: never more nodes under node actions than allowed, by cluster, rack and job; never more jobs. */
    private static final class BlastRadius extends Rule {
        private final Setup setup;
        private final World world;

        BlastRadius(Setup setup, World world) {
            super(1);
            this.setup = setup;
            this.world = world;
        }

        @Override
        void started(Attempt attempt) {
            if (attempt.action.harm() == Action.Harm.JOB) {
                Set<String> jobs = world.running().stream()
                        .filter(other -> other.action.harm() == Action.Harm.JOB)
                        .map(other -> other.job)
                        .collect(Collectors.toCollection(TreeSet::new));
                require(
                        jobs.size() <= setup.jobsAtMost(),
                        attempt + " starts, and so job actions run on " + jobs + ": at most " + setup.jobsAtMost());
            } else if (attempt.action.harm() == Action.Harm.NODE) {
                nodes(attempt);
            }
        }

        private void nodes(Attempt attempt) {
            Set<String> under = new TreeSet<>();
            world.drained.forEach((node, drained) -> {
                if (drained.who().equals(World.HEALER)) {
                    under.add(node);
                }
            });
            if (under.containsAll(attempt.touches)) {
                return; // what is out of service already loses nothing more
            }
            for (Attempt other : world.running()) {
                if (other.action.harm() == Action.Harm.NODE) {
                    under.addAll(other.touches);
                }
            }
            within(attempt, "the cluster", under.size(), world.machines.size(), under);
            for (String node : attempt.touches) {
                Machine machine = world.machine(node);
                if (machine == null) {
                    continue;
                }
                within(
                        attempt,
                        machine.rack,
                        count(under, other -> other.rack.equals(machine.rack)),
                        (int) world.machines.stream()
                                .filter(other -> other.rack.equals(machine.rack))
                                .count(),
                        under);
                Training job = machine.job;
                if (job != null && !job.gone()) {
                    within(attempt, job.name, count(under, other -> other.job == job), job.nodes.size(), under);
                }
            }
        }

        private int count(Set<String> under, java.util.function.Predicate<Machine> of) {
            return (int) under.stream()
                    .map(world::machine)
                    .filter(machine -> machine != null && of.test(machine))
                    .count();
        }

        private void within(Attempt attempt, String where, int under, int known, Set<String> nodes) {
            require(
                    under <= setup.mostNodes(known),
                    attempt + " starts, and so " + under + " nodes of " + where + " are under repair: at most "
                            + setup.mostNodes(known) + " of " + known + "; all under repair: " + nodes);
        }
    }

    /** 2: never two actions on one node at once. */
    private static final class OneAtATime extends Rule {
        private final World world;

        OneAtATime(World world) {
            super(2);
            this.world = world;
        }

        @Override
        void started(Attempt attempt) {
            for (Attempt other : world.running()) {
                require(
                        other == attempt || Collections.disjoint(other.touches, attempt.touches),
                        attempt + " starts while " + other + " runs, on " + attempt.touches);
            }
        }
    }

    /** 3: no action without incident, decision and guards' answers in the journal before it; asked again for the grant. */
    private static final class DecidedBefore extends Rule {
        private static final Set<String> ASKED =
                Set.of("pause", "taken", "maintenance", "blind", "freshness", "one-action", "mode");
        private static final Set<String> ASKED_OF_HARM =
                Set.of("attempts", "cooldown", "blast-radius", "circuit-breaker");

        private final Chronicle chronicle;

        DecidedBefore(Chronicle chronicle) {
            super(3);
            this.chronicle = chronicle;
        }

        @Override
        void started(Attempt attempt) {
            Chronicle.Page offered = chronicle.first(attempt.command, CommandState.COMMAND_OFFERED);
            Chronicle.Page granted = chronicle.first(attempt.command, CommandState.COMMAND_GRANTED);
            if (offered == null || granted == null) {
                require(false, attempt + " starts, and the journal has no " + (offered == null ? "offer" : "grant"));
                return;
            }
            Command command = granted.command();
            require(
                    command.getOffer().getNode().equals(attempt.node)
                            && command.getOffer().getAction().equals(attempt.action.label())
                            && command.getOffer().getParametersMap().equals(attempt.parameters),
                    attempt + " with " + attempt.parameters + " is not what was granted: " + command.getOffer());
            boolean gives = attempt.action == Action.UNDRAIN;
            boolean looks = besideLadder(command);
            if (!gives) {
                answered(attempt, "offered", offered.entry());
            }
            answered(attempt, "granted", granted.entry());
            IncidentState decided = gives
                    ? IncidentState.INCIDENT_RESOLVED
                    : looks ? IncidentState.INCIDENT_SUSPECTED : IncidentState.INCIDENT_ACTING;
            boolean acting = chronicle.turns(command.getIncident()).stream()
                    .anyMatch(turn -> turn.at() <= offered.at() && turn.to() == decided);
            require(
                    acting,
                    attempt + " starts, and no incident in the journal decided on it: " + command.getIncident());
        }

        private void answered(Attempt attempt, String when, JournalEntry entry) {
            Set<String> yes = new HashSet<>();
            for (GuardAnswer answer : entry.getGuardsList()) {
                require(
                        answer.getAllowed(),
                        attempt + " starts, and when it was " + when + " guard " + answer.getGuard() + " said: "
                                + answer.getReason());
                yes.add(answer.getGuard());
            }
            Set<String> wanted = new TreeSet<>(ASKED);
            if (attempt.action.harm() != Action.Harm.NONE) {
                wanted.addAll(ASKED_OF_HARM);
            }
            wanted.removeAll(yes);
            require(wanted.isEmpty(), attempt + " starts, and when it was " + when + " nobody asked " + wanted);
        }
    }

    /** 4: no command runs twice; nothing stale, forged, replayed or of an old epoch runs. */
    private static final class NeverTwice extends Rule {
        private static final long FRESH_NS = 5 * Agenda.SECOND;

        private final Claims claims;
        private final Set<String> started = new HashSet<>();
        private final Set<ByteString> used = new HashSet<>();

        NeverTwice(Claims claims) {
            super(4);
            this.claims = claims;
        }

        @Override
        void started(Attempt attempt) {
            require(started.add(attempt.command), attempt + " starts a second time");
            require(used.add(attempt.nonce), attempt + " starts by a nonce that was used before");
            Claims.Made claim = claims.of(attempt.nonce);
            if (claim == null) {
                require(false, attempt + " starts by a grant whose nonce nobody has claimed with");
                return;
            }
            require(
                    claim.command().equals(attempt.command)
                            && claim.node().equals(attempt.node)
                            && claim.startId().equals(attempt.startId),
                    attempt + " starts by the nonce of another claim: " + claim);
            long ageNs = attempt.startedNs - claim.atNs();
            require(ageNs <= FRESH_NS, attempt + " starts " + ageNs / Agenda.MS + " ms after its claim");
            require(
                    claims.granted(attempt.command, attempt.nonce, attempt.epoch),
                    attempt + " starts by a grant that no decider has committed");
            require(
                    attempt.epoch >= claims.epochRead(attempt.startId),
                    attempt + " starts with epoch " + attempt.epoch + ", and epoch " + claims.epochRead(attempt.startId)
                            + " was read there before");
        }
    }

    /** 5: every started action ends, and is verified by the signal that opened the incident. */
    private static final class EndsAndIsVerified extends Rule {
        /** A signal is well for 60 s of log time, which may run ahead by some jumps of two seconds. */
        private static final long ILL_NS = 45 * Agenda.SECOND;

        private final World world;
        private final Chronicle chronicle;
        private final Signals signals;

        EndsAndIsVerified(World world, Chronicle chronicle, Agenda agenda) {
            super(5);
            this.world = world;
            this.chronicle = chronicle;
            this.signals = new Signals(world, agenda);
        }

        @Override
        void started(Attempt attempt) {
            signals.look();
        }

        @Override
        void ended(Attempt attempt) {
            signals.look();
        }

        @Override
        void committed(SimulatedKafka.Committed step) {
            signals.look();
            for (JournalEntry entry : step.entries()) {
                for (StateChange change : entry.getChangesList()) {
                    if (change.hasValue() && change.getValue().hasCommand()) {
                        ended(change.getValue().getCommand(), entry);
                    }
                }
                boolean resolves = entry.getTo() == IncidentState.INCIDENT_RESOLVED
                        && entry.getFrom() != IncidentState.INCIDENT_RESOLVED;
                Incident incident = chronicle.incident(entry.getIncident());
                if (resolves && incident != null) {
                    long ill = signals.illNs(incident.getKind(), incident.getSubject());
                    require(
                            ill < ILL_NS,
                            incident.getId() + " is resolved, and " + incident.getSubject() + " has truly been ill for "
                                    + ill / Agenda.SECOND + " s");
                    require(
                            entry.getFrom() != IncidentState.INCIDENT_ACTING,
                            incident.getId() + " is resolved without verification");
                }
            }
        }

        private void ended(Command command, JournalEntry entry) {
            boolean said = command.getState() == CommandState.COMMAND_DONE
                    || (command.getState() == CommandState.COMMAND_INTERRUPTED
                            && entry.getWho().isEmpty());
            for (Attempt attempt : said ? world.running() : List.<Attempt>of()) {
                require(
                        !attempt.command.equals(command.getId()),
                        attempt + " is " + command.getState() + " in the journal and still runs");
            }
            if (command.getState() == CommandState.COMMAND_DONE) {
                require(
                        command.getResult().getEnd() == ActionEnd.ACTION_DONE,
                        command.getId() + " is done without a result that says so");
            }
        }

        @Override
        void atEnd() {
            for (Attempt attempt : world.attempts) {
                Command command = chronicle.last(attempt.command);
                require(
                        command != null && ENDS.contains(command.getState()),
                        attempt + " has started and never ended in the journal: "
                                + (command == null ? "no command" : command.getState()));
                if (command == null || attempt.action == Action.UNDRAIN || besideLadder(command)) {
                    continue;
                }
                boolean verified = chronicle.turns(command.getIncident()).stream()
                        .anyMatch(turn -> turn.to() == IncidentState.INCIDENT_VERIFYING);
                require(verified, attempt + " has ended and was never verified");
            }
        }
    }

    /** 6: while blind, paused, in maintenance, taken, or with an open breaker nothing new is granted. */
    private static final class NothingWhileStopped extends Rule {
        private final Heard heard;
        private final Chronicle chronicle;
        private final Set<String> granted = new HashSet<>();
        private final Map<String, OwnBreaker> breakers = new HashMap<>();

        NothingWhileStopped(SimulatedKafka kafka, Chronicle chronicle) {
            super(6);
            this.heard = new Heard(kafka.inbox);
            this.chronicle = chronicle;
        }

        @Override
        void committed(SimulatedKafka.Committed step) {
            for (JournalEntry entry : step.entries()) {
                heard.readTo(entry.getInboxOffset());
                for (StateChange change : entry.getChangesList()) {
                    if (change.hasValue() && change.getValue().hasCommand()) {
                        Command command = change.getValue().getCommand();
                        if (command.getState() == CommandState.COMMAND_GRANTED && granted.add(command.getId())) {
                            judge(command);
                        }
                    }
                }
                for (StateChange change : entry.getChangesList()) {
                    if (change.hasValue() && change.getValue().hasBreaker()) {
                        String name = change.getValue().getBreaker().getName();
                        breakers.computeIfAbsent(name, OwnBreaker::new)
                                .take(change.getValue().getBreaker());
                    }
                }
            }
        }

        private void judge(Command command) {
            String what = command.getId() + " (" + command.getOffer().getAction() + ") is granted ";
            boolean gives = command.getOffer().getAction().equals(Action.UNDRAIN.label());
            require(gives || !heard.paused(), what + "while paused");
            for (String node : command.getLocksList()) {
                require(gives || !heard.taken(node), what + "while a person has taken " + node);
                require(gives || !heard.inMaintenance(node), what + "while " + node + " is in maintenance");
                require(heard.covered(node), what + "while nobody covers " + node);
            }
            boolean harms = Action.named(command.getOffer().getAction())
                    .map(action -> action.harm() != Action.Harm.NONE)
                    .orElse(true);
            if (harms) {
                List<String> names = new ArrayList<>(List.of(command.getOffer().getAction()));
                command.getLocksList()
                        .forEach(node -> names.add(command.getOffer().getAction() + '@' + node));
                for (String name : names) {
                    OwnBreaker breaker = breakers.get(name);
                    require(
                            breaker == null || !breaker.open(heard.logMs()),
                            what + "while the breaker of " + name + " is open");
                }
            }
        }

        @Override
        void atEnd() {
            for (Incident incident : chronicle.incidents().values()) {
                boolean open = switch (incident.getState()) {
                    case INCIDENT_HELD, INCIDENT_AWAITING_APPROVAL, INCIDENT_CONFIRMED, INCIDENT_ESCALATED -> true;
                    default -> false;
                };
                require(
                        !open
                                || !incident.hasWellSinceLogMs()
                                || heard.logMs() - incident.getWellSinceLogMs() < 150_000,
                        incident.getId() + " is well and covered for long, and not resolved: recoveries do not flow");
            }
        }
    }

    /** 7: a playbook ends: attempts are capped per incident, step, node and day, job and day; then a person is called, once. */
    private static final class PlaybooksEnd extends Rule {
        private final Setup setup;
        private final World world;
        private final Chronicle chronicle;
        private final Map<String, Integer> tried = new HashMap<>();
        private final Map<String, Integer> called = new HashMap<>();

        PlaybooksEnd(Setup setup, World world, Chronicle chronicle) {
            super(7);
            this.setup = setup;
            this.world = world;
            this.chronicle = chronicle;
        }

        @Override
        void started(Attempt attempt) {
            Command command = chronicle.last(attempt.command);
            if (command == null) {
                return; // rule 3
            }
            String incident = command.getIncident();
            if (attempt.action != Action.UNDRAIN) {
                require(
                        called.getOrDefault(incident, 0) == 0,
                        attempt + " starts after a person was called for " + incident);
                boolean looks = besideLadder(command);
                count(
                        attempt,
                        incident + (looks ? " looks" : " " + attempt.action.label()),
                        looks ? MOST_LOOKS : setup.attemptsARung());
            }
            if (attempt.action.harm() == Action.Harm.NONE) {
                return;
            }
            count(attempt, incident, setup.perIncident());
            if (attempt.action.scope() == Action.Scope.JOB) {
                count(attempt, "job " + attempt.job, setup.perJobADay());
            } else {
                attempt.touches.forEach(node -> count(attempt, "node " + node, setup.perNodeADay()));
            }
        }

        private void count(Attempt attempt, String of, int most) {
            int now = tried.merge(of, 1, Integer::sum);
            require(now <= most, attempt + " is attempt " + now + " of " + of + ": at most " + most);
        }

        @Override
        void committed(SimulatedKafka.Committed step) {
            for (JournalEntry entry : step.entries()) {
                if (entry.getTo() == IncidentState.INCIDENT_ESCALATED && entry.getFrom() != entry.getTo()) {
                    int times = called.merge(entry.getIncident(), 1, Integer::sum);
                    require(times == 1, "a person is called " + times + " times for " + entry.getIncident());
                }
            }
        }

        @Override
        void atEnd() {
            for (Incident incident : chronicle.incidents().values()) {
                boolean ended = switch (incident.getState()) {
                    case INCIDENT_RESOLVED, INCIDENT_DISMISSED, INCIDENT_ESCALATED -> true;
                    case INCIDENT_HELD -> !incident.getHeldReason().isEmpty();
                    case INCIDENT_AWAITING_APPROVAL -> true;
                    default -> false;
                };
                require(ended, incident.getId() + " on " + incident.getSubject() + " stays " + incident.getState());
            }
            chronicle.commands().forEach((id, story) -> {
                Command command = story.get(story.size() - 1).command();
                require(ENDS.contains(command.getState()), "command " + id + " stays " + command.getState());
            });
            require(world.running().isEmpty(), "some actions never end: " + world.running());
        }
    }

    /** 8: applying the journal gives what the state holds, byte for byte; and the journal has each inbox record once. */
    private static final class JournalIsState extends Rule {
        private final SimulatedKafka kafka;
        private final Map<String, ByteString> applied = new HashMap<>();
        private long lastOffset = -1;
        private int lastIndex;

        JournalIsState(SimulatedKafka kafka) {
            super(8);
            this.kafka = kafka;
        }

        @Override
        void committed(SimulatedKafka.Committed step) {
            Set<String> changed = new TreeSet<>();
            for (JournalEntry entry : step.entries()) {
                boolean sameRecord = entry.getInboxOffset() == lastOffset;
                require(
                        entry.getInboxOffset() > lastOffset
                                ? entry.getIndex() == 0
                                : sameRecord && entry.getIndex() == lastIndex + 1,
                        "entry " + entry.getIndex() + " of inbox record " + entry.getInboxOffset() + " follows entry "
                                + lastIndex + " of " + lastOffset);
                lastOffset = entry.getInboxOffset();
                lastIndex = entry.getIndex();
                for (StateChange change : entry.getChangesList()) {
                    changed.add(change.getKey());
                    if (change.hasValue()) {
                        applied.put(change.getKey(), SimulatedKafka.bytes(change.getValue()));
                    } else {
                        applied.remove(change.getKey());
                    }
                }
            }
            require(
                    step.position().getInboxOffset() > lastOffset,
                    "the position is " + step.position().getInboxOffset() + " and the journal is at " + lastOffset);
            for (String key : changed) {
                same(key);
            }
        }

        private void same(String key) {
            ByteString held = kafka.stateBytes().get(key);
            ByteString made = applied.get(key);
            require(
                    held == null ? made == null : held.equals(made),
                    "under " + key + " the state holds other bytes than the journal gives");
        }

        @Override
        void atEnd() {
            Set<String> keys = new TreeSet<>(kafka.stateBytes().keySet());
            keys.remove("position");
            require(keys.equals(new TreeSet<>(applied.keySet())), "the state has other keys than the journal gives");
            keys.forEach(this::same);
        }
    }

    /** 9: what a person did is never undone. */
    private static final class PeopleStay extends Rule {
        private final World world;
        private final Chronicle chronicle;
        private final Map<String, StateValue> held = new HashMap<>();

        PeopleStay(World world, Chronicle chronicle) {
            super(9);
            this.world = world;
            this.chronicle = chronicle;
        }

        @Override
        void started(Attempt attempt) {
            String node = attempt.parameters.getOrDefault("node", "");
            World.Drained drained = world.drained.get(node);
            if (attempt.action == Action.UNDRAIN && drained != null) {
                require(
                        drained.who().equals(World.HEALER) && drained.reason().equals(attempt.parameters.get("reason")),
                        attempt + " gives back " + node + ", which " + drained.who() + " drained: " + drained.reason());
            }
            if (attempt.action == Action.DRAIN && drained != null) {
                require(
                        drained.who().equals(World.HEALER),
                        attempt + " drains " + node + ", which " + drained.who() + " drained: " + drained.reason());
            }
            Command command = chronicle.last(attempt.command);
            Incident incident = command == null ? null : chronicle.incident(command.getIncident());
            require(
                    incident == null
                            || incident.getState() != IncidentState.INCIDENT_DISMISSED
                            || (command != null && besideLadder(command) && grantedBeforeDismissal(command)),
                    attempt + " starts for an incident that a person dismissed");
        }

        /** Its grant was on the way when the person spoke; a look only reads, so nobody waits for it. */
        private boolean grantedBeforeDismissal(Command command) {
            Chronicle.Page granted = chronicle.first(command.getId(), CommandState.COMMAND_GRANTED);
            return granted != null
                    && chronicle.turns(command.getIncident()).stream()
                            .noneMatch(
                                    turn -> turn.to() == IncidentState.INCIDENT_DISMISSED && turn.at() < granted.at());
        }

        @Override
        void committed(SimulatedKafka.Committed step) {
            for (JournalEntry entry : step.entries()) {
                require(
                        entry.getFrom() != IncidentState.INCIDENT_DISMISSED
                                || entry.getTo() == IncidentState.INCIDENT_DISMISSED,
                        entry.getIncident() + " was dismissed by a person and goes on: " + entry.getSentence());
                for (StateChange change : entry.getChangesList()) {
                    if (change.hasValue()) {
                        StateValue before = held.put(change.getKey(), change.getValue());
                        require(
                                !entry.getDecision().isEmpty()
                                        || persons(before).equals(persons(change.getValue())),
                                change.getKey() + " changes what a person set, and no person said so: "
                                        + entry.getSentence());
                    }
                }
            }
        }

        private static String persons(@org.jspecify.annotations.Nullable StateValue value) {
            if (value == null) {
                return "";
            }
            if (value.hasPause()) {
                return value.getPause().getPaused() ? "paused" : "";
            }
            if (!value.hasNode()) {
                return "";
            }
            String until = value.getNode().hasMaintenanceUntilLogMs()
                    ? " until " + value.getNode().getMaintenanceUntilLogMs()
                    : "";
            return value.getNode().getTakenBy() + until;
        }
    }
}

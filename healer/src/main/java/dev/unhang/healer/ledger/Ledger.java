package dev.unhang.healer.ledger;

import dev.unhang.events.v1.Actuator;
import dev.unhang.events.v1.BreakerState;
import dev.unhang.events.v1.Command;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.FleetState;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JobState;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.PauseSwitch;
import dev.unhang.events.v1.Silence;
import dev.unhang.events.v1.StateChange;
import dev.unhang.events.v1.StateValue;
import dev.unhang.healer.incident.Kinds;
import dev.unhang.healer.incident.Transitions;
import dev.unhang.healer.incident.Voices;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * All that was decided and still counts: the map that {@code unhang.state} holds, with a few indexes over it. Only
 * {@link #apply} and {@link #put} change it, live, after a take-over and in a replay alike. The key {@code position} is
 * the log's bookmark and no decision, so it never comes in here. Confined to one thread.
 */
public final class Ledger {

    public static final String POSITION = "position";
    public static final String PAUSE = "switch/pause";
    private static final String INCIDENT = "incident/";
    private static final String NODE = "node/";
    public static final String JOB = "job/";
    public static final String FLEET = "fleet";
    private static final String COMMAND = "command/";
    private static final String ACTUATOR = "actuator/";
    private static final String BREAKER = "breaker/";
    private static final String SILENCE = "silence/";

    private final Map<String, StateValue> values = new HashMap<>();
    private final TreeMap<String, Incident> open = new TreeMap<>();
    private final TreeMap<String, Incident> closed = new TreeMap<>();
    private final Map<String, String> openBySlot = new HashMap<>();
    private final Map<String, String> muted = new HashMap<>();
    private final Map<String, NodeState> nodes = new HashMap<>();
    private final TreeMap<Integer, Integer> nodesByPartition = new TreeMap<>();
    private final TreeMap<String, Command> commands = new TreeMap<>();
    private final TreeMap<String, Command> unreleased = new TreeMap<>();
    private final TreeMap<String, Silence> silences = new TreeMap<>();
    private final TreeMap<String, NodeState> drainedByUs = new TreeMap<>();
    private final Map<String, Integer> nodesByLabel = new HashMap<>();

    public static String incidentKey(String id) {
        return INCIDENT + id;
    }

    public static String jobKey(String job) {
        return JOB + job;
    }

    public static String nodeKey(String node) {
        return NODE + node;
    }

    public static String commandKey(String id) {
        return COMMAND + id;
    }

    public static String actuatorKey(String node) {
        return ACTUATOR + node;
    }

    public static String breakerKey(String name) {
        return BREAKER + name;
    }

    public static String silenceKey(String id) {
        return SILENCE + id;
    }

    /** Applies one line of the journal: each value is put as it is, an absent one is forgotten. */
    public void apply(JournalEntry entry) {
        for (StateChange change : entry.getChangesList()) {
            put(change.getKey(), change.hasValue() ? change.getValue() : null);
        }
    }

    /** Puts the whole value under a key; null forgets it. */
    public void put(String key, @Nullable StateValue value) {
        if (POSITION.equals(key)) {
            return;
        }
        StateValue before = value == null ? values.remove(key) : values.put(key, value);
        if (key.startsWith(INCIDENT)) {
            index(before == null ? null : before.getIncident(), value == null ? null : value.getIncident());
        } else if (key.startsWith(NODE)) {
            index(key, before == null ? null : before.getNode(), value == null ? null : value.getNode());
        } else if (key.startsWith(COMMAND)) {
            index(key.substring(COMMAND.length()), value == null ? null : value.getCommand());
        } else if (key.startsWith(SILENCE)) {
            silences.remove(key);
            if (value != null) {
                silences.put(key, value.getSilence());
            }
        }
    }

    /** The whole state but for the position. */
    public Map<String, StateValue> values() {
        return Collections.unmodifiableMap(values);
    }

    /** Open incidents, by id. */
    public Collection<Incident> openIncidents() {
        return Collections.unmodifiableCollection(open.values());
    }

    /** Closed incidents that are still kept, by id. */
    public Collection<Incident> closedIncidents() {
        return Collections.unmodifiableCollection(closed.values());
    }

    public @Nullable Incident incident(String id) {
        Incident found = open.get(id);
        return found == null ? closed.get(id) : found;
    }

    /** The one open incident about this, or null. */
    public @Nullable Incident openIn(String slot) {
        String id = openBySlot.get(slot);
        return id == null ? null : open.get(id);
    }

    /** The incident that a person dismissed while this voice said the same, and which it has not taken back since. */
    public @Nullable Incident mutedBy(Finding voice) {
        String id = muted.get(voiceKey(voice));
        return id == null ? null : closed.get(id);
    }

    public @Nullable NodeState node(String name) {
        return nodes.get(name);
    }

    /** All nodes, those that were forgotten included. */
    public Collection<NodeState> nodes() {
        return Collections.unmodifiableCollection(nodes.values());
    }

    /** Whether the node is known and nobody said that it is gone. */
    public boolean knows(String node) {
        NodeState state = nodes.get(node);
        return state != null && !state.getForgotten();
    }

    /** Telemetry partitions that have nodes, ascending. */
    public Set<Integer> partitions() {
        return Collections.unmodifiableSet(nodesByPartition.keySet());
    }

    public int nodesIn(int partition) {
        return nodesByPartition.getOrDefault(partition, 0);
    }

    public PauseSwitch pause() {
        StateValue value = values.get(PAUSE);
        return value == null ? PauseSwitch.getDefaultInstance() : value.getPause();
    }

    public @Nullable Command command(String id) {
        return commands.get(id);
    }

    /** All commands that are kept, by id. */
    public Collection<Command> commands() {
        return Collections.unmodifiableCollection(commands.values());
    }

    /** Commands that still hold their nodes, by id: what was offered or granted, what is being verified, what timed out. */
    public Collection<Command> unreleasedCommands() {
        return Collections.unmodifiableCollection(unreleased.values());
    }

    /** Nodes that a scheduler holds drained because of us, by name. */
    public Collection<NodeState> drainedByUs() {
        return Collections.unmodifiableCollection(drainedByUs.values());
    }

    /** How many nodes that are not forgotten bear this label. */
    public int nodesWith(String label, String value) {
        return nodesByLabel.getOrDefault(label + '=' + value, 0);
    }

    /** Who can act on a node, or null when nobody has said that he can. */
    public @Nullable Actuator actuator(String node) {
        StateValue value = values.get(actuatorKey(node));
        return value == null ? null : value.getActuator();
    }

    public JobState job(String name) {
        StateValue value = values.get(jobKey(name));
        return value == null ? JobState.newBuilder().setJob(name).build() : value.getJob();
    }

    public BreakerState breaker(String name) {
        StateValue value = values.get(breakerKey(name));
        return value == null ? BreakerState.newBuilder().setName(name).build() : value.getBreaker();
    }

    public Collection<Silence> silences() {
        return Collections.unmodifiableCollection(silences.values());
    }

    public FleetState fleet() {
        StateValue value = values.get(FLEET);
        return value == null ? FleetState.getDefaultInstance() : value.getFleet();
    }

    /** The day of log time, as the key of a count. */
    public static String day(long logMs) {
        return "day-" + logMs / (24 * 3_600_000L);
    }

    /** The most nodes that were known in the last day of log time. */
    public int mostNodes(long logMs) {
        long hour = logMs / 3_600_000L;
        int most = nodesKnown();
        for (Map.Entry<Long, Integer> each : fleet().getMostNodesByHourMap().entrySet()) {
            if (hour - each.getKey() < 24) {
                most = Math.max(most, each.getValue());
            }
        }
        return most;
    }

    /** How many nodes are known and not forgotten. */
    public int nodesKnown() {
        return nodesByPartition.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Under which a voice is known: what it speaks of, and who speaks. */
    public static String voiceKey(Finding voice) {
        return Kinds.name(voice.getKind())
                + ' '
                + voice.getSubject()
                + ' '
                + voice.getOrigin().getPartition();
    }

    private void index(@Nullable Incident before, @Nullable Incident after) {
        if (before != null) {
            open.remove(before.getId());
            closed.remove(before.getId());
            openBySlot.remove(Kinds.slot(before.getKind(), before.getSubject()), before.getId());
            Voices.standing(before).forEach(voice -> muted.remove(voiceKey(voice), before.getId()));
        }
        if (after == null) {
            return;
        }
        if (Transitions.open(after.getState())) {
            open.put(after.getId(), after);
            String other = openBySlot.put(Kinds.slot(after.getKind(), after.getSubject()), after.getId());
            if (other != null) {
                throw new IllegalStateException(
                        "two open incidents about one subject: " + other + " and " + after.getId());
            }
        } else {
            closed.put(after.getId(), after);
            if (after.getState() == IncidentState.INCIDENT_DISMISSED) {
                Voices.standing(after).forEach(voice -> muted.put(voiceKey(voice), after.getId()));
            }
        }
    }

    private void index(String id, @Nullable Command after) {
        commands.remove(id);
        unreleased.remove(id);
        if (after != null) {
            commands.put(id, after);
            if (!after.getReleased()) {
                unreleased.put(id, after);
            }
        }
    }

    private void index(String key, @Nullable NodeState before, @Nullable NodeState after) {
        String name = key.substring(NODE.length());
        if (before != null && !before.getForgotten()) {
            nodesByPartition.computeIfPresent(before.getPartition(), (p, count) -> count > 1 ? count - 1 : null);
            before.getLabelsMap()
                    .forEach((label, value) -> nodesByLabel.computeIfPresent(
                            label + '=' + value, (named, count) -> count > 1 ? count - 1 : null));
        }
        drainedByUs.remove(name);
        if (after == null) {
            nodes.remove(name);
            return;
        }
        nodes.put(name, after);
        if (!after.getForgotten()) {
            nodesByPartition.merge(after.getPartition(), 1, Integer::sum);
            after.getLabelsMap().forEach((label, text) -> nodesByLabel.merge(label + '=' + text, 1, Integer::sum));
        }
        if (!after.getScheduler().getOurs().isEmpty()) {
            drainedByUs.put(name, after);
        }
    }
}

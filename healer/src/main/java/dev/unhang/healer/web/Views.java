package dev.unhang.healer.web;

import com.google.protobuf.Message;
import dev.unhang.events.Topic;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.PauseSwitch;
import dev.unhang.events.v1.Position;
import dev.unhang.events.v1.StateValue;
import dev.unhang.events.v1.Watch;
import dev.unhang.healer.detect.LogTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What the log says now, for people to read: incidents, nodes, the pause switch and the decider's position from the
 * state, timelines from the journal, reports and covers from the inbox. Every instance can serve it, the decider or
 * not. One thread feeds it ({@link ViewsFollower}); any thread reads, without a lock, and gets immutable values.
 * Bounded by {@link Limits}: what is left out is counted, and open incidents are never left out.
 */
public final class Views {

    /** How much is kept in memory. */
    public record Limits(int nodes, int closedIncidents, int journalEntries) {
        /** For ten thousand nodes with room to spare; under 200 MiB when all is full. */
        public static final Limits USUAL = new Limits(50_000, 5_000, 20_000);
    }

    /** The inbox carries a pulse each second; when it is silent for this long nobody decides. */
    private static final long QUIET_NS = 5_000_000_000L;

    private final Limits limits;
    private final Map<String, Incident> incidents = new ConcurrentHashMap<>();
    private final Map<String, NodeState> nodeStates = new ConcurrentHashMap<>();
    private final Map<String, SeenNode> seen = new ConcurrentHashMap<>();
    private final Map<Integer, Cover> covers = new ConcurrentHashMap<>();
    private final Set<String> closedOldestFirst = new LinkedHashSet<>();
    private final Set<String> forgotten = new HashSet<>();
    private final Timelines timelines;
    private final Answers answers = new Answers();
    private volatile Position position = Position.getDefaultInstance();
    private volatile PauseSwitch pause = PauseSwitch.getDefaultInstance();
    private volatile @Nullable String unready = "the log has not been read yet";
    private volatile boolean everReady;
    private volatile long inboxLogMs;
    private volatile long inboxHeardNs;
    private final AtomicInteger nodesLeftOut = new AtomicInteger();
    private LogTime inboxTime = new LogTime();

    public Views(Limits limits) {
        this.limits = limits;
        this.timelines = new Timelines(limits.journalEntries());
    }

    // ---- fed by one thread

    /** One record of {@code unhang.state}; null is a tombstone. */
    public void onState(String key, @Nullable StateValue value) {
        int slash = key.indexOf('/');
        String family = slash < 0 ? key : key.substring(0, slash);
        String name = slash < 0 ? "" : key.substring(slash + 1);
        switch (family) {
            case "position" -> position = value == null ? Position.getDefaultInstance() : value.getPosition();
            case "switch" -> {
                if ("pause".equals(name)) {
                    pause = value == null ? PauseSwitch.getDefaultInstance() : value.getPause();
                }
            }
            case "incident" -> onIncident(name, value == null ? null : value.getIncident());
            case "node" -> onNode(name, value == null ? null : value.getNode());
            default -> {} // jobs, commands, breakers and silences are not shown yet
        }
    }

    public void onJournal(JournalEntry entry) {
        timelines.add(entry);
        answers.add(entry);
    }

    /** One record of {@code unhang.inbox}; {@code nowNs} is monotonic. */
    public void onInbox(Message message, long stampMs, long nowNs) {
        inboxLogMs = inboxTime.advance(stampMs);
        inboxHeardNs = nowNs;
        if (message instanceof NodeReport report) {
            onReport(report);
        } else if (message instanceof Covered covered) {
            Cover cover = Cover.of(covered, inboxLogMs);
            Cover before = covers.get(cover.partition());
            if (before == null || before.generation() <= cover.generation()) {
                covers.put(cover.partition(), cover);
            }
        }
    }

    /** The views show all that the log holds. */
    public void caughtUp(long nowNs) {
        if (unready != null) {
            inboxHeardNs = nowNs;
            unready = null;
        }
        everReady = true;
    }

    /** The views may be behind the log, and why. What was known is still served. */
    public void behind(String why) {
        unready = why;
    }

    /** Forgets all, to begin anew. */
    public void clear() {
        everReady = false;
        incidents.clear();
        nodeStates.clear();
        seen.clear();
        covers.clear();
        closedOldestFirst.clear();
        forgotten.clear();
        timelines.clear();
        answers.clear();
        position = Position.getDefaultInstance();
        pause = PauseSwitch.getDefaultInstance();
        inboxTime = new LogTime();
        inboxLogMs = 0;
        nodesLeftOut.set(0);
    }

    private void onIncident(String id, @Nullable Incident incident) {
        closedOldestFirst.remove(id);
        if (incident == null) {
            incidents.remove(id);
            return;
        }
        incidents.put(id, incident);
        if (!Words.open(incident)) {
            closedOldestFirst.add(id);
            if (closedOldestFirst.size() > limits.closedIncidents()) {
                String oldest = closedOldestFirst.iterator().next();
                closedOldestFirst.remove(oldest);
                incidents.remove(oldest);
            }
        }
    }

    private void onNode(String name, @Nullable NodeState state) {
        forgotten.remove(name);
        if (state == null || state.getForgotten()) {
            nodeStates.remove(name);
            seen.remove(name);
            if (state != null && forgotten.size() < limits.nodes()) {
                forgotten.add(name);
            }
        } else if (nodeStates.containsKey(name) || nodeStates.size() < limits.nodes()) {
            nodeStates.put(name, state);
        } else {
            nodesLeftOut.incrementAndGet();
        }
    }

    private void onReport(NodeReport report) {
        SeenNode now = SeenNode.of(report);
        if (now.watch() != Watch.WATCH_WATCHED && forgotten.contains(report.getNode())) {
            return; // the partition's owner goes on saying that it is silent; only when it speaks it is back
        }
        SeenNode before = seen.get(report.getNode());
        if (before == null && seen.size() >= limits.nodes()) {
            nodesLeftOut.incrementAndGet();
        } else if (before == null || before.partition() != now.partition() || before.generation() <= now.generation()) {
            seen.put(report.getNode(), now);
        }
    }

    // ---- read by any thread

    /** Why the views may be behind the log; empty while they are not. */
    public Optional<String> unready() {
        return Optional.ofNullable(unready);
    }

    /** Whether the log was read to its end once: before that the views would lie by what they leave out. */
    public boolean everReady() {
        return everReady;
    }

    Collection<Incident> incidents() {
        return incidents.values();
    }

    Optional<Incident> incident(String id) {
        return Optional.ofNullable(incidents.get(id));
    }

    Timelines.Timeline timeline(String incident) {
        return timelines.of(incident);
    }

    Optional<Answers.Answer> answer(String decision) {
        return answers.to(decision);
    }

    /** Names of all nodes that the state or a report knows, sorted. */
    Set<String> nodes() {
        Set<String> names = new TreeSet<>(seen.keySet());
        names.addAll(nodeStates.keySet());
        return names;
    }

    boolean knowsNode(String name) {
        return seen.containsKey(name) || nodeStates.containsKey(name);
    }

    Optional<SeenNode> seen(String node) {
        return Optional.ofNullable(seen.get(node));
    }

    Optional<NodeState> nodeState(String node) {
        return Optional.ofNullable(nodeStates.get(node));
    }

    PauseSwitch pause() {
        return pause;
    }

    Position position() {
        return position;
    }

    /** Reports and states of nodes that came when the limit was reached. */
    int nodesLeftOut() {
        return nodesLeftOut.get();
    }

    Collection<Cover> covers() {
        return covers.values();
    }

    /** Log time of the inbox, ms, counted from where the views began to read: to compare with a {@link Cover}. */
    long inboxLogMs() {
        return inboxLogMs;
    }

    /** Whether the node's partition is covered, so that what is shown of it is how it is now. */
    boolean covered(int partition) {
        Cover cover = covers.get(partition);
        return cover != null && cover.gap(inboxLogMs).isEmpty();
    }

    /** Where the healer cannot see, a sentence each; empty when it sees all. */
    List<String> blind(long nowNs) {
        List<String> reasons = new ArrayList<>();
        unready().ifPresent(reasons::add);
        long quietNs = nowNs - inboxHeardNs;
        if (everReady && quietNs >= QUIET_NS) {
            reasons.add("nothing came to the inbox for " + quietNs / 1_000_000_000L
                    + " s: Kafka is down, or no healer reads telemetry");
        }
        Map<String, List<Integer>> gaps = new TreeMap<>();
        for (int partition = 0; partition < Topic.TELEMETRY.partitions(); partition++) {
            Cover cover = covers.get(partition);
            Optional<String> gap = cover == null ? Optional.of("not covered by any healer") : cover.gap(inboxLogMs);
            if (gap.isPresent()) {
                gaps.computeIfAbsent(gap.get(), ignored -> new ArrayList<>()).add(partition);
            }
        }
        gaps.forEach((gap, partitions) ->
                reasons.add((partitions.size() == 1 ? "telemetry partition " : "telemetry partitions ")
                        + String.join(
                                ", ", partitions.stream().map(String::valueOf).toList())
                        + (partitions.size() == 1 ? " is " : " are ")
                        + gap));
        return reasons;
    }
}

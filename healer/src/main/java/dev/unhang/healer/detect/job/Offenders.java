package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.JobProfile;
import dev.unhang.events.v1.Named;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;

/**
 * Nodes that were first suspect of a confirmed standstill within the last week of log time: whoever has been named before
 * is likelier again. Of one job; of all jobs together it is the sum.
 */
final class Offenders {

    private static final long WEEK_MS = 7L * 24 * 3600 * 1000;
    private static final int KEPT = 64;

    private record Offence(String node, long logMs) {}

    private final Deque<Offence> offences = new ArrayDeque<>();

    /** Nodes that this standstill has named already; it names each once. */
    private final Set<String> now = new HashSet<>();

    /**
     * True when it is new.
     *
     * @param sinceMs when the standstill began: an earlier decider may have named the node for it already
     */
    boolean named(String node, long sinceMs, long logMs) {
        if (node.isEmpty() || !now.add(node)) {
            return false;
        }
        if (offences.stream().anyMatch(each -> each.node.equals(node) && each.logMs >= sinceMs)) {
            return false;
        }
        offences.addLast(new Offence(node, logMs));
        if (offences.size() > KEPT) {
            offences.removeFirst();
        }
        return true;
    }

    void over() {
        now.clear();
    }

    /** How often within the week before the standstill that goes on since then. */
    int before(String node, long sinceMs, long logMs) {
        int count = 0;
        for (Offence each : offences) {
            boolean counts = each.node.equals(node) && each.logMs < sinceMs && logMs - each.logMs <= WEEK_MS;
            count += counts ? 1 : 0;
        }
        return count;
    }

    void save(JobProfile.Builder profile) {
        for (Offence each : offences) {
            profile.addNamed(Named.newBuilder().setNode(each.node).setLogMs(each.logMs));
        }
    }

    void restore(JobProfile profile) {
        offences.clear();
        profile.getNamedList().forEach(each -> offences.addLast(new Offence(each.getNode(), each.getLogMs())));
    }
}

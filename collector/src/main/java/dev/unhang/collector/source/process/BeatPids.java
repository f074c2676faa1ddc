package dev.unhang.collector.source.process;

import dev.unhang.collector.source.heartbeat.Beat;
import dev.unhang.collector.source.heartbeat.Beat.Sender;
import dev.unhang.collector.source.heartbeat.HeartbeatTable;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Finds the processes behind heartbeats. A sender in a container gives the pid that it has there and the inode of its
 * pid namespace; the process is then the one of that namespace whose innermost {@code NSpid} is that pid. Confined to
 * its worker thread.
 */
final class BeatPids {

    private static final long SEARCH_EACH_NS = 5_000_000_000L;

    private final Proc proc;
    private final HeartbeatTable heartbeats;
    private final Map<Sender, ProcStat> resolved = new HashMap<>();
    private long searchedNs;
    private boolean searched;

    BeatPids(Proc proc, HeartbeatTable heartbeats) {
        this.proc = proc;
        this.heartbeats = heartbeats;
    }

    /** A heartbeat and the process that sent it, as it stands now. */
    record Found(ProcStat stat, Beat beat) {}

    /** By pid. Heartbeats of processes that have ended are forgotten. */
    Map<Integer, Found> find(long nowNs) throws IOException {
        Map<Integer, Found> found = new HashMap<>();
        List<Beat> beats = heartbeats.beats();
        resolved.keySet().retainAll(beats.stream().map(Beat::sender).collect(Collectors.toSet()));
        searchContainers(beats, nowNs);
        for (Beat beat : beats) {
            ProcStat before = resolved.get(beat.sender());
            int pid = before != null
                    ? before.pid()
                    : isHost(beat.sender()) ? beat.sender().pid() : 0;
            if (pid == 0) {
                continue;
            }
            ProcStat now = proc.stat(pid);
            if (now == null || (before != null && before.startTicks() != now.startTicks())) {
                heartbeats.forget(beat.sender());
                resolved.remove(beat.sender());
                continue;
            }
            resolved.put(beat.sender(), now);
            found.put(pid, new Found(now, beat));
        }
        return found;
    }

    private boolean isHost(Sender sender) {
        return sender.pidNamespace() == 0
                || Long.toString(sender.pidNamespace()).equals(proc.ownNamespace("pid"));
    }

    private void searchContainers(List<Beat> beats, long nowNs) throws IOException {
        Set<Sender> open = beats.stream()
                .map(Beat::sender)
                .filter(sender -> !resolved.containsKey(sender) && !isHost(sender))
                .collect(Collectors.toSet());
        if (open.isEmpty() || (searched && nowNs - searchedNs < SEARCH_EACH_NS)) {
            return;
        }
        searched = true;
        searchedNs = nowNs;
        Set<String> namespaces = open.stream()
                .map(sender -> Long.toString(sender.pidNamespace()))
                .collect(Collectors.toSet());
        for (int pid : proc.pids()) {
            String namespace = proc.namespace(pid, "pid");
            if (!namespaces.contains(namespace)) {
                continue;
            }
            int inner = InnerPid.of(proc.file(pid, "status").or(""));
            Sender sender = new Sender(inner, Long.parseLong(namespace));
            ProcStat stat = open.contains(sender) ? proc.stat(pid) : null;
            if (stat != null) {
                resolved.put(sender, stat);
            }
        }
    }
}

package dev.unhang.collector.source.process;

import dev.unhang.collector.source.file.SmallFile;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who on this node claims to be a rank. An environment is read once for each program start (pid, start time, place of
 * its environment); that a process is none is looked at again each ten seconds, by one read of its {@code stat}, and
 * in its first three scans, since a fork has its parent's environment until it runs exec. So a scan of thousands of
 * processes costs one directory listing and a few hundred small reads. Confined to its worker thread.
 */
final class ProcessTable {

    static final long LOOK_AGAIN_NS = 10_000_000_000L;
    private static final int YOUNG = 3;
    private static final int MOST_NEW = 2000;

    /** One process. {@code claim} is null where it is no rank. */
    private static final class Known {
        ProcStat stat;

        @Nullable
        RankClaim claim;

        long lookedNs;
        int looks;
        boolean forbidden;

        Known(ProcStat stat) {
            this.stat = stat;
        }
    }

    private final Proc proc;
    private final Map<Integer, Known> table = new HashMap<>();
    private int forbidden;

    ProcessTable(Proc proc) {
        this.proc = proc;
    }

    void scan(long nowNs) throws IOException {
        Set<Integer> alive = new HashSet<>();
        int fresh = 0;
        for (int pid : proc.pids()) {
            Known known = table.get(pid);
            if (known == null && fresh++ >= MOST_NEW) {
                continue; // the rest at the next scan
            }
            if (known != null && !due(known, nowNs)) {
                alive.add(pid);
                continue;
            }
            ProcStat stat = proc.stat(pid);
            if (stat != null) {
                table.put(pid, look(known, stat, nowNs));
                alive.add(pid);
            }
        }
        table.keySet().retainAll(alive);
        forbidden = (int) table.values().stream().filter(each -> each.forbidden).count();
    }

    /** The claims of this scan, with the processes' latest state. */
    Map<ProcStat, RankClaim> claims() {
        Map<ProcStat, RankClaim> claims = new HashMap<>();
        for (Known each : table.values()) {
            if (each.claim != null) {
                claims.put(each.stat, each.claim);
            }
        }
        return claims;
    }

    int parentOf(int pid) {
        Known known = table.get(pid);
        return known == null ? 0 : known.stat.parent();
    }

    /** How many processes' environments we may not read. */
    int forbidden() {
        return forbidden;
    }

    private static boolean due(Known known, long nowNs) {
        // Spread over time: the pid decides when within the ten seconds.
        return known.claim != null
                || known.looks < YOUNG
                || nowNs - known.lookedNs >= LOOK_AGAIN_NS - known.stat.pid() % 10 * 100_000_000L;
    }

    private Known look(@Nullable Known known, ProcStat stat, long nowNs) {
        Known next = known;
        boolean ran = false;
        if (next == null || next.stat.startTicks() != stat.startTicks()) {
            next = new Known(stat);
            ran = true;
        } else if (next.stat.environAt() != stat.environAt()) {
            ran = true;
        } else if (next.claim == null) {
            ran = !next.stat.comm().equals(stat.comm());
        }
        next.stat = stat;
        next.lookedNs = nowNs;
        next.looks = Math.min(YOUNG, next.looks + 1);
        if (ran && !stat.kernelThread() && !stat.ended()) {
            try {
                next.claim = claim(stat);
                next.forbidden = false;
            } catch (IOException e) {
                // Gone by now, or another user's: with permission we would have to know, so it is counted. A process
                // that
                // was a rank when its environment could be read is one still.
                next.forbidden = next.claim == null && proc.stat(stat.pid()) != null;
            }
        }
        return next;
    }

    private @Nullable RankClaim claim(ProcStat stat) throws IOException {
        Map<String, String> environ = proc.environ(stat.pid());
        if (environ.isEmpty()) {
            return null;
        }
        SmallFile cgroup = proc.file(stat.pid(), "cgroup");
        return RankClaim.of(
                environ,
                CgroupIdentity.parse(cgroup.or("")),
                new RankClaim.Local(proc.namespace(stat.pid(), "net"), stat.session()));
    }
}

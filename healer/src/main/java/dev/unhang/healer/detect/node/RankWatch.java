package dev.unhang.healer.detect.node;

import dev.unhang.events.v1.ActivityClass;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.LearnedRank;
import dev.unhang.events.v1.Phase;
import dev.unhang.events.v1.RankReading;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One process of a job: whether it is there, in which state, how far it has come, and since when it does what it does. */
final class RankWatch {

    /** Samples without the process before it is gone: one may have been torn. */
    private static final int MISSED_TO_BE_GONE = 2;

    /** Progress that is older than this many of its own steps is overdue. */
    private static final double OVERDUE_STEPS = 3;

    static final long OVERDUE_LEAST_MS = 3_000;

    final int pid;
    final long startTicks;
    final NcclWords words = new NcclWords();

    private RankReading last = RankReading.getDefaultInstance();
    private JobIdentity job = JobIdentity.getDefaultInstance();
    private List<GpuWatch> gpus = List.of();
    private final Exertion exertion = new Exertion();
    private final Counter cpu = new Counter();
    private final Counter written = new Counter();
    private final Counter readIn = new Counter();

    private ActivityClass activity = ActivityClass.ACTIVITY_CLASS_UNKNOWN;
    private long activitySinceMs;
    private long notStillMs;
    private long trafficAtMs = -1;
    private int state;
    private long stateSinceMs;
    private int missed;
    private long goneSinceMs;
    private final List<String> portsDown = new ArrayList<>(0);

    RankWatch(int pid, long startTicks, Now now) {
        this.pid = pid;
        this.startTicks = startTicks;
        this.activitySinceMs = now.nodeMs();
        this.notStillMs = now.nodeMs();
        this.stateSinceMs = now.nodeMs();
    }

    boolean isProcess(RankReading reading) {
        return reading.getPid() == pid && reading.getStartTicks() == startTicks;
    }

    void onSample(
            RankReading reading,
            JobIdentity identity,
            List<GpuWatch> used,
            Iterable<PortWatch> ports,
            double nodeIdleMw,
            double seconds,
            Now now) {
        last = reading;
        job = identity;
        gpus = used;
        missed = 0;
        int letter = settled(reading.getState());
        if (letter != state) {
            state = letter;
            stateSinceMs = now.nodeMs();
        }
        boolean stepEnded = exertion.training.progress(reading, now);
        double ticks = cpu.next(reading.hasCpuTicks(), reading.getCpuTicks(), seconds);
        written.next(reading.hasIoWriteKib(), reading.getIoWriteKib(), seconds);
        readIn.next(reading.hasIoReadKib(), reading.getIoReadKib(), seconds);
        exertion.paths(used, ports);
        portsDown(ports);
        if (Double.isNaN(seconds)) {
            become(ActivityClass.ACTIVITY_CLASS_UNKNOWN, now);
            return;
        }
        become(exertion.judge(nodeIdleMw, ticks * 10, stepEnded), now);
        if (exertion.traffic.active()) {
            trafficAtMs = now.nodeMs();
        }
    }

    /** A port that carries nothing of this rank, while others do, is not its business. */
    private void portsDown(Iterable<PortWatch> ports) {
        portsDown.clear();
        for (PortWatch port : ports) {
            if (port.down()
                    && (exertion.traffic.uses(port.netPath)
                            || exertion.traffic.uses(port.rdmaPath)
                            || !exertion.traffic.known())) {
                portsDown.add(port.id);
            }
        }
    }

    /** R and S alternate by chance; what stands still is T, D and Z. */
    private static int settled(int letter) {
        return letter == 'S' || letter == 'I' ? 'R' : letter;
    }

    /** The process is not in a sample of a source that answered. */
    void missing(Now now) {
        missed++;
        if (missed == 1) {
            goneSinceMs = now.nodeMs();
        }
        if (missed >= MISSED_TO_BE_GONE) {
            become(ActivityClass.ACTIVITY_CLASS_GONE, now);
        }
    }

    /** The source of processes did not answer. */
    void unread(Now now) {
        if (!gone()) {
            become(ActivityClass.ACTIVITY_CLASS_UNKNOWN, now);
        }
    }

    private void become(ActivityClass next, Now now) {
        if (next == ActivityClass.ACTIVITY_CLASS_WORK || next == ActivityClass.ACTIVITY_CLASS_UNKNOWN) {
            notStillMs = now.nodeMs();
        }
        if (next != activity) {
            activity = next;
            activitySinceMs = now.nodeMs();
        }
    }

    boolean gone() {
        return missed >= MISSED_TO_BE_GONE;
    }

    long goneMs(Now now) {
        return gone() ? now.nodeMs() - goneSinceMs : 0;
    }

    boolean ended() {
        return last.getPhase() == Phase.PHASE_END;
    }

    JobIdentity job() {
        return job;
    }

    int rank() {
        return last.getRank();
    }

    ActivityClass activity() {
        return activity;
    }

    /** T, D, Z, or R for all that come and go by chance. */
    int state() {
        return state;
    }

    /** As it was read last. */
    int letter() {
        return last.getState();
    }

    boolean armed() {
        return exertion.training.armed();
    }

    boolean stopped() {
        return state == 'T' || state == 't';
    }

    boolean traced() {
        return last.getTracerPid() != 0;
    }

    /** As a number, since a newer collector may tell one that has no name here. */
    int phase() {
        return last.getPhaseValue();
    }

    /** Progress has stood longer than a few of its own steps. */
    boolean overdue() {
        double usual = exertion.training.usualStepMs();
        return last.hasProgressAgeMs()
                && last.getProgressAgeMs()
                        > Math.max(OVERDUE_LEAST_MS, Double.isNaN(usual) ? 0 : OVERDUE_STEPS * usual);
    }

    /** Its steps take longer than they did. */
    boolean slow() {
        return last.getPhase() == Phase.PHASE_TRAIN && exertion.training.pace.slow();
    }

    /** Nothing about it asks for a look. A rank that was never seen at work may idle as long as it likes. */
    boolean well() {
        if (stopped() || traced() || gone()) {
            return false;
        }
        return !armed()
                || (!overdue()
                        && !slow()
                        && activity != ActivityClass.ACTIVITY_CLASS_SPIN
                        && activity != ActivityClass.ACTIVITY_CLASS_IDLE);
    }

    void forgetCounters() {
        cpu.forget();
        written.forget();
        readIn.forget();
    }

    RankFigures figures() {
        return new RankFigures(last, gpus, exertion, cpu, written, readIn, portsDown);
    }

    long activityMs(Now now) {
        return now.nodeMs() - activitySinceMs;
    }

    long stillMs(Now now) {
        return now.nodeMs() - notStillMs;
    }

    long stateMs(Now now) {
        return now.nodeMs() - stateSinceMs;
    }

    /** Since its traffic was last above quiet, ms of node time; -1 while it never was. */
    long trafficAgeMs(Now now) {
        return trafficAtMs < 0 ? -1 : now.nodeMs() - trafficAtMs;
    }

    /** Sentences that weigh against it by themselves. */
    List<String> evidence(Now now) {
        List<String> evidence = new ArrayList<>(0);
        if (stopped()) {
            evidence.add(
                    "rank " + rank() + " (pid " + pid + ") is in process state T for " + stateMs(now) / 1000 + " s");
        }
        if (gone()) {
            evidence.add("process " + pid + " of rank " + rank() + " is gone for " + goneMs(now) / 1000 + " s");
        }
        if (state == 'D') {
            evidence.add("rank " + rank() + " (pid " + pid + ") is in uninterruptible sleep (D)"
                    + (last.getWchan().isEmpty() ? "" : " in " + last.getWchan()));
        }
        if (traced()) {
            evidence.add("rank " + rank() + " is traced by process " + last.getTracerPid());
        }
        for (GpuWatch gpu : gpus) {
            String hard = gpu.hardEvidence(now);
            if (hard != null) {
                evidence.add(hard);
            }
        }
        return evidence;
    }

    /** The last Xid on its GPUs; null: none. */
    @Nullable
    GpuWatch withXid() {
        for (GpuWatch gpu : gpus) {
            if (gpu.xid() != 0) {
                return gpu;
            }
        }
        return null;
    }

    LearnedRank learned() {
        return LearnedRank.newBuilder()
                .setPid(pid)
                .setStartTicks(startTicks)
                .setPowerMw(exertion.training.power.toProto())
                .setCpuMillicores(exertion.training.cpu.toProto())
                .setMemUtil(exertion.training.memUtil.toProto())
                .addAllPaths(exertion.traffic.toProto())
                .setActiveSamples(exertion.training.learned())
                .setStepUs(exertion.training.pace.level().toProto())
                .build();
    }

    void restore(LearnedRank learned) {
        exertion.training.power.restore(learned.getPowerMw());
        exertion.training.cpu.restore(learned.getCpuMillicores());
        exertion.training.memUtil.restore(learned.getMemUtil());
        exertion.traffic.restore(learned.getPathsList());
        exertion.training.pace.level().restore(learned.getStepUs());
        exertion.training.restore(learned.getActiveSamples());
    }
}

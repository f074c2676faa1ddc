package dev.unhang.healer.detect.node;

import dev.unhang.events.v1.ActivityClass;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.LearnedRank;
import dev.unhang.events.v1.Phase;
import dev.unhang.events.v1.RankReading;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One process of a job: what it does now, judged against what it itself did at training. Utilisation alone never proves
 * work: a rank that waits in a collective shows 100 % at the power of an idle context and without traffic.
 */
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
    private final Traffic traffic = new Traffic();
    private final StepLearner training = new StepLearner();
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
    private boolean low;
    private double powerMw = Double.NaN;
    private int util = -1;
    private int pathsDown;

    RankWatch(int pid, long startTicks, Now now) {
        this.pid = pid;
        this.startTicks = startTicks;
        this.activitySinceMs = now.nodeMs();
        this.notStillMs = now.nodeMs();
        this.stateSinceMs = now.nodeMs();
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
        boolean stepEnded = training.progress(reading, now);
        double ticks = cpu.next(reading.hasCpuTicks(), reading.getCpuTicks(), seconds);
        written.next(reading.hasIoWriteKib(), reading.getIoWriteKib(), seconds);
        readIn.next(reading.hasIoReadKib(), reading.getIoReadKib(), seconds);
        pathRates(ports);
        if (Double.isNaN(seconds)) {
            become(ActivityClass.ACTIVITY_CLASS_UNKNOWN, now);
            return;
        }
        measureGpus();
        Traffic.State moving = traffic.judge(low);
        if (moving == Traffic.State.ACTIVE) {
            trafficAtMs = now.nodeMs();
        }
        double trainingMw = training.power.value(4);
        double idleMw = idleMw(nodeIdleMw);
        Lowness lowness = lowness(trainingMw, idleMw);
        low = lowness == Lowness.LOW;
        if (low || (lowness == Lowness.UNKNOWN && util >= 0 && util <= 5 && !Double.isNaN(trainingMw))) {
            traffic.learnBackground();
        }
        ActivityClass next = classify(moving, lowness);
        become(next, now);
        learn(next, moving, idleMw, ticks * 10, stepEnded);
    }

    /** R and S alternate by chance; what stands still is T, D and Z. */
    private static int settled(int letter) {
        return letter == 'S' || letter == 'I' ? 'R' : letter;
    }

    private void pathRates(Iterable<PortWatch> ports) {
        traffic.begin();
        pathsDown = 0;
        for (PortWatch port : ports) {
            traffic.rate(port.netPath, port.netRate());
            traffic.rate(port.rdmaPath, port.rdmaRate());
            if (port.down()) {
                pathsDown++;
            }
        }
        double links = Double.NaN;
        for (GpuWatch gpu : gpus) {
            double one = gpu.nvlinkRate();
            links = Double.isNaN(links) ? one : Double.isNaN(one) ? links : links + one;
        }
        traffic.rate("nvlink", links);
    }

    private void measureGpus() {
        powerMw = gpus.isEmpty() ? Double.NaN : 0;
        util = -1;
        for (GpuWatch gpu : gpus) {
            powerMw += gpu.powerMw();
            if (gpu.hasUtil()) {
                util = Math.max(util, gpu.util());
            }
        }
    }

    private double idleMw(double nodeIdleMw) {
        double sum = 0;
        for (GpuWatch gpu : gpus) {
            double one = gpu.idleMw();
            sum += Double.isNaN(one) ? nodeIdleMw : one;
        }
        return gpus.isEmpty() ? Double.NaN : sum;
    }

    private enum Lowness {
        LOW,
        HIGH,
        UNKNOWN
    }

    /** Whether power is near that of an idle context. Shares of the rank's own levels, since watts differ between boards. */
    private Lowness lowness(double trainingMw, double idleMw) {
        if (Double.isNaN(powerMw) || Double.isNaN(trainingMw)) {
            return Lowness.UNKNOWN;
        }
        double limit;
        if (Double.isNaN(idleMw)) {
            limit = 0.6 * trainingMw;
        } else if (trainingMw > 1.3 * idleMw) {
            limit = Math.min(Math.max(idleMw + 0.25 * (trainingMw - idleMw), 1.15 * idleMw), 1.6 * idleMw);
        } else {
            return Lowness.UNKNOWN;
        }
        return powerMw < limit ? Lowness.LOW : Lowness.HIGH;
    }

    private ActivityClass classify(Traffic.State moving, Lowness lowness) {
        if (moving == Traffic.State.ACTIVE || (util >= 30 && lowness == Lowness.HIGH)) {
            return ActivityClass.ACTIVITY_CLASS_WORK;
        }
        if (util < 0) {
            return ActivityClass.ACTIVITY_CLASS_UNKNOWN;
        }
        if (util >= 90
                && (lowness == Lowness.LOW
                        || (lowness == Lowness.UNKNOWN && moving == Traffic.State.QUIET && memoryStands()))) {
            return ActivityClass.ACTIVITY_CLASS_SPIN;
        }
        if (util <= 10 && lowness != Lowness.HIGH) {
            return ActivityClass.ACTIVITY_CLASS_IDLE;
        }
        // Neither the picture of waiting nor that of work, as of a rank that computes a little: it is not waiting.
        return lowness == Lowness.UNKNOWN ? ActivityClass.ACTIVITY_CLASS_UNKNOWN : ActivityClass.ACTIVITY_CLASS_WORK;
    }

    private boolean memoryStands() {
        double usual = training.memUtil.value(4);
        double now = memUtil();
        return usual >= 2 && now <= usual / 4;
    }

    private double memUtil() {
        double most = Double.NaN;
        for (GpuWatch gpu : gpus) {
            double one = gpu.memUtil();
            most = Double.isNaN(most) ? one : Double.isNaN(one) ? most : Math.max(most, one);
        }
        return most;
    }

    private void learn(ActivityClass next, Traffic.State moving, double idleMw, double millicores, boolean stepEnded) {
        boolean waits = next == ActivityClass.ACTIVITY_CLASS_SPIN || next == ActivityClass.ACTIVITY_CLASS_IDLE;
        boolean busy = util < 0 ? gpus.isEmpty() : util > 20;
        if (!waits && !(training.learned() == 0 && util >= 0 && util <= 5)) {
            traffic.learn();
        }
        if (next == ActivityClass.ACTIVITY_CLASS_IDLE) {
            traffic.learnIdle();
        }
        double usual = traffic.level();
        boolean atWork;
        if (usual >= Traffic.FLOOR) {
            atWork = moving == Traffic.State.ACTIVE;
        } else {
            atWork = (util > 50 && !(powerMw < 1.3 * idleMw)) || (traffic.total() > Traffic.FLOOR && busy);
        }
        training.sample(powerMw, memUtil(), millicores, stepEnded, atWork, busy);
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

    int state() {
        return state;
    }

    boolean armed() {
        return training.armed();
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
        double usual = training.stepMs.value(4);
        return last.hasProgressAgeMs()
                && last.getProgressAgeMs()
                        > Math.max(OVERDUE_LEAST_MS, Double.isNaN(usual) ? 0 : OVERDUE_STEPS * usual);
    }

    /** Nothing about it asks for a look. A rank that was never seen at work may idle as long as it likes. */
    boolean well() {
        if (stopped() || traced() || gone()) {
            return false;
        }
        return !armed()
                || (!overdue()
                        && activity != ActivityClass.ACTIVITY_CLASS_SPIN
                        && activity != ActivityClass.ACTIVITY_CLASS_IDLE);
    }

    void forgetCounters() {
        cpu.forget();
        written.forget();
        readIn.forget();
    }

    RankFigures figures() {
        return new RankFigures(last, gpus, traffic, training, cpu, written, readIn, powerMw, util, pathsDown);
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
        List<String> evidence = new ArrayList<>();
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
                .setPowerMw(training.power.toProto())
                .setCpuMillicores(training.cpu.toProto())
                .setMemUtil(training.memUtil.toProto())
                .addAllPaths(traffic.toProto())
                .setActiveSamples(training.learned())
                .build();
    }

    void restore(LearnedRank learned) {
        training.power.restore(learned.getPowerMw());
        training.cpu.restore(learned.getCpuMillicores());
        training.memUtil.restore(learned.getMemUtil());
        traffic.restore(learned.getPathsList());
        training.restore(learned.getActiveSamples());
    }
}

package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.ActivityClass;
import dev.unhang.events.v1.NicReport;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.Phase;
import dev.unhang.events.v1.ProbeResult;
import dev.unhang.events.v1.RankProcess;
import dev.unhang.events.v1.RankReport;
import dev.unhang.events.v1.Watch;
import org.jspecify.annotations.Nullable;

/**
 * One rank as its node last reported it. A node that is not well reports each second and its ages go on in between; one
 * that is well reports each ten seconds, and until it says otherwise all on it goes on as it was.
 */
final class RankView {

    /** What a rank does, as its job sees it. */
    enum Doing {
        WORK,
        SPIN,
        IDLE,
        GONE,
        /** Its node does not speak. */
        SILENT,
        UNKNOWN
    }

    /** Without a report for longer than this, a node tells nothing of now, ms of log time. */
    private static final long STALE_MS = 5_000;

    private static final long STALE_WELL_MS = 15_000;

    final int rank;
    private String node;
    private NodeReport nodeReport = NodeReport.getDefaultInstance();
    private RankReport report = RankReport.getDefaultInstance();
    private long atMs;

    /** The first step that was heard of this process, and since when it is known to train, log time; -1: not yet. */
    private long firstStep = -1;

    private long trainsSinceMs = -1;

    private Look look = Look.NONE;
    private long lookedMs;

    RankView(int rank, String node) {
        this.rank = rank;
        this.node = node;
    }

    void heard(NodeReport from, RankReport said, long logMs) {
        node = from.getNode();
        nodeReport = from;
        report = said;
        atMs = logMs;
        if (trainsSinceMs < 0 && hasTrained(said)) {
            trainsSinceMs = logMs;
        }
    }

    /** Its step moved since it was first heard of; where it tells none: it has been at work for a while, and is. */
    private boolean hasTrained(RankReport said) {
        if (said.hasStep()) {
            if (firstStep < 0) {
                firstStep = said.getStep();
            }
            return said.getStep() > firstStep;
        }
        return said.getArmed()
                && said.getActivity() == ActivityClass.ACTIVITY_CLASS_WORK
                && said.getPhase() != Phase.PHASE_INIT
                && said.getPhase() != Phase.PHASE_COMPILE;
    }

    /** Since when it is known to have made progress as this process, log time; -1: it has not been seen to, or is gone. */
    long trainsSinceMs() {
        return report.getActivity() == ActivityClass.ACTIVITY_CLASS_GONE ? -1 : trainsSinceMs;
    }

    boolean gone() {
        return report.getActivity() == ActivityClass.ACTIVITY_CLASS_GONE;
    }

    /** As who a repair must find it. */
    RankProcess process() {
        return RankProcess.newBuilder()
                .setNode(node)
                .setBootId(nodeReport.getBootId())
                .setPid(report.getPid())
                .setStartTicks(report.getStartTicks())
                .setRank(rank)
                .build();
    }

    String node() {
        return node;
    }

    RankReport report() {
        return report;
    }

    boolean sameProcess(NodeReport from, RankReport said) {
        return report.getPid() == said.getPid()
                && report.getStartTicks() == said.getStartTicks()
                && nodeReport.getNode().equals(from.getNode())
                && nodeReport.getBootId().equals(from.getBootId());
    }

    /** It still runs beside another process that says to be the same rank: that one is of another run with the same name. */
    boolean runsBeside(NodeReport other, long nowMs) {
        if (node.equals(other.getNode())) {
            return other.getRanksList().stream().anyMatch(each -> each.getGoneMs() == 0 && sameProcess(other, each));
        }
        return switch (doing(nowMs)) {
            case WORK, SPIN, IDLE -> true;
            case GONE, SILENT, UNKNOWN -> false;
        };
    }

    boolean wellNode() {
        return nodeReport.getWell();
    }

    private long sinceMs(long nowMs) {
        return nodeReport.getWell() ? 0 : nowMs - atMs;
    }

    Doing doing(long nowMs) {
        if (nodeReport.getWatch() == Watch.WATCH_SILENT && nowMs - atMs <= STALE_WELL_MS) {
            return report.getActivity() == ActivityClass.ACTIVITY_CLASS_GONE ? Doing.GONE : Doing.SILENT;
        }
        boolean stale = nowMs - atMs > (nodeReport.getWell() ? STALE_WELL_MS : STALE_MS);
        if (stale || nodeReport.getWatch() == Watch.WATCH_UNWATCHED) {
            return Doing.UNKNOWN;
        }
        return switch (report.getActivity()) {
            case ACTIVITY_CLASS_WORK -> Doing.WORK;
            // A moment's wait within a step, on a node that says that it is well.
            case ACTIVITY_CLASS_SPIN -> wellNode() && report.getArmed() ? Doing.WORK : Doing.SPIN;
            case ACTIVITY_CLASS_IDLE -> wellNode() && report.getArmed() ? Doing.WORK : Doing.IDLE;
            case ACTIVITY_CLASS_GONE -> Doing.GONE;
            default -> blindOnGpu() ? Doing.IDLE : Doing.UNKNOWN;
        };
    }

    /** No GPU is seen, but its heartbeat tells that it stands still on a node that is not well. */
    private boolean blindOnGpu() {
        return report.getGpusCount() == 0 && report.hasProgressAgeMs() && report.getArmed() && !wellNode();
    }

    boolean hasProgress() {
        return report.hasProgressAgeMs();
    }

    /** Since its step or phase last moved; 0 on a node that says that it is well. */
    long progressAgeMs(long nowMs) {
        return wellNode() ? 0 : report.getProgressAgeMs() + sinceMs(nowMs);
    }

    /** For how long it has been neither at work nor unknown. */
    long stillMs(long nowMs) {
        return report.getStillMs() + sinceMs(nowMs);
    }

    boolean armed() {
        return report.getArmed();
    }

    Phase phase() {
        return report.getPhase() == Phase.UNRECOGNIZED ? Phase.PHASE_NONE : report.getPhase();
    }

    /** It has said that its work is done. */
    boolean ends() {
        return phase() == Phase.PHASE_END;
    }

    boolean stopped() {
        return report.getState() == 'T' && report.getTracerPid() == 0;
    }

    long stoppedMs(long nowMs) {
        return report.getStateMs() + sinceMs(nowMs);
    }

    long goneMs(long nowMs) {
        return report.getGoneMs() + sinceMs(nowMs);
    }

    long silentMs(long nowMs) {
        return nodeReport.getSilentMs() + nowMs - atMs;
    }

    /** Since the last Xid that ends the work of one of its GPUs; -1: there was none. */
    long fatalXidMs(long nowMs) {
        return report.getFatalXid() == 0 ? -1 : report.getLastXidAgeMs() + sinceMs(nowMs);
    }

    /** It is known over which ports its traffic goes. */
    boolean pathsKnown() {
        return report.hasTrafficSharePm();
    }

    /** The worst port of its own traffic that is down; null: none. The end that is down itself is worse than its peer. */
    @Nullable
    NicReport portDown() {
        if (report.getPortsDownCount() == 0) {
            return null;
        }
        NicReport worst = null;
        for (NicReport nic : nodeReport.getNicsList()) {
            if (nic.getDownMs() > 0
                    && report.getPortsDownList().contains(nic.getId())
                    && (worst == null || worst.getState() == OperState.OPER_STATE_LOWER_LAYER_DOWN)) {
                worst = nic;
            }
        }
        return worst;
    }

    long portDownMs(NicReport nic, long nowMs) {
        return nic.getDownMs() + sinceMs(nowMs);
    }

    /** Millicores, or -1. */
    int millicores() {
        return report.hasCpuMillicores() ? report.getCpuMillicores() : -1;
    }

    /** What its own log says of others, for {@link Accusations}. */
    Accusations.Witness witness(long nowMs) {
        return new Accusations.Witness(rank, node, report.getAccusationsList(), sinceMs(nowMs));
    }

    boolean hasGpu() {
        return report.getGpusCount() > 0;
    }

    /** Somebody looks into it: a debugger, or a profiler that stops it. */
    boolean traced() {
        return report.getTracerPid() != 0;
    }

    /** Its checkpoints announce themselves, and it has announced none now. */
    boolean savesAnnounced() {
        return report.getJob().getAnnounces() && report.hasProgressAgeMs();
    }

    /** Its own reads and writes are known, so that a checkpoint is seen as such. */
    boolean ioKnown() {
        return report.hasWriteBps();
    }

    /** Moves data as a checkpoint or a load does. */
    boolean movesData() {
        return report.getWriteBps() >= MOVES_BPS || report.getReadBps() >= MOVES_BPS;
    }

    /** It is so little that nothing is stored: whoever is in a storage call there waits for a storage that stands. */
    private boolean dataStands() {
        return ioKnown() && report.getWriteBps() < STANDS_BPS && report.getReadBps() < STANDS_BPS;
    }

    boolean isProcess(ProbeResult probe) {
        return report.getPid() == probe.getPid()
                && report.getStartTicks() == probe.getStartTicks()
                && node.equals(probe.getNode())
                && nodeReport.getBootId().equals(probe.getBootId());
    }

    void looked(Look found, long nowMs) {
        look = found;
        lookedMs = nowMs;
    }

    /** What it was found at a moment ago; {@link Look#NONE}: nobody looked, or long ago. */
    Look look(long nowMs) {
        return nowMs - lookedMs <= LOOK_HOLDS_MS ? look : Look.NONE;
    }

    /** A look found it in storage, and its own counters do not say that nothing moves there. */
    boolean seenStoring(long nowMs) {
        return look(nowMs).says() == Look.Says.STORES && !dataStands();
    }

    /** A look found it in storage, where nothing moves: a slow sync, or storage that is dead. */
    boolean storageStands(long nowMs) {
        return look(nowMs).says() == Look.Says.STORES && dataStands();
    }

    /** Share of the last seconds in which it waited, per mille; -1 while unknown. */
    int waitPm() {
        return report.hasWaitPm() ? report.getWaitPm() : -1;
    }

    /** Bytes a second: more than logs, less than any file system of a cluster takes. */
    static final long MOVES_BPS = 20_000_000;

    /** Bytes a second: no more than logs. */
    private static final long STANDS_BPS = 200_000;

    /** A look comes each 30 s; this bridges one that is late, ms of log time. */
    private static final long LOOK_HOLDS_MS = 45_000;
}

package dev.unhang.lab.compose;

import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.Phase;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Plays a plan second by second: looks up what each rank's act looks like in the recorded segments, shifts and scales it,
 * and keeps the counters. Not thread safe.
 */
final class Player {

    /** Bytes a second that a checkpoint writes. */
    private static final double LEAST_WRITTEN = 120e6;

    private static final double MOST_WRITTEN = 190e6;

    /** The counters of one node's NIC. */
    static final class Nic {
        double in;
        double out;
        double packetsIn;
        double packetsOut;
        OperState state = OperState.OPER_STATE_UP;
    }

    private final Plan plan;
    private final Setting setting;
    private final Segments segments;
    private final Trouble trouble;
    private final Draw draw;
    private final Steps steps;
    private final List<RankCounters> ranks = new ArrayList<>();
    private final List<Nic> nics = new ArrayList<>();
    private final int[] shifts;
    private @Nullable Episode playing;
    private double computing;
    private int epoch = 1;

    Player(Plan plan, Segments segments, Trouble trouble, Draw draw) {
        this.plan = plan;
        this.setting = plan.setting();
        this.segments = segments;
        this.trouble = trouble;
        this.draw = draw;
        steps = new Steps(draw, setting.stepSeconds());
        shifts = new int[setting.world()];
        for (int rank = 0; rank < shifts.length; rank++) {
            shifts[rank] = draw.whole(0, 999);
            ranks.add(new RankCounters(rank, segments.at(Part.STARTS, rank, 0), setting, draw));
        }
        for (int node = 0; node < setting.nodes(); node++) {
            Nic nic = new Nic();
            nic.in = draw.between(1e9, 1e12);
            nic.out = draw.between(1e9, 1e12);
            nic.packetsIn = draw.between(1e6, 1e9);
            nic.packetsOut = draw.between(1e6, 1e9);
            nics.add(nic);
        }
    }

    List<RankCounters> ranks() {
        return ranks;
    }

    Nic nic(int node) {
        return nics.get(node);
    }

    int epoch() {
        return epoch;
    }

    /** Whether the node that has fallen silent says nothing. */
    boolean silent(int node) {
        return playing != null && playing.isSilent(node);
    }

    /** Plays the second that ends then. */
    void play(int second) {
        Episode episode = plan.at(second);
        if (episode != playing) {
            enter(episode);
        }
        restartIfDue(second);
        boolean moves = episode == null || episode.steps();
        if (moves) {
            steps.advance(second, episode == null ? 1 : episode.slowness());
        }
        for (int node = 0; node < nics.size(); node++) {
            background(nics.get(node));
            OperState link = episode == null ? null : episode.link(node);
            nics.get(node).state = link == null ? OperState.OPER_STATE_UP : link;
            if (trouble.resets(node, second)) {
                nics.get(node).in = 0;
                nics.get(node).out = 0;
                nics.get(node).packetsIn = 0;
                nics.get(node).packetsOut = 0;
            }
        }
        for (RankCounters rank : ranks) {
            Act act = episode == null ? Act.TRAINS : episode.act(rank.rank, second);
            play(rank, act, second, episode);
        }
    }

    private void enter(@Nullable Episode episode) {
        computing = episode != null && episode.isSudden() ? episode.from() + steps.computeLeft() : 0;
        if (episode == null || (!episode.isSudden() && !episode.steps())) {
            steps.beginAnew();
        }
        playing = episode;
    }

    private void restartIfDue(int second) {
        int due = plan.epoch(second);
        if (due == epoch) {
            return;
        }
        epoch = due;
        steps.goBack(draw.whole(0, 50));
        for (RankCounters rank : ranks) {
            rank.process(4000 + 1000 * (epoch - 1) + rank.rank, draw);
        }
    }

    private void background(Nic nic) {
        double bytes = setting.background() * draw.between(0.5, 1.5);
        nic.in += bytes;
        nic.out += bytes;
        nic.packetsIn += bytes / 900;
        nic.packetsOut += bytes / 900;
    }

    private void play(RankCounters rank, Act act, int second, @Nullable Episode episode) {
        int at = second + shifts[rank.rank];
        Second seen = look(act, rank.rank, at);
        if (second - 1 < computing && finishesFirst(act)) {
            seen = seen.mixed(train(rank.rank, at, 0), Math.min(1, computing - (second - 1)));
        }
        rank.gone = act == Act.GONE;
        rank.traced = act == Act.TRACED;
        rank.add(seen, nvlinkShare(), draw);
        boolean writes = (act == Act.WRITES || act == Act.WRITES_SHARD) && setting.io() == Setting.Io.COUNTED;
        rank.written += writes ? draw.between(LEAST_WRITTEN, MOST_WRITTEN) : draw.between(0, 400);
        double share = nicShare();
        double noise = draw.between(0.97, 1.03) * share;
        Nic nic = nics.get(setting.node(rank.rank));
        nic.in += seen.in() * noise;
        nic.out += seen.out() * noise;
        nic.packetsIn += seen.packetsIn() * noise;
        nic.packetsOut += seen.packetsOut() * noise;
        tell(rank, act, second, episode);
    }

    private void tell(RankCounters rank, Act act, int second, @Nullable Episode episode) {
        if (act == Act.GONE) {
            rank.step = steps.done();
            return;
        }
        Phase phase = episode == null ? Phase.PHASE_TRAIN : episode.phase();
        double phaseAt = episode == null ? second - 0.5 : episode.from() + 0.2;
        rank.tell(steps.done(), phase, steps.lastEnd(), phaseAt);
    }

    private double nicShare() {
        return switch (setting.path()) {
            case NIC, NIC_AND_NVLINK -> setting.traffic();
            case NVLINK, HIDDEN -> 0;
        };
    }

    private double nvlinkShare() {
        return switch (setting.path()) {
            case NVLINK, NIC_AND_NVLINK -> setting.traffic();
            case NIC, HIDDEN -> 0;
        };
    }

    /** What is on the GPU already is computed to its end; a process that is gone or stopped computes no more. */
    private static boolean finishesFirst(Act act) {
        return act != Act.GONE && act != Act.STOPPED;
    }

    private Second look(Act act, int rank, int at) {
        double extra = steps.extraShare();
        return switch (act) {
            case TRAINS -> train(rank, at, steps.exchangeShare());
            case STARTS -> part(Part.STARTS, rank, at);
            case AWAITS_PEERS -> part(Part.AWAITS_PEERS, rank, at);
            case COMPILES -> part(Part.SLEEPS, rank, at).withProcess('R', 100);
            case WAITS -> waits(rank, at);
            case STOPPED -> part(nvlink() ? Part.STOPPED_NVLINK : Part.STOPPED, rank, at);
            case TRACED -> part(Part.STOPPED, rank, at).withProcess('t', 0);
            case LOOPS -> part(Part.LOOPS, rank, at);
            case SLEEPS -> part(Part.SLEEPS, rank, at).withProcess('S', 0);
            case SLEEPS_D -> part(Part.SLEEPS, rank, at).withProcess('D', 0);
            case GONE -> part(Part.GONE, rank, at);
            case ABORTED -> part(Part.ABORTED, rank, at);
            case CUT_OFF -> part(Part.CUT_OFF, rank, at);
            case CUT_OFF_PEER -> part(Part.CUT_OFF_PEER, rank, at);
            case WRITES -> part(Part.SLEEPS, rank, at).withProcess(setting.writerState(), setting.writerCpu());
            case WRITES_SHARD ->
                part(Part.WRITES_SHARD, rank, at).withProcess(setting.writerState(), setting.writerCpu());
            case STRAGGLES -> part(Part.SLOW, rank, at);
            case STRAGGLES_PEER -> part(Part.SLOW_PEER, rank, at);
            case COMPUTES -> part(Part.COMPUTES, rank, at);
            case STARVES -> part(Part.STARVES, rank, at);
            case SLOW_ON_CPU -> train(rank, at, steps.exchangeShare()).mixed(part(Part.LOOPS, rank, at), extra);
            case SLOW_ON_GPU -> train(rank, at, steps.exchangeShare()).mixed(part(Part.COMPUTES, rank, at), extra);
            case SLOW_PEER -> train(rank, at, steps.exchangeShare()).mixed(waits(rank, at), extra);
            // Either all GPUs are slow or the network is.
            case SLOW_AS_ALL ->
                train(rank, at, steps.exchangeShare())
                        .mixed(setting.recordings() % 2 == 0 ? part(Part.COMPUTES, rank, at) : waits(rank, at), extra);
            case HOLDS_MEMORY -> part(Part.HOLDS_MEMORY, rank, at);
        };
    }

    private Second waits(int rank, int at) {
        Second waits = part(nvlink() ? Part.WAITS_NVLINK : Part.WAITS, rank, at);
        return setting.blocks() ? waits.withProcess('S', 3) : waits;
    }

    private Second train(int rank, int at, double exchange) {
        if (nvlink()) {
            Second whole = part(Part.TRAINS_NVLINK, rank, at);
            return setting.shortSteps() ? whole : part(Part.COMPUTES, rank, at).mixed(whole, exchange);
        }
        Second whole = part(Part.TRAINS, rank, at);
        if (setting.path() == Setting.Path.NIC_AND_NVLINK) {
            whole = whole.withNvlinkOf(part(Part.TRAINS_NVLINK, rank, at));
        }
        return setting.shortSteps() ? whole : part(Part.COMPUTES, rank, at).mixed(whole, exchange);
    }

    private boolean nvlink() {
        return setting.path() == Setting.Path.NVLINK;
    }

    private Second part(Part part, int rank, int at) {
        return segments.at(part, setting.recordings() + rank, at);
    }
}

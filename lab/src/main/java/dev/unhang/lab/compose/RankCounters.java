package dev.unhang.lab.compose;

import dev.unhang.events.v1.Phase;

/** The counters and gauges of one rank's GPU and process as they stand. They only grow, but for a new process's own. */
final class RankCounters {

    final int rank;
    int pid;
    boolean gone;
    boolean traced;
    Second now;
    double power;
    double energy;
    double nvlinkOut;
    double nvlinkIn;
    double pcieOut;
    double pcieIn;
    double cpu;
    double written;
    long step;
    Phase phase = Phase.PHASE_INIT;
    double progress;

    private final double factor;
    private final double memory;

    RankCounters(int rank, Second first, Setting setting, Draw draw) {
        this.rank = rank;
        this.now = first;
        pid = 4000 + rank;
        // Boards of one kind differ a little.
        factor = setting.power() * draw.between(0.97, 1.03);
        memory = 1 + 8 * draw.between(0, 1) * (setting.power() - 0.5);
        energy = draw.between(1e8, 1e10);
        nvlinkOut = draw.between(0, 1e9);
        nvlinkIn = draw.between(0, 1e9);
        pcieOut = draw.between(0, 4e9);
        pcieIn = draw.between(0, 4e9);
        process(pid, draw);
    }

    /** A new process. */
    void process(int newPid, Draw draw) {
        pid = newPid;
        cpu = draw.between(100, 2000);
        written = draw.between(2e4, 9e4);
    }

    void add(Second second, double nvlink, Draw draw) {
        double noise = draw.between(0.98, 1.02);
        now = second;
        power = second.power() * factor;
        energy += second.energy() * factor * noise;
        nvlinkOut += second.nvlinkOut() * nvlink;
        nvlinkIn += second.nvlinkIn() * nvlink;
        pcieOut += second.pcieOut();
        pcieIn += second.pcieIn();
        cpu += second.cpu();
    }

    /** What its heartbeat says. A number of steps or a phase that moved is progress, at that time. */
    void tell(long newStep, Phase newPhase, double stepAt, double phaseAt) {
        if (newPhase != phase) {
            progress = Math.max(progress, phaseAt);
        }
        if (newStep != step) {
            progress = Math.max(progress, stepAt);
        }
        step = newStep;
        phase = newPhase;
    }

    double memoryBytes() {
        return now.memMib() * (gone ? 1.0 : memory) * (1 << 20);
    }
}

package dev.unhang.healer.detect.node;

import dev.unhang.events.v1.Phase;
import dev.unhang.events.v1.RankReading;

/**
 * Which samples of a rank may teach what training looks like. With heartbeats: those of a step that has ended, and ended
 * in time, in phase TRAIN; the samples of a step are kept until it ends. Without: those at work. The first two samples
 * after a pause are half pause and teach nothing.
 */
final class StepLearner {

    private static final int MOST_SAMPLES = 64;
    private static final int AFTER_PAUSE = 2;

    /** The first samples are learned wherever they come from: in steps of some seconds each may follow a pause. */
    private static final int FIRST = 4;

    /** Levels of one rank at training. Power is a low quantile: most of a step at full power must not hide its troughs. */
    final RunningLevel power = new RunningLevel(0.2);

    final RunningLevel memUtil = new RunningLevel(0.5);
    final RunningLevel cpu = new RunningLevel(0.5);
    final Pace pace = new Pace();

    private final double[] bufferPower = new double[MOST_SAMPLES];
    private final double[] bufferMem = new double[MOST_SAMPLES];
    private final double[] bufferCpu = new double[MOST_SAMPLES];
    private int buffered;
    private int lead;
    private int learned;
    private int steps;

    private boolean heartbeats;
    private long step;
    private Phase phase = Phase.PHASE_NONE;
    private long progressNodeMs = -1;

    /** Takes the progress of a sample. True when a step ended in it. */
    boolean progress(RankReading reading, Now now) {
        if (!reading.hasStep()) {
            return false;
        }
        boolean first = !heartbeats;
        heartbeats = true;
        boolean moved = !first && reading.getStep() > step;
        long at = now.nodeMs() - reading.getProgressAgeMs();
        if (moved) {
            steps++;
            if (progressNodeMs >= 0 && phase == Phase.PHASE_TRAIN && reading.getPhase() == Phase.PHASE_TRAIN) {
                pace.steps(1000.0 * (at - progressNodeMs) / (reading.getStep() - step));
            }
        }
        if (moved || first || phase != reading.getPhase()) {
            progressNodeMs = at;
        }
        step = reading.getStep();
        phase = reading.getPhase();
        return moved;
    }

    /** Takes the measurements of a sample. {@code atWork}: by traffic or power, where there is no heartbeat. */
    void sample(double powerMw, double mem, double cpuMillicores, boolean stepEnded, boolean atWork, boolean busy) {
        if (!heartbeats) {
            if (atWork && busy) {
                learn(powerMw, mem, cpuMillicores);
            } else if (!atWork) {
                lead = 0;
            }
            return;
        }
        if (phase != Phase.PHASE_TRAIN) {
            buffered = 0;
            lead = 0;
            return;
        }
        if (busy && buffered < MOST_SAMPLES) {
            bufferPower[buffered] = powerMw;
            bufferMem[buffered] = mem;
            bufferCpu[buffered] = cpuMillicores;
            buffered++;
        }
        if (stepEnded) {
            double usualMs = usualStepMs();
            if (!pace.slow() && (Double.isNaN(usualMs) || buffered * 1000.0 <= Math.max(3000, 3 * usualMs))) {
                for (int i = 0; i < buffered; i++) {
                    learn(bufferPower[i], bufferMem[i], bufferCpu[i]);
                }
            } else {
                lead = 0;
            }
            buffered = 0;
        }
    }

    private void learn(double powerMw, double mem, double cpuMillicores) {
        lead++;
        if (lead <= AFTER_PAUSE && learned >= FIRST) {
            return;
        }
        power.add(powerMw);
        memUtil.add(mem);
        cpu.add(cpuMillicores);
        learned++;
    }

    /** Median time of a step, ms, or NaN. */
    double usualStepMs() {
        return pace.usual() / 1000;
    }

    int learned() {
        return learned;
    }

    /** Seen at training for long enough that what differs from it means something. */
    boolean armed() {
        return heartbeats ? (steps >= 5 && learned >= 3) || learned >= 30 : learned >= 6;
    }

    void restore(int activeSamples) {
        learned = Math.max(learned, activeSamples);
        steps = Math.max(steps, activeSamples);
    }
}

package dev.unhang.healer.detect.node;

import dev.unhang.events.v1.ActivityClass;
import java.util.List;

/**
 * What a rank does now, from its GPUs, its traffic and its CPU, judged against what it itself did at training.
 * Utilisation alone never proves work: a rank that waits in a collective shows 100 % at the power of an idle context and
 * without traffic. A rank without a GPU works while its traffic flows; when it does not, only its peers tell whether it
 * waits for them or they for it, so it counts as idle here. What was not read is unknown, never quiet.
 */
final class Exertion {

    /** Weight of the last sample in the share of time that it waits: about ten seconds count. */
    private static final double WAIT_WEIGHT = 0.1;

    final Traffic traffic = new Traffic();
    final StepLearner training = new StepLearner();

    private List<GpuWatch> gpus = List.of();
    private double powerMw = Double.NaN;
    private double idleMw = Double.NaN;
    private int util = -1;
    private double wait = Double.NaN;
    private boolean low;

    private enum Lowness {
        LOW,
        HIGH,
        UNKNOWN
    }

    /** The counters of its paths for the sample that {@link #judge} is asked about next. */
    void paths(List<GpuWatch> used, Iterable<PortWatch> ports) {
        gpus = used;
        traffic.begin();
        for (PortWatch port : ports) {
            traffic.rate(port.netPath, port.netRate());
            traffic.rate(port.rdmaPath, port.rdmaRate());
        }
        double links = Double.NaN;
        for (GpuWatch gpu : gpus) {
            double one = gpu.nvlinkRate();
            links = Double.isNaN(links) ? one : Double.isNaN(one) ? links : links + one;
        }
        traffic.rate("nvlink", links);
    }

    /**
     * Judges one sample and learns from it.
     *
     * @param nodeIdleMw idle power of another GPU of the node, where its own was never seen; mW or NaN
     * @param millicores CPU use over the last interval, or NaN
     */
    ActivityClass judge(double nodeIdleMw, double millicores, boolean stepEnded) {
        measure(nodeIdleMw);
        Traffic.State moving = traffic.judge(low);
        double trainingMw = training.power.value(4);
        Lowness lowness = lowness(trainingMw);
        low = lowness == Lowness.LOW;
        boolean stands = util >= 0 && (util <= 10 || memoryStands());
        if (stands && (low || (lowness == Lowness.UNKNOWN && util <= 5 && !Double.isNaN(trainingMw)))) {
            traffic.learnBackground();
        }
        ActivityClass activity = classify(moving, lowness);
        learn(activity, moving, lowness, millicores, stepEnded);
        followWait(trainingMw);
        return activity;
    }

    private void measure(double nodeIdleMw) {
        powerMw = gpus.isEmpty() ? Double.NaN : 0;
        idleMw = gpus.isEmpty() ? Double.NaN : 0;
        util = -1;
        for (GpuWatch gpu : gpus) {
            powerMw += gpu.powerMw();
            double idle = gpu.idleMw();
            idleMw += Double.isNaN(idle) ? nodeIdleMw : idle;
            if (gpu.hasUtil()) {
                util = Math.max(util, gpu.util());
            }
        }
    }

    /** Whether power is near that of an idle context. Shares of the rank's own levels, since watts differ between boards. */
    private Lowness lowness(double trainingMw) {
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
        if (moving == Traffic.State.ACTIVE || (util >= 30 && (lowness == Lowness.HIGH || memoryWorks()))) {
            return ActivityClass.ACTIVITY_CLASS_WORK;
        }
        if (gpus.isEmpty()) {
            return moving == Traffic.State.QUIET
                    ? ActivityClass.ACTIVITY_CLASS_IDLE
                    : ActivityClass.ACTIVITY_CLASS_UNKNOWN;
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

    /** A rank that waits moves nothing in its memory; one at a lower power than usual, as under a cap, does. */
    private boolean memoryWorks() {
        double usual = training.memUtil.value(4);
        return usual >= 2 && memUtil() > usual / 2;
    }

    private boolean memoryStands() {
        double usual = training.memUtil.value(4);
        return usual >= 2 && memUtil() <= usual / 4;
    }

    private double memUtil() {
        double most = Double.NaN;
        for (GpuWatch gpu : gpus) {
            double one = gpu.memUtil();
            most = Double.isNaN(most) ? one : Double.isNaN(one) ? most : Math.max(most, one);
        }
        return most;
    }

    private void learn(
            ActivityClass activity, Traffic.State moving, Lowness lowness, double millicores, boolean stepEnded) {
        boolean waits = activity == ActivityClass.ACTIVITY_CLASS_SPIN || activity == ActivityClass.ACTIVITY_CLASS_IDLE;
        boolean busy = util < 0 ? gpus.isEmpty() : util > 20;
        if (!waits && !(training.learned() == 0 && util >= 0 && util <= 5)) {
            traffic.learn();
        }
        if (activity == ActivityClass.ACTIVITY_CLASS_IDLE) {
            traffic.learnIdle();
        }
        double usual = traffic.level();
        boolean atWork;
        if (usual >= Traffic.FLOOR) {
            // In a step of some seconds most samples compute and communicate nothing.
            boolean computes = util > 50 && (lowness == Lowness.HIGH || powerMw > 1.6 * idleMw);
            atWork = computes || (moving == Traffic.State.ACTIVE && !(powerMw < 1.3 * idleMw));
        } else {
            atWork = (util > 50 && !(powerMw < 1.3 * idleMw)) || (traffic.total() > Traffic.FLOOR && busy);
        }
        training.sample(powerMw, memUtil(), millicores, stepEnded, atWork, busy);
    }

    /**
     * A GPU that is busy and uses no power for it waits for its peers; one that is at work, or that does nothing at all,
     * does not. The difference tells a slow rank from those that wait for it in each step.
     */
    private void followWait(double trainingMw) {
        double power = powerShare(trainingMw);
        if (util < 0 || Double.isNaN(power)) {
            return;
        }
        double now = Math.max(0, util / 100.0 - Math.min(1, power));
        wait = Double.isNaN(wait) ? now : wait + WAIT_WEIGHT * (now - wait);
    }

    private double powerShare(double trainingMw) {
        double above = Double.isNaN(idleMw) ? 0 : idleMw;
        return (powerMw - above) / (trainingMw - above);
    }

    /** Power now, as a share of that at training above that of an idle context; NaN while unknown. */
    double powerShare() {
        return powerShare(training.power.value(4));
    }

    /** Share of the last ten seconds in which it waited; NaN while unknown. */
    double waiting() {
        return wait;
    }

    /** Percent, the highest of its GPUs; -1 while unknown. */
    int util() {
        return util;
    }
}

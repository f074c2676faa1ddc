package dev.unhang.healer.detect.node;

import dev.unhang.events.v1.RankReading;
import dev.unhang.events.v1.RankReport;
import java.util.List;

/** Puts the measurements of one rank into its report; what is unknown stays absent. */
record RankFigures(
        RankReading last,
        List<GpuWatch> gpus,
        Exertion exertion,
        Counter cpu,
        Counter written,
        Counter readIn,
        List<String> portsDown) {

    private static final int MOST_PER_MILLE = 100_000;

    void into(RankReport.Builder report) {
        if (last.hasStep()) {
            report.setStep(last.getStep());
        }
        report.setPhaseValue(last.getPhaseValue())
                .setTracerPid(last.getTracerPid())
                .setThreadsD(last.getThreadsD());
        if (last.hasProgressAgeMs()) {
            report.setProgressAgeMs(last.getProgressAgeMs());
        }
        if (last.hasHeartbeatAgeMs()) {
            report.setHeartbeatAgeMs(last.getHeartbeatAgeMs());
        }
        for (GpuWatch gpu : gpus) {
            report.addGpus(gpu.uuid);
        }
        double power = exertion.powerShare();
        if (!Double.isNaN(power)) {
            report.setPowerSharePm(perMille(power));
        }
        Traffic traffic = exertion.traffic;
        if (!Double.isNaN(traffic.share())) {
            report.setTrafficSharePm(perMille(traffic.share()));
        }
        if (!Double.isNaN(traffic.total())) {
            report.setTrafficBps((long) traffic.total());
        }
        Pace pace = exertion.training.pace;
        if (!Double.isNaN(pace.recent()) && !Double.isNaN(pace.usual())) {
            report.setStepUs((int) pace.recent()).setUsualStepUs((int) pace.usual());
        }
        if (!Double.isNaN(exertion.waiting())) {
            report.setWaitPm(perMille(exertion.waiting()));
        }
        if (!Double.isNaN(cpu.rate())) {
            report.setCpuMillicores((int) (cpu.rate() * 10));
        }
        if (!Double.isNaN(written.rate())) {
            report.setWriteBps((long) (written.rate() * 1024));
        }
        if (!Double.isNaN(readIn.rate())) {
            report.setReadBps((long) (readIn.rate() * 1024));
        }
        if (exertion.util() >= 0) {
            report.setUtil(exertion.util());
        }
        if (!portsDown.isEmpty()) {
            report.addAllPortsDown(portsDown).setPathDown(portsDown.size());
        }
    }

    private static int perMille(double share) {
        return (int) Math.min(MOST_PER_MILLE, Math.max(0, share * 1000));
    }
}

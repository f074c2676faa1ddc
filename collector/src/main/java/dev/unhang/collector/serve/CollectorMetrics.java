package dev.unhang.collector.serve;

import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.Loss;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.RankReading;
import dev.unhang.events.v1.RdmaReading;
import dev.unhang.events.v1.ReadStatus;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.function.ToDoubleFunction;

/**
 * All meters of a collector, named in one place. Those of devices are made of the last sample when somebody asks, so they
 * cost nothing in between; one whose value was not read is absent, and never zero. Labels are bounded: a node's GPUs,
 * NICs, and ranks of live processes. Confined to the server's event loop.
 */
public final class CollectorMetrics {

    /** What {@link #scrape} gives. */
    public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private static final List<String> NONE = List.of();
    private static final List<String> GPU = List.of("gpu");
    private static final List<String> NIC = List.of("nic", "device");
    private static final List<String> PORT = List.of("port", "device");
    private static final List<String> RANK = List.of("job", "rank");
    private static final List<String> SOURCE = List.of("source");

    private final Served served;
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final ShownMeters shown = new ShownMeters(registry);

    private final Meter samples =
            counter("unhang.collector.samples", "Samples taken since the collector started", NONE);
    private final Meter sampleAge = gauge("unhang.collector.sample.age.seconds", "Age of the last sample", NONE);
    private final Meter late = gauge("unhang.collector.sample.late.seconds", "How late the last sample began", NONE);
    private final Meter sent = counter("unhang.collector.sent", "Records that the broker acknowledged", NONE);
    private final Meter lost = counter("unhang.collector.lost", "Records and inputs dropped, by kind", List.of("kind"));
    private final Meter backlogRecords = gauge("unhang.collector.backlog.records", "Records that wait", NONE);
    private final Meter backlogBytes = gauge("unhang.collector.backlog.bytes", "Bytes that wait", NONE);
    private final Meter backlogAge =
            gauge("unhang.collector.backlog.age.seconds", "Age of the oldest that waits", NONE);
    private final Meter sourceUp = gauge("unhang.source.up", "1 while the source can be read", SOURCE);
    private final Meter sourceStuck = gauge("unhang.source.stuck", "1 while a call has not come back", SOURCE);
    private final Meter sourceRead = gauge("unhang.source.read.seconds", "How long the last read took", SOURCE);

    private final Meter gpuUp = gauge("unhang.gpu.up", "1 while the GPU answers", GPU);
    private final Meter gpuUtil = gauge("unhang.gpu.util.percent", "Share of time with a kernel running", GPU);
    private final Meter gpuMemUtil = gauge("unhang.gpu.mem.util.percent", "Share of time with memory traffic", GPU);
    private final Meter gpuEnergy = counter("unhang.gpu.energy.joules", "Energy since the driver was loaded", GPU);
    private final Meter gpuPower = gauge("unhang.gpu.power.watts", "Power at this instant", GPU);
    private final Meter gpuTemp = gauge("unhang.gpu.temperature.celsius", "Die temperature", GPU);
    private final Meter gpuMargin =
            gauge("unhang.gpu.temperature.margin.celsius", "Degrees to the slowdown limit", GPU);
    private final Meter gpuMemUsed = gauge("unhang.gpu.memory.used.bytes", "Memory in use", GPU);
    private final Meter gpuSm = gauge("unhang.gpu.sm.clock.hertz", "SM clock", GPU);
    private final Meter gpuMem = gauge("unhang.gpu.memory.clock.hertz", "Memory clock", GPU);
    private final Meter gpuNvlinkTx = counter("unhang.gpu.nvlink.tx.bytes", "Sent over all NVLinks", GPU);
    private final Meter gpuNvlinkRx = counter("unhang.gpu.nvlink.rx.bytes", "Received over all NVLinks", GPU);
    private final Meter gpuNvlinkErrors =
            counter("unhang.gpu.nvlink.errors", "Replays, recoveries and CRC errors", GPU);
    private final Meter gpuNvlinksDown = gauge("unhang.gpu.nvlinks.down", "NVLinks that were up and are not", GPU);
    private final Meter gpuEcc =
            counter("unhang.gpu.ecc.uncorrectable", "Uncorrectable ECC errors since driver load", GPU);
    private final Meter gpuReplays = counter("unhang.gpu.pcie.replays", "PCIe replays", GPU);
    private final Meter gpuRecovery = gauge("unhang.gpu.recovery.action", "What the driver asks for; 0 none", GPU);
    private final Meter gpuProcesses = gauge("unhang.gpu.processes", "Compute processes", GPU);

    private final Meter nicUp = gauge("unhang.nic.up", "1 while the device is up", NIC);
    private final Meter nicRx = counter("unhang.nic.rx.bytes", "Received; without RDMA", NIC);
    private final Meter nicTx = counter("unhang.nic.tx.bytes", "Sent; without RDMA", NIC);
    private final Meter nicRxPackets = counter("unhang.nic.rx.packets", "Packets received", NIC);
    private final Meter nicTxPackets = counter("unhang.nic.tx.packets", "Packets sent", NIC);
    private final Meter nicErrors = counter("unhang.nic.errors", "Errors, received and sent", NIC);
    private final Meter nicCarrier = counter("unhang.nic.carrier.changes", "Changes of the carrier", NIC);
    private final Meter rdmaUp = gauge("unhang.rdma.up", "1 while the port is active", PORT);
    private final Meter rdmaRx = counter("unhang.rdma.rx.bytes", "Received over RDMA", PORT);
    private final Meter rdmaTx = counter("unhang.rdma.tx.bytes", "Sent over RDMA", PORT);

    private final Meter rankAge = gauge("unhang.rank.progress.age.seconds", "Since step or phase last moved", RANK);
    private final Meter rankStep = gauge("unhang.rank.step", "Training step, by its heartbeat", RANK);
    private final Meter rankCpu = counter("unhang.rank.cpu.seconds", "Processor time of the process", RANK);
    private final Meter rankStopped = gauge("unhang.rank.stopped", "1 while the process is stopped (state T)", RANK);
    private final Meter rankBlocked = gauge("unhang.rank.blocked.threads", "Threads in uninterruptible sleep", RANK);
    private final Meter clockOffset = gauge("unhang.clock.offset.seconds", "Above zero: ahead of true time", NONE);
    private final Meter clockSynced = gauge("unhang.clock.synced", "1 while the kernel's clock is disciplined", NONE);

    public CollectorMetrics(Served served) {
        this.served = served;
    }

    /** One meter, for the page. */
    public record Meter(String name, boolean counter, String meaning, List<String> labels) {

        /** As Prometheus spells it. */
        public String shownName() {
            return name.replace('.', '_') + (counter ? "_total" : "");
        }
    }

    /** All meters, in the order of the page. */
    public List<Meter> meters() {
        return shown.declared();
    }

    /** The text that Prometheus reads. */
    public String scrape() {
        NodeSample sample = served.last();
        shown.begin();
        self(sample);
        sample.getGpusList().forEach(this::gpu);
        sample.getNicsList().forEach(this::nic);
        sample.getRdmaList().forEach(this::rdma);
        sample.getRanksList().forEach(rank -> rank(sample, rank));
        shown.set(
                clockOffset, sample.getClock().hasOffsetNs(), sample.getClock().getOffsetNs() / 1e9);
        shown.set(
                clockSynced,
                sample.getClock().hasKernelSynced(),
                flag(sample.getClock().getKernelSynced()));
        shown.end();
        return registry.scrape();
    }

    private void self(NodeSample sample) {
        shown.set(samples, true, sample.getSeq());
        shown.set(sampleAge, sample.getSeq() > 0, served.lastAgeMs() / 1e3);
        shown.set(late, sample.getSeq() > 0, sample.getLateMs() / 1e3);
        shown.set(sent, true, served.sent());
        shown.set(backlogRecords, true, served.backlog().records());
        shown.set(backlogBytes, true, served.backlog().bytes());
        shown.set(backlogAge, true, served.backlog().oldestMs() / 1e3);
        for (Loss loss : sample.getLostList()) {
            shown.set(lost, true, loss.getCount(), loss.getKind());
        }
        served.health().forEach(health -> {
            String source = health.source();
            shown.set(sourceUp, true, flag(health.status() == ReadStatus.READ_STATUS_OK), source);
            shown.set(sourceStuck, true, flag(health.status() == ReadStatus.READ_STATUS_STUCK), source);
            shown.set(sourceRead, true, health.readMs() / 1e3, source);
        });
    }

    private void gpu(GpuReading gpu) {
        String uuid = uuid(gpu);
        shown.set(gpuUp, true, flag(gpu.getStatus() == ReadStatus.READ_STATUS_OK), uuid);
        shown.set(gpuUtil, gpu.hasUtil(), gpu.getUtil(), uuid);
        shown.set(gpuMemUtil, gpu.hasMemUtil(), gpu.getMemUtil(), uuid);
        shown.set(gpuEnergy, gpu.hasEnergyMj(), gpu.getEnergyMj() / 1e3, uuid);
        shown.set(gpuPower, gpu.hasPowerMw(), gpu.getPowerMw() / 1e3, uuid);
        shown.set(gpuTemp, gpu.hasTempC(), gpu.getTempC(), uuid);
        shown.set(gpuMargin, gpu.hasTempMarginC(), gpu.getTempMarginC(), uuid);
        shown.set(gpuMemUsed, gpu.hasMemUsedMib(), gpu.getMemUsedMib() * 1048576.0, uuid);
        shown.set(gpuSm, gpu.hasSmMhz(), gpu.getSmMhz() * 1e6, uuid);
        shown.set(gpuMem, gpu.hasMemMhz(), gpu.getMemMhz() * 1e6, uuid);
        shown.set(gpuNvlinkTx, gpu.hasNvlinkTxKib(), gpu.getNvlinkTxKib() * 1024.0, uuid);
        shown.set(gpuNvlinkRx, gpu.hasNvlinkRxKib(), gpu.getNvlinkRxKib() * 1024.0, uuid);
        boolean answers = gpu.getStatus() == ReadStatus.READ_STATUS_OK;
        trouble(gpu, answers, "nvlink_errors", gpuNvlinkErrors, GpuReading::getNvlinkErrors);
        trouble(gpu, answers, "nvlinks_down", gpuNvlinksDown, GpuReading::getNvlinksDown);
        trouble(gpu, answers, "ecc_dbe_volatile", gpuEcc, GpuReading::getEccDbeVolatile);
        trouble(gpu, answers, "pcie_replays", gpuReplays, GpuReading::getPcieReplays);
        trouble(gpu, answers, "recovery_action", gpuRecovery, GpuReading::getRecoveryAction);
        shown.set(gpuProcesses, answers, gpu.getPidsCount(), uuid);
    }

    /** A count of trouble is zero when nothing is wrong; whether it was read stands elsewhere. */
    private void trouble(
            GpuReading gpu, boolean answers, String field, Meter meter, ToDoubleFunction<GpuReading> value) {
        boolean failed =
                gpu.getFaultsList().stream().anyMatch(fault -> fault.getField().equals(field));
        boolean unsupported = served.inventory().getGpusList().stream()
                .anyMatch(known -> known.getUuid().equals(gpu.getUuid())
                        && known.getUnsupportedList().contains(field));
        shown.set(meter, answers && !failed && !unsupported, value.applyAsDouble(gpu), uuid(gpu));
    }

    private void nic(NicReading nic) {
        String[] labels = {nic.getId(), nic.getName()};
        boolean known = nic.getState() != OperState.OPER_STATE_UNKNOWN;
        shown.set(nicUp, known, flag(nic.getState() == OperState.OPER_STATE_UP), labels);
        shown.set(nicRx, nic.hasRxBytes(), nic.getRxBytes(), labels);
        shown.set(nicTx, nic.hasTxBytes(), nic.getTxBytes(), labels);
        shown.set(nicRxPackets, nic.hasRxPackets(), nic.getRxPackets(), labels);
        shown.set(nicTxPackets, nic.hasTxPackets(), nic.getTxPackets(), labels);
        boolean answers = nic.getStatus() == ReadStatus.READ_STATUS_OK;
        shown.set(nicErrors, answers, (double) nic.getRxErrors() + nic.getTxErrors(), labels);
        shown.set(nicCarrier, answers, nic.getCarrierChanges(), labels);
    }

    private void rdma(RdmaReading port) {
        String[] labels = {port.getId(), port.getName()};
        shown.set(rdmaUp, port.getState() != 0, flag(port.getState() == 4), labels);
        shown.set(rdmaRx, port.hasRxBytes(), port.getRxBytes(), labels);
        shown.set(rdmaTx, port.hasTxBytes(), port.getTxBytes(), labels);
    }

    private void rank(NodeSample sample, RankReading rank) {
        String job = rank.getJob() < sample.getJobsCount() ? name(sample.getJobs(rank.getJob())) : "";
        String[] labels = {job, Integer.toString(rank.getRank())};
        shown.set(rankAge, rank.hasProgressAgeMs(), rank.getProgressAgeMs() / 1e3, labels);
        shown.set(rankStep, rank.hasStep(), rank.getStep(), labels);
        shown.set(rankCpu, rank.hasCpuTicks(), rank.getCpuTicks() / 100.0, labels);
        shown.set(rankStopped, rank.getState() != 0, flag(rank.getState() == 'T'), labels);
        shown.set(rankBlocked, rank.getState() != 0, rank.getThreadsD(), labels);
    }

    /** The first identity that is present, in the order in which the healer names jobs. */
    static String name(JobIdentity job) {
        for (String name :
                List.of(job.getHeartbeat(), job.getSlurm(), job.getK8S(), job.getTorchelastic(), job.getMaster())) {
            if (!name.isEmpty()) {
                return name;
            }
        }
        return job.getLocal();
    }

    static String uuid(GpuReading gpu) {
        if (gpu.getUuid().size() != 16) {
            return "";
        }
        ByteBuffer bytes = gpu.getUuid().asReadOnlyByteBuffer();
        return "GPU-" + new UUID(bytes.getLong(), bytes.getLong()).toString().toLowerCase(Locale.ROOT);
    }

    private Meter gauge(String name, String meaning, List<String> labels) {
        return shown.declare(new Meter(name, false, meaning, labels));
    }

    private Meter counter(String name, String meaning, List<String> labels) {
        return shown.declare(new Meter(name, true, meaning, labels));
    }

    private static double flag(boolean on) {
        return on ? 1 : 0;
    }
}

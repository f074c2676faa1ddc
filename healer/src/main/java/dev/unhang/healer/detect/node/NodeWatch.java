package dev.unhang.healer.detect.node;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.unhang.events.v1.CollectorStopped;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.GpuInventory;
import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.KernelEvent;
import dev.unhang.events.v1.KernelKind;
import dev.unhang.events.v1.LearnedGpu;
import dev.unhang.events.v1.LearnedNode;
import dev.unhang.events.v1.NicInventory;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.RdmaReading;
import dev.unhang.events.v1.ReadStatus;
import dev.unhang.events.v1.SourceFault;
import dev.unhang.events.v1.Watch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One node: takes its records, keeps its watches, says what is wrong on it and reports it to the rest of the house. Time
 * inside the node is its monotonic clock; only silence is measured in log time.
 */
final class NodeWatch {

    /** A sample that waited for longer raises, confirms and clears nothing, ms. */
    static final long FRESH_MS = 3_000;

    /** A difference over more than this tells too little of now, s. */
    private static final double LONGEST_INTERVAL_S = 15;

    private final String node;
    private final Origin origin;
    private final Findings findings;
    private final Speakers speakers = new Speakers();
    private final Silence silence;
    private final ClockWatch clock = new ClockWatch();
    private final StampOffset stampOffset = new StampOffset();
    private final Map<ByteString, GpuWatch> gpus = new LinkedHashMap<>();
    private final Map<String, PortWatch> ports = new LinkedHashMap<>();
    private final Map<String, ByteString> gpuByPci = new HashMap<>();
    private final Map<String, String> nicNames = new HashMap<>();
    private final Map<String, List<String>> nicAddresses = new HashMap<>();
    private final Ranks ranks = new Ranks();
    private final Reporter reporter = new Reporter();
    private final List<GpuWatch> ofSample = new ArrayList<>();
    private final List<GpuWatch> ofSampleBefore = new ArrayList<>();

    private NodeSample last = NodeSample.getDefaultInstance();
    private NodeInventory inventory = NodeInventory.getDefaultInstance();
    private @Nullable LearnedNode learnedBefore;
    private boolean heard;
    private long eventSeq;
    private long eventStart;
    private Now then;

    NodeWatch(String node, Origin origin, long logMs) {
        this.node = node;
        this.origin = origin;
        this.findings = new Findings(origin, node);
        this.silence = new Silence(logMs);
        this.then = new Now(logMs, 0, 0, false);
    }

    void onSample(NodeSample sample, long logMs, long stampMs, long resumedLogMs, List<Message> out) {
        heard(logMs);
        Speakers.Order order = speakers.sample(sample.getBootId(), sample.getCollectorStart(), sample.getSeq(), logMs);
        boolean fresh = sample.getQueuedMs() <= FRESH_MS;
        Now now = new Now(logMs, stampMs, sample.getMonoNs() / 1_000_000, fresh);
        double seconds = Double.NaN;
        switch (order) {
            case IGNORED -> {
                sayAlive(new Now(logMs, stampMs, then.nodeMs(), true), resumedLogMs, out);
                return;
            }
            case REBOOTED -> rebooted(sample.getBootId());
            case RESTARTED -> forgetCounters();
            case NEXT -> {
                double since = (sample.getMonoNs() - last.getMonoNs()) / 1e9;
                seconds = since > 0 && since <= LONGEST_INTERVAL_S ? since : Double.NaN;
            }
        }
        last = sample;
        then = now;
        measure(sample, seconds, now);
        if (!fresh) {
            sayAlive(now, resumedLogMs, out);
        } else {
            stampOffset.add(sample.getWallNs(), sample.getQueuedMs(), stampMs, logMs);
            judge(now, resumedLogMs, out);
        }
        int picture = picture();
        if (reporter.due(well(), picture, now)) {
            out.add(report(now, Watch.WATCH_WATCHED));
            reporter.sent(picture, logMs);
        }
    }

    private void rebooted(ByteString boot) {
        forgetCounters();
        gpus.clear();
        ofSample.clear();
        ports.clear();
        ranks.rebooted();
        reporter.rebooted();
        restoreLearned(boot);
    }

    private void forgetCounters() {
        gpus.values().forEach(GpuWatch::forgetCounters);
        ports.values().forEach(PortWatch::forgetCounters);
        ranks.forgetCounters();
    }

    private void measure(NodeSample sample, double seconds, Now now) {
        for (GpuWatch gpu : gpus.values()) {
            gpu.absent();
        }
        ofSampleBefore.clear();
        ofSampleBefore.addAll(ofSample);
        ofSample.clear();
        double idleMw = Double.NaN;
        for (GpuReading reading : sample.getGpusList()) {
            GpuWatch gpu = inOrder(reading.getUuid());
            gpu.onSample(reading, seconds, now);
            ofSample.add(gpu);
            if (Double.isNaN(idleMw)) {
                idleMw = 1.05 * gpu.idleMw();
            }
        }
        measurePorts(sample, seconds, now);
        ranks.onSample(sample, answered("process"), ofSample, ports.values(), idleMw, seconds, now);
        clock.onSample(sample.getClock(), sample.hasClock(), now);
    }

    private void measurePorts(NodeSample sample, double seconds, Now now) {
        for (PortWatch port : ports.values()) {
            port.begin();
        }
        for (NicReading reading : sample.getNicsList()) {
            port(reading.getId(), reading.getName()).nic(reading, seconds);
        }
        for (RdmaReading reading : sample.getRdmaList()) {
            port(reading.getId(), reading.getName()).rdma(reading, seconds);
        }
        boolean nicsListed = answered("net");
        boolean rdmaListed = answered("rdma");
        for (PortWatch port : ports.values()) {
            port.end(now, nicsListed, rdmaListed);
        }
    }

    /** Nearly all samples list the same GPUs in the same order. */
    private GpuWatch inOrder(ByteString uuid) {
        int next = ofSample.size();
        return next < ofSampleBefore.size() && ofSampleBefore.get(next).uuid.equals(uuid)
                ? ofSampleBefore.get(next)
                : gpu(uuid);
    }

    private GpuWatch gpu(ByteString uuid) {
        GpuWatch known = gpus.get(uuid);
        if (known == null) {
            known = new GpuWatch(uuid);
            gpus.put(uuid, known);
            LearnedNode learned = learnedBefore;
            if (learned != null) {
                restoreGpus(learned);
            }
        }
        return known;
    }

    private PortWatch port(String id, String name) {
        PortWatch known = ports.get(id);
        if (known == null) {
            known = new PortWatch(id, name.isEmpty() ? nicNames.getOrDefault(id, "") : name);
            ports.put(id, known);
            LearnedNode learned = learnedBefore;
            if (learned != null && learned.getNicsSeenUpList().contains(id)) {
                known.restoreWasUp();
            }
        }
        return known;
    }

    /** Whether a source gave its readings in the last sample, so that what is not listed is not there. */
    private boolean answered(String source) {
        for (SourceFault fault : last.getSourcesList()) {
            if (fault.getSource().equals(source)) {
                return lacksSomePermission(fault);
            }
        }
        return true;
    }

    /** Processes whose environment is forbidden were never told as ranks; those that were are all listed nonetheless. */
    private static boolean lacksSomePermission(SourceFault fault) {
        return fault.getSource().equals("process") && fault.getStatus() == ReadStatus.READ_STATUS_NO_PERMISSION;
    }

    private void judge(Now now, long resumedLogMs, List<Message> out) {
        sayAlive(now, resumedLogMs, out);
        for (PortWatch port : ports.values()) {
            if (port.mayBeSaid()) {
                findings.say(port.judge(node, now), now, out);
            }
        }
        for (GpuWatch gpu : gpus.values()) {
            if (gpu.mayBeSaid()) {
                findings.say(gpu.judge(node, now), now, out);
            }
        }
        if (clock.mayBeSaid()) {
            findings.say(clock.judge(node, now), now, out);
        }
        if (speakers.several()) {
            findings.say(speakers.judge(node, now), now, out);
        }
    }

    /** It speaks, so it is not silent: said whenever silence was said before. */
    private void sayAlive(Now now, long resumedLogMs, List<Message> out) {
        if (!findings.none()) {
            findings.say(silence.judge(node, now, resumedLogMs), now, out);
        }
    }

    void onEvent(NodeEvent event, long logMs, long stampMs) {
        heard(logMs);
        if (event.getCollectorStart() == eventStart && event.getSeq() <= eventSeq) {
            return;
        }
        eventStart = event.getCollectorStart();
        eventSeq = event.getSeq();
        if (event.hasStarted()) {
            speakers.machine(
                    event.getBootId(),
                    event.getCollectorStart(),
                    event.getStarted().getMachineId());
        } else if (event.hasStopped()) {
            goodbye(event.getStopped(), event, logMs);
        } else if (event.hasKernel()) {
            onKernel(event.getKernel(), at(event, logMs, stampMs));
        } else if (event.hasNccl()) {
            ranks.onNccl(event.getNccl(), at(event, logMs, stampMs));
        }
    }

    private Now at(NodeEvent event, long logMs, long stampMs) {
        return new Now(logMs, stampMs, event.getMonoNs() / 1_000_000, true);
    }

    private void goodbye(CollectorStopped stopped, NodeEvent event, long logMs) {
        boolean ofTheOneBefore = last.getCollectorStart() != 0 && event.getCollectorStart() != last.getCollectorStart();
        if (!ofTheOneBefore && stopped != null) {
            silence.goodbye(logMs);
        }
    }

    private void onKernel(KernelEvent event, Now now) {
        int xid = event.getKind() == KernelKind.KERNEL_KIND_XID
                ? event.getCode()
                : event.getKind() == KernelKind.KERNEL_KIND_GPU_GONE ? 79 : 0;
        ByteString uuid = gpuByPci.get(event.getPci());
        if (xid != 0 && uuid != null) {
            gpu(uuid).onXid(xid, event.getText(), now);
        }
    }

    void onInventory(NodeInventory next, long logMs) {
        heard(logMs);
        inventory = next;
        speakers.machine(next.getBootId(), next.getCollectorStart(), next.getMachineId());
        gpuByPci.clear();
        for (GpuInventory gpu : next.getGpusList()) {
            gpuByPci.put(gpu.getPci(), gpu.getUuid());
        }
        nicNames.clear();
        nicAddresses.clear();
        for (NicInventory nic : next.getNicsList()) {
            nicNames.put(nic.getId(), nic.getName());
            nicAddresses.put(nic.getId(), nic.getAddressesList());
            PortWatch port = ports.get(nic.getId());
            if (port != null) {
                port.named(nic.getName());
            }
        }
    }

    /** Any other record of its collector. */
    void heard(long logMs) {
        heard = true;
        silence.heard(logMs);
    }

    /** Log time goes on. */
    void onPulse(long logMs, long stampMs, long resumedLogMs, List<Message> out) {
        Watch watch = silence.watch(logMs, resumedLogMs);
        boolean silent = watch == Watch.WATCH_SILENT;
        if (!silent && !reporter.elapsed(logMs)) {
            return;
        }
        if (!silent && !heard) {
            return;
        }
        if (silent) {
            reporter.alarm();
        } else if (watch == Watch.WATCH_WATCHED && silence.silentMs(logMs) < Silence.SUSPECT_MS) {
            return; // its next sample will bring a report that is younger
        }
        Now now = new Now(logMs, stampMs, then.nodeMs() + Math.max(0, logMs - then.logMs()), true);
        if (silent) {
            findings.say(silence.judge(node, now, resumedLogMs), now, out);
        }
        if (reporter.elapsed(logMs)) {
            out.add(report(now, watch));
            reporter.sent(picture(), logMs);
        }
    }

    private boolean well() {
        return findings.none() && ranks.well() && !stuck();
    }

    private boolean stuck() {
        for (SourceFault fault : last.getSourcesList()) {
            if (fault.getStatus() == ReadStatus.READ_STATUS_STUCK) {
                return true;
            }
        }
        return false;
    }

    private int picture() {
        int hash = ranks.picture();
        for (PortWatch port : ports.values()) {
            hash = 31 * hash + (port.down() ? 1 : 2);
        }
        for (GpuReading gpu : last.getGpusList()) {
            hash = 31 * hash + gpu.getStatusValue();
        }
        for (SourceFault fault : last.getSourcesList()) {
            hash = 31 * hash + fault.getStatusValue();
        }
        return 31 * hash + inventory.getHash().hashCode();
    }

    NodeReport report(Now now, Watch watch) {
        NodeReport.Builder report = NodeReport.newBuilder()
                .setOrigin(origin)
                .setNode(node)
                .setBootId(last.getBootId())
                .setCollectorStart(last.getCollectorStart())
                .setWallNs(last.getWallNs())
                .setStampMs(then.stampMs())
                .setWatch(watch)
                .setSilentMs((int) silence.silentMs(now.logMs()))
                .setInventoryHash(inventory.getHash())
                .putAllLabels(inventory.getLabelsMap())
                .setMachineId(Hex.of(speakers.machine(), 4))
                .setWell(!reporter.alarmed() && watch != Watch.WATCH_SILENT)
                .addAllNotes(notes())
                .addAllRanks(ranks.reports(now));
        gpus.values().forEach(gpu -> report.addGpus(gpu.report()));
        ports.values().forEach(port -> report.addNics(port.report(now, nicAddresses.getOrDefault(port.id, List.of()))));
        if (clock.known()) {
            report.setClockOffsetNs(clock.offsetNs()).setClockBoundNs(clock.boundNs());
        }
        if (stampOffset.known()) {
            report.setStampOffsetNs(stampOffset.ns());
        }
        return report.build();
    }

    private List<String> notes() {
        List<String> notes = new ArrayList<>();
        for (SourceFault fault : last.getSourcesList()) {
            switch (fault.getStatus()) {
                case READ_STATUS_STUCK ->
                    notes.add("source " + fault.getSource() + " is stuck for " + fault.getSinceMs() / 1000 + " s"
                            + (fault.getDetail().isEmpty() ? "" : ": " + fault.getDetail()));
                case READ_STATUS_ABSENT, READ_STATUS_NOT_SUPPORTED, READ_STATUS_PENDING, READ_STATUS_OK -> {}
                default ->
                    notes.add("source " + fault.getSource() + ": "
                            + (fault.getDetail().isEmpty() ? fault.getStatus().name() : fault.getDetail()));
            }
        }
        clock.notes(notes);
        return notes;
    }

    /** What holds now, for the first words of a new owner. */
    void standing(long logMs, long stampMs, long resumedLogMs, List<Message> out) {
        Now now = new Now(logMs, stampMs, then.nodeMs() + Math.max(0, logMs - then.logMs()), true);
        Watch watch = silence.watch(logMs, resumedLogMs);
        if (watch == Watch.WATCH_SILENT) {
            findings.say(silence.judge(node, now, resumedLogMs), now, new ArrayList<>());
        }
        if (heard || watch == Watch.WATCH_SILENT) {
            out.add(report(now, watch));
            reporter.sent(picture(), logMs);
        }
        for (Finding finding : findings.standing()) {
            out.add(finding.toBuilder().setOrigin(origin).build());
        }
    }

    LearnedNode learned(long logMs) {
        LearnedNode.Builder learned = LearnedNode.newBuilder()
                .setNode(node)
                .setBootId(last.getBootId())
                .setSilentMs(Math.max(0, silence.silentMs(logMs)));
        if (silence.unwatchedMs(logMs) >= 0) {
            learned.setUnwatchedMs(silence.unwatchedMs(logMs));
        }
        ranks.learned(learned);
        gpus.values().forEach(gpu -> learned.addGpus(gpu.learned()));
        for (PortWatch port : ports.values()) {
            if (port.wasUp()) {
                learned.addNicsSeenUp(port.id);
            }
        }
        return learned.build();
    }

    /** Takes over what the owner before knew. Only what is of the same boot and the same processes is believed. */
    void restore(LearnedNode learned, long logMs) {
        if (!heard) {
            long goodbye = learned.hasUnwatchedMs() ? logMs - learned.getUnwatchedMs() : Silence.NEVER;
            silence.restore(logMs - learned.getSilentMs(), goodbye);
        }
        learnedBefore = learned;
        if (last.getSeq() > 0) {
            restoreLearned(last.getBootId());
        }
    }

    private void restoreLearned(ByteString boot) {
        LearnedNode learned = learnedBefore;
        if (learned == null) {
            return;
        }
        if (!learned.getBootId().equals(boot)) {
            learnedBefore = null;
            return;
        }
        ranks.restore(learned);
        restoreGpus(learned);
        for (String id : learned.getNicsSeenUpList()) {
            PortWatch port = ports.get(id);
            if (port != null) {
                port.restoreWasUp();
            }
        }
    }

    private void restoreGpus(LearnedNode learned) {
        for (LearnedGpu each : learned.getGpusList()) {
            GpuWatch gpu = gpus.get(each.getUuid());
            if (gpu != null) {
                gpu.restore(each);
            }
        }
    }
}

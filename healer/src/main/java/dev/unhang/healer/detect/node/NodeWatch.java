package dev.unhang.healer.detect.node;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.LearnedNode;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.Watch;
import java.util.ArrayList;
import java.util.List;
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
    private final Devices devices = new Devices();
    private final Ranks ranks = new Ranks();
    private final Reporter reporter = new Reporter();

    private NodeSample last = NodeSample.getDefaultInstance();
    private SourceFaults sources = SourceFaults.of(last);
    private NodeInventory inventory = NodeInventory.getDefaultInstance();
    private @Nullable LearnedNode learnedBefore;
    private ByteString machine = ByteString.EMPTY;
    private String machineId = "";
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
        sources = SourceFaults.of(sample);
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
        devices.rebooted();
        ranks.rebooted();
        reporter.rebooted();
        restoreLearned(boot);
    }

    private void forgetCounters() {
        devices.forgetCounters();
        ranks.forgetCounters();
    }

    private void measure(NodeSample sample, double seconds, Now now) {
        devices.onSample(sample, sources, seconds, now);
        ranks.onSample(
                sample,
                sources.answered("process"),
                devices.ofSample(),
                devices.ports(),
                devices.idleMw(),
                seconds,
                now);
        clock.onSample(sample.getClock(), sample.hasClock(), now);
    }

    private void judge(Now now, long resumedLogMs, List<Message> out) {
        sayAlive(now, resumedLogMs, out);
        devices.judge(node, now, verdict -> findings.say(verdict, now, out));
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
            goodbye(event, logMs);
        } else if (event.hasKernel()) {
            devices.onKernel(event.getKernel(), at(event, logMs, stampMs));
        } else if (event.hasNccl()) {
            ranks.onNccl(event.getNccl(), at(event, logMs, stampMs));
        }
    }

    private Now at(NodeEvent event, long logMs, long stampMs) {
        return new Now(logMs, stampMs, event.getMonoNs() / 1_000_000, true);
    }

    private void goodbye(NodeEvent event, long logMs) {
        if (last.getCollectorStart() == 0 || event.getCollectorStart() == last.getCollectorStart()) {
            silence.goodbye(logMs);
        }
    }

    void onInventory(NodeInventory next, long logMs) {
        heard(logMs);
        inventory = next;
        speakers.machine(next.getBootId(), next.getCollectorStart(), next.getMachineId());
        devices.onInventory(next);
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
        if (!silent && !(reporter.elapsed(logMs) && heard)) {
            return;
        }
        if (silent) {
            reporter.alarm();
        } else if (watch == Watch.WATCH_WATCHED && silence.silentMs(logMs) < Silence.SUSPECT_MS) {
            return; // its next sample will bring a report that is younger
        }
        Now now = afterLast(logMs, stampMs);
        if (silent) {
            findings.say(silence.judge(node, now, resumedLogMs), now, out);
        }
        if (reporter.elapsed(logMs)) {
            out.add(report(now, watch));
            reporter.sent(picture(), logMs);
        }
    }

    private boolean well() {
        return findings.none() && ranks.well() && !sources.stuck();
    }

    private int picture() {
        int hash = sources.picture(devices.picture(ranks.picture(), last));
        return 31 * hash + inventory.getHash().hashCode();
    }

    private String machineId() {
        if (!speakers.machine().equals(machine)) {
            machine = speakers.machine();
            machineId = Hex.of(machine, 4);
        }
        return machineId;
    }

    NodeReport report(Now now, Watch watch) {
        List<String> notes = sources.notes();
        clock.notes(notes);
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
                .setMachineId(machineId())
                .setWell(!reporter.alarmed() && watch != Watch.WATCH_SILENT)
                .addAllRanks(ranks.reports(now));
        // An empty list costs the builder as much as one with entries.
        if (inventory.getLabelsCount() > 0) {
            report.putAllLabels(inventory.getLabelsMap());
        }
        if (!notes.isEmpty()) {
            report.addAllNotes(notes);
        }
        devices.report(report, now);
        if (clock.known()) {
            report.setClockOffsetNs(clock.offsetNs()).setClockBoundNs(clock.boundNs());
        }
        if (stampOffset.known()) {
            report.setStampOffsetNs(stampOffset.ns());
        }
        return report.build();
    }

    /** A moment without a sample, by the node's clock as it must stand now. */
    private Now afterLast(long logMs, long stampMs) {
        return new Now(logMs, stampMs, then.nodeMs() + Math.max(0, logMs - then.logMs()), true);
    }

    /** What holds now, for the first words of a new owner. */
    void standing(long logMs, long stampMs, long resumedLogMs, List<Message> out) {
        Now now = afterLast(logMs, stampMs);
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
        devices.learned(learned);
        return learned.build();
    }

    /** Takes over what the owner before knew. Only what is of the same boot and the same processes is believed. */
    void restore(LearnedNode learned, long logMs) {
        if (!heard) {
            long goodbye = learned.hasUnwatchedMs() ? logMs - learned.getUnwatchedMs() : Silence.NEVER;
            silence.restore(logMs - learned.getSilentMs(), goodbye);
        }
        learnedBefore = learned;
        devices.remember(learned);
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
            devices.remember(null);
            return;
        }
        ranks.restore(learned);
        devices.restore(learned);
    }
}

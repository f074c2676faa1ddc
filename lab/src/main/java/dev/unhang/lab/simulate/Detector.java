package dev.unhang.lab.simulate;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.unhang.events.v1.ActionResult;
import dev.unhang.events.v1.ActivityClass;
import dev.unhang.events.v1.ActuatorHello;
import dev.unhang.events.v1.Claim;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.GpuReport;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.NicReport;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.Phase;
import dev.unhang.events.v1.RankProcess;
import dev.unhang.events.v1.RankReport;
import dev.unhang.events.v1.ReadStatus;
import dev.unhang.events.v1.Severity;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.Suspect;
import dev.unhang.events.v1.Watch;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The owner of one telemetry partition, simulated: what the real detectors would say of its nodes as they truly are, and
 * what nodes say to the decider passed on, at least once. After a crash the next owner has a higher generation, goes on
 * from the last committed offset and says first what stands. Confined to one thread.
 */
final class Detector {

    private static final long SUSPECT_NS = 2 * Agenda.SECOND;
    private static final long CONFIRM_NS = 8 * Agenda.SECOND;
    private static final long SILENT_NS = 10 * Agenda.SECOND;
    private static final long SILENT_CONFIRM_NS = 30 * Agenda.SECOND;
    private static final long GONE_TOLD_NS = 15 * Agenda.SECOND;
    private static final long WELL_EVERY_NS = 10 * Agenda.SECOND;

    private static final class Voice {
        long sinceNs = -1;
        Standing said = Standing.WELL;
        Finding last = Finding.getDefaultInstance();
    }

    private static final class Seen {
        long heardNs;
        long reportedNs = Long.MIN_VALUE / 2;
        boolean wasWell = true;
        final Map<String, Voice> voices = new LinkedHashMap<>();
    }

    private final int partition;
    private final Agenda agenda;
    private final Chance chance;
    private final SimulatedKafka kafka;
    private final SimulatedKafka.Log telemetry;
    private final boolean believesResults;
    private final Map<Machine, Seen> nodes = new LinkedHashMap<>();
    private final Deque<Message> outbox = new ArrayDeque<>();
    private long generation = 1;
    private long position;
    private long committed;
    private boolean alive = true;
    private boolean first = true;
    private boolean pollDue;
    private long pausedUntilNs;

    /** @param believesResults a planted fault: what an action has ended on is called well, whatever it is */
    Detector(
            int partition,
            List<Machine> machines,
            Agenda agenda,
            Chance chance,
            SimulatedKafka kafka,
            boolean believesResults) {
        this.partition = partition;
        this.agenda = agenda;
        this.chance = chance;
        this.kafka = kafka;
        this.telemetry = kafka.telemetry.get(partition);
        this.believesResults = believesResults;
        machines.forEach(machine -> nodes.put(machine, new Seen()));
        telemetry.wake(this::wake);
        agenda.after(chance.seconds(0.01, 1), this::second);
    }

    boolean alive() {
        return alive;
    }

    /** It dies where it stands; what it had not committed is passed on again by the next owner. */
    void crash() {
        alive = false;
        outbox.clear();
    }

    /** It does nothing for a while and does not know it. */
    void pause(long ns) {
        pausedUntilNs = agenda.nowNs() + ns;
    }

    /** Another healer owns the partition now. */
    void takeOver() {
        generation++;
        alive = true;
        first = true;
        pausedUntilNs = 0;
        outbox.clear();
        position = committed;
        wake();
    }

    private void wake() {
        if (alive && !pollDue) {
            pollDue = true;
            agenda.after(chance.seconds(0.003, 0.08), this::poll);
        }
    }

    private void poll() {
        pollDue = false;
        if (!alive) {
            return;
        }
        if (agenda.nowNs() < pausedUntilNs) {
            pollDue = true;
            agenda.after(pausedUntilNs - agenda.nowNs(), this::poll);
            return;
        }
        while (position < telemetry.end()) {
            Message message = telemetry.at(position++).message();
            if (message instanceof Claim || message instanceof ActionResult || message instanceof ActuatorHello) {
                outbox.add(message);
                if (believesResults && message instanceof ActionResult result) {
                    sayWell(result.getNode());
                }
            }
        }
        flush();
    }

    private void flush() {
        while (!outbox.isEmpty() && kafka.up()) {
            kafka.inbox.append("", outbox.peekFirst());
            outbox.removeFirst();
        }
    }

    private void second() {
        agenda.after(Agenda.SECOND + chance.seconds(-0.01, 0.01), this::second);
        if (!alive || agenda.nowNs() < pausedUntilNs) {
            return;
        }
        flush();
        if (kafka.up() && chance.perMille(400)) {
            committed = position;
        }
        if (outbox.size() > 500) {
            return; // the broker is away: what is told later is told as it is then
        }
        nodes.forEach(this::look);
        if (first) {
            nodes.values()
                    .forEach(seen -> seen.voices.values().forEach(voice -> {
                        if (voice.said != Standing.WELL) {
                            voice.last =
                                    voice.last.toBuilder().setOrigin(origin()).build();
                            outbox.add(voice.last);
                        }
                    }));
        }
        outbox.add(Covered.newBuilder()
                .setOrigin(origin())
                .setJudgedOffset(position)
                .setFirst(first)
                .setNodes(nodes.size())
                .build());
        first = false;
        flush();
    }

    private Origin origin() {
        return Origin.newBuilder()
                .setPartition(partition)
                .setGeneration(generation)
                .setOwner("healer-" + partition % 3)
                .build();
    }

    private void look(Machine machine, Seen seen) {
        long now = agenda.nowNs();
        boolean heard = !machine.dead && !machine.unheard;
        if (heard) {
            seen.heardNs = now;
        }
        Training job = jobOn(machine);
        boolean well = heard && machine.well() && (job == null || job.moves());
        if (well && seen.wasWell && seen.voices.isEmpty() && now - seen.reportedNs < WELL_EVERY_NS && !first) {
            return;
        }
        boolean silent = now - seen.heardNs >= SILENT_NS;
        if (heard || silent || first) {
            seen.reportedNs = now;
            seen.wasWell = well;
            outbox.add(report(machine, seen, well, heard || !silent));
        }
        voice(machine, seen, IncidentKind.NODE_SILENT, "node:" + machine.name, !heard, SILENT_NS, SILENT_CONFIRM_NS);
        if (heard) {
            for (int gpu = 0; gpu < Machine.GPUS; gpu++) {
                Machine.GpuState state = machine.gpus[gpu];
                String subject = "gpu:" + machine.gpuName(gpu);
                boolean fault = state == Machine.GpuState.NEEDS_RESET || state == Machine.GpuState.BROKEN;
                voice(machine, seen, IncidentKind.GPU_FAULT, subject, fault, SUSPECT_NS, CONFIRM_NS);
                boolean leaked = state == Machine.GpuState.LEAKED;
                voice(machine, seen, IncidentKind.LEAKED_CONTEXT, subject, leaked, SUSPECT_NS, CONFIRM_NS);
            }
            String nic = "nic:" + machine.name + "/" + machine.nic();
            voice(machine, seen, IncidentKind.NIC_FAULT, nic, machine.nicDown, SUSPECT_NS, CONFIRM_NS);
            String node = "node:" + machine.name;
            voice(machine, seen, IncidentKind.CLOCK_OFFSET, node, machine.clockOff, SUSPECT_NS, CONFIRM_NS);
        }
    }

    /** What is gone is told of for a while. */
    private @Nullable Training jobOn(Machine machine) {
        Training job = machine.job;
        return job != null && job.gone() && agenda.nowNs() - job.goneSinceNs > GONE_TOLD_NS ? null : job;
    }

    private void voice(
            Machine machine, Seen seen, IncidentKind kind, String subject, boolean bad, long suspect, long confirm) {
        String key = kind + subject;
        Voice voice = seen.voices.get(key);
        if (!bad) {
            if (voice != null) {
                seen.voices.remove(key);
                if (voice.said != Standing.WELL) {
                    outbox.add(finding(machine, kind, subject, Standing.WELL, 0));
                }
            }
            return;
        }
        if (voice == null) {
            voice = new Voice();
            voice.sinceNs = agenda.nowNs();
            seen.voices.put(key, voice);
        }
        long age = agenda.nowNs() - voice.sinceNs;
        Standing standing = age >= confirm ? Standing.CONFIRMED : age >= suspect ? Standing.SUSPECTED : Standing.WELL;
        if (standing != voice.said) {
            voice.said = standing;
            voice.last = finding(machine, kind, subject, standing, age / Agenda.MS);
            outbox.add(voice.last);
        }
    }

    private void sayWell(String node) {
        nodes.forEach((machine, seen) -> {
            if (machine.name.equals(node)) {
                seen.voices.values().forEach(voice -> {
                    if (voice.said != Standing.WELL) {
                        outbox.add(finding(machine, voice.last.getKind(), voice.last.getSubject(), Standing.WELL, 0));
                    }
                });
            }
        });
    }

    private Finding finding(Machine machine, IncidentKind kind, String subject, Standing standing, long ageMs) {
        Finding.Builder finding = Finding.newBuilder()
                .setOrigin(origin())
                .setKind(kind)
                .setSubject(subject)
                .setStanding(standing)
                .setSeverity(Severity.CRITICAL)
                .setAgeMs(ageMs)
                .addNodes(machine.name)
                .addEvidence(subject + (standing == Standing.WELL ? " is well" : " is not well"))
                .addSuspects(Suspect.newBuilder().setNode(machine.name).setConfidence("high"));
        if (kind == IncidentKind.GPU_FAULT) {
            finding.putFigures("recovery_action", 1);
        } else if (kind == IncidentKind.LEAKED_CONTEXT) {
            finding.addProcesses(RankProcess.newBuilder()
                    .setNode(machine.name)
                    .setBootId(machine.bootId)
                    .setPid(77)
                    .setStartTicks(7));
        } else if (kind == IncidentKind.CLOCK_OFFSET) {
            finding.putFigures("offset_seconds", 3);
        }
        return finding.build();
    }

    private NodeReport report(Machine machine, Seen seen, boolean well, boolean watched) {
        NodeReport.Builder report = NodeReport.newBuilder()
                .setOrigin(origin())
                .setNode(machine.name)
                .setBootId(machine.bootId)
                .setWatch(watched ? Watch.WATCH_WATCHED : Watch.WATCH_SILENT)
                .setSilentMs((int) ((agenda.nowNs() - seen.heardNs) / Agenda.MS))
                .setWell(well)
                .setMachineId("m" + machine.number)
                .putLabels("rack", machine.rack)
                .addNics(NicReport.newBuilder()
                        .setId(machine.nic())
                        .setName("eth1")
                        .setState(machine.nicDown ? OperState.OPER_STATE_DOWN : OperState.OPER_STATE_UP)
                        .setWasUp(true)
                        .setDefaultRoute(false)
                        .setDownMs(machine.nicDown ? 3000 : 0));
        Training job = jobOn(machine);
        for (int gpu = 0; gpu < Machine.GPUS; gpu++) {
            ByteString uuid = machine.uuid(gpu);
            report.addGpus(GpuReport.newBuilder()
                    .setUuid(uuid)
                    .setStatus(ReadStatus.READ_STATUS_OK)
                    .setActivity(job == null ? ActivityClass.ACTIVITY_CLASS_IDLE : ActivityClass.ACTIVITY_CLASS_WORK));
            if (job != null) {
                report.addRanks(rank(machine, job, gpu));
            }
        }
        return report.build();
    }

    private RankReport rank(Machine machine, Training job, int gpu) {
        long now = agenda.nowNs();
        int rank = job.rank(machine, gpu);
        int stillMs = job.moves() ? 0 : (int) ((now - job.stillSinceNs) / Agenda.MS);
        boolean starting = now < job.startedNs + 8 * Agenda.SECOND;
        RankReport.Builder report = RankReport.newBuilder()
                .setJob(JobIdentity.newBuilder()
                        .setHeartbeat(job.name)
                        .setTorchelastic(job.name)
                        .setSlurm(job.bySlurm ? job.schedulerJob + ".0" : "")
                        .setWorld(job.world())
                        .setEpoch(job.epoch)
                        .setEpochKnown(true)
                        .setAnnounces(true))
                .setRank(rank)
                .setPid(job.pid(rank))
                .setStartTicks(job.startTicks())
                .addGpus(machine.uuid(gpu))
                .setArmed(!starting || job.moves())
                .setPhase(starting && !job.moves() ? Phase.PHASE_INIT : Phase.PHASE_TRAIN)
                .setStep(Math.max(0, (now - job.startedNs) / Agenda.SECOND))
                .setProgressAgeMs(job.moves() ? 200 : stillMs)
                .setStillMs(stillMs)
                .setStepUs(800_000)
                .setUsualStepUs(800_000)
                .setState('R')
                .setTrafficSharePm(job.moves() ? 1000 : 0)
                .setActivity(job.moves() ? ActivityClass.ACTIVITY_CLASS_WORK : ActivityClass.ACTIVITY_CLASS_SPIN);
        if (job.gone()) {
            report.setActivity(ActivityClass.ACTIVITY_CLASS_GONE)
                    .setGoneMs((int) ((now - job.goneSinceNs) / Agenda.MS));
        } else if (rank == job.stoppedRank) {
            report.setState('T')
                    .setStateMs((int) ((now - job.stoppedAtNs) / Agenda.MS))
                    .setActivity(ActivityClass.ACTIVITY_CLASS_IDLE);
        } else if (!job.moves() && machine.gpus[gpu] != Machine.GpuState.WELL) {
            report.setActivity(ActivityClass.ACTIVITY_CLASS_IDLE)
                    .setLastXid(79)
                    .setFatalXid(79)
                    .setLastXidAgeMs(stillMs);
        }
        if (machine.nicDown) {
            report.addPortsDown(machine.nic()).setPathDown(1);
        }
        return report.build();
    }

    List<Machine> machines() {
        return new ArrayList<>(nodes.keySet());
    }
}

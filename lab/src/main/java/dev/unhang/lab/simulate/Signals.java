package dev.unhang.lab.simulate;

import dev.unhang.events.v1.IncidentKind;
import java.util.HashMap;
import java.util.Map;

/** For how long each subject of an incident has truly been ill, by the world alone. Confined to one thread. */
final class Signals {

    private final World world;
    private final Agenda agenda;
    private final Map<String, Long> illSince = new HashMap<>();

    Signals(World world, Agenda agenda) {
        this.world = world;
        this.agenda = agenda;
    }

    void look() {
        for (Machine machine : world.machines) {
            if (machine.well() && !machine.touched) {
                continue;
            }
            boolean silent = machine.dead || machine.unheard;
            boolean any = set(IncidentKind.NODE_SILENT, "node:" + machine.name, silent);
            any |= set(IncidentKind.CLOCK_OFFSET, "node:" + machine.name, machine.clockOff);
            any |= set(IncidentKind.NIC_FAULT, "nic:" + machine.name + "/" + machine.nic(), machine.nicDown);
            for (int gpu = 0; gpu < Machine.GPUS; gpu++) {
                Machine.GpuState state = machine.gpus[gpu];
                String subject = "gpu:" + machine.gpuName(gpu);
                boolean fault = state == Machine.GpuState.NEEDS_RESET || state == Machine.GpuState.BROKEN;
                any |= set(IncidentKind.GPU_FAULT, subject, fault);
                any |= set(IncidentKind.LEAKED_CONTEXT, subject, state == Machine.GpuState.LEAKED);
            }
            machine.touched = any;
        }
    }

    private boolean set(IncidentKind kind, String subject, boolean ill) {
        String key = kind + subject;
        if (ill) {
            illSince.putIfAbsent(key, agenda.nowNs());
        } else {
            illSince.remove(key);
        }
        return ill;
    }

    /** 0: it is well. */
    long illNs(IncidentKind kind, String subject) {
        if (subject.startsWith("job:") && subject.indexOf('@') > 0) {
            int at = subject.lastIndexOf('@');
            Training job = world.job(subject.substring("job:".length(), at));
            if (job == null || job.epoch != Integer.parseInt(subject, at + 1, subject.length(), 10)) {
                return 0;
            }
            return !job.moves() && !job.gone() ? agenda.nowNs() - job.stillSinceNs : 0;
        }
        Long since = illSince.get(kind + subject);
        return since == null ? 0 : agenda.nowNs() - since;
    }
}

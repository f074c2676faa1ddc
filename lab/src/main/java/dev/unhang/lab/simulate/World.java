package dev.unhang.lab.simulate;

import com.google.protobuf.ByteString;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.command.ProcessName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The physical cluster: nodes, jobs, the scheduler's book, and what actions truly do to them. It remembers every physical
 * start of an action, which is what the rules judge. Nothing in it knows of Kafka or of the healer. Confined to one
 * thread.
 */
final class World {

    /** A node that the scheduler starts nothing on. */
    record Drained(String who, String reason) {}

    /** Who the scheduler says set a state, when the healer's executor did. */
    static final String HEALER = "unhang";

    private final Agenda agenda;
    private final Chance chance;
    private final Trail trail;
    final List<Machine> machines = new ArrayList<>();
    final List<Training> jobs = new ArrayList<>();
    final Map<String, Drained> drained = new LinkedHashMap<>();
    final List<Attempt> attempts = new ArrayList<>();
    private final Map<String, Machine> byName = new LinkedHashMap<>();
    private final Map<Attempt, Consumer<Attempt>> listeners = new LinkedHashMap<>();
    private Consumer<Attempt> onStart = attempt -> {};
    private Consumer<Attempt> onEnd = attempt -> {};
    private Consumer<String> onScheduler = subject -> {};
    private Consumer<Machine> onDeath = machine -> {};
    private Consumer<Machine> onBoot = machine -> {};
    private boolean quiet;

    World(Agenda agenda, Chance chance, Trail trail, Setup setup, ToIntFunction<String> partition) {
        this.agenda = agenda;
        this.chance = chance;
        this.trail = trail;
        for (int number = 0; number < setup.nodes(); number++) {
            String rack = "rack-" + number / setup.rackSize();
            Machine machine = new Machine(number, partition.applyAsInt("node-" + number), rack, chance.bytes(16));
            machines.add(machine);
            byName.put(machine.name, machine);
        }
        int at = 0;
        int job = 0;
        while (at < setup.nodes() && at * 100 < setup.filledPercent() * setup.nodes()) {
            int size = Math.min(setup.nodes() - at, chance.between(2, setup.largestJob()));
            jobs.add(new Training(
                    "train-" + job,
                    String.valueOf(1000 + job),
                    machines.subList(at, at + size),
                    chance.perMille(500),
                    -60 * Agenda.SECOND));
            job++;
            at += size;
        }
    }

    void watch(Consumer<Attempt> start, Consumer<Attempt> end, Consumer<String> scheduler) {
        onStart = start;
        onEnd = end;
        onScheduler = scheduler;
    }

    /** Told of each node that goes off, and of each that comes up. */
    void watchNodes(Consumer<Machine> death, Consumer<Machine> boot) {
        onDeath = death;
        onBoot = boot;
    }

    /** From now on nothing fails by itself. */
    void quiet() {
        quiet = true;
    }

    @Nullable
    Machine machine(String name) {
        return byName.get(name);
    }

    @Nullable
    Training job(String name) {
        return jobs.stream().filter(job -> job.name.equals(name)).findFirst().orElse(null);
    }

    /** Something changed: jobs follow. */
    void look() {
        jobs.forEach(job -> job.look(agenda.nowNs()));
    }

    /**
     * An action begins, physically.
     *
     * @param whenOver told of its end, unless whoever began it is dead by then
     */
    Attempt start(
            String command,
            String node,
            Action action,
            Map<String, String> parameters,
            String startId,
            ByteString nonce,
            long epoch,
            int journalEnd,
            Consumer<Attempt> whenOver) {
        String job = action.scope() == Action.Scope.JOB ? parameters.getOrDefault("job", "") : "";
        Attempt attempt = new Attempt(
                command,
                node,
                action,
                parameters,
                touches(node, action, parameters, job),
                job,
                startId,
                nonce,
                epoch,
                agenda.nowNs(),
                journalEnd);
        attempts.add(attempt);
        listeners.put(attempt, whenOver);
        trail.note("STARTED " + attempt + " " + parameters);
        onStart.accept(attempt);
        int fate = quiet ? 0 : chance.between(0, 999);
        if (fate >= 985) {
            // The node dies in the midst of it.
            agenda.after(chance.seconds(0.1, 3), () -> {
                Machine machine = byName.get(node);
                if (attempt.runs() && machine != null) {
                    die(machine);
                }
            });
        } else if (fate >= 920) {
            // It hangs: long over its time-out, and ends some time, or never but with the node.
            if (fate >= 940) {
                agenda.after(chance.seconds(100, 300), () -> end(attempt, Attempt.End.DONE));
            }
        } else {
            Attempt.End end = fate >= 820 ? Attempt.End.FAILED : Attempt.End.DONE;
            agenda.after(chance.seconds(0.2, fate % 10 == 0 ? 15 : 5), () -> end(attempt, end));
        }
        return attempt;
    }

    private Set<String> touches(String node, Action action, Map<String, String> parameters, String job) {
        Set<String> touches = new TreeSet<>();
        if (action == Action.DRAIN || action == Action.UNDRAIN) {
            touches.add(parameters.getOrDefault("node", ""));
        } else if (!node.equals(Action.AT_SCHEDULER)) {
            touches.add(node);
        }
        Training training = job(job);
        if (training != null) {
            training.nodes.forEach(machine -> touches.add(machine.name));
        }
        return touches;
    }

    /** Whatever runs on the node ends half way. */
    void kill(String node) {
        for (Attempt attempt : List.copyOf(listeners.keySet())) {
            if (attempt.node.equals(node)) {
                end(attempt, Attempt.End.KILLED);
            }
        }
    }

    /** The node is off: nothing on it speaks or acts. */
    void die(Machine machine) {
        if (machine.dead) {
            return;
        }
        trail.note(machine.name + " dies");
        machine.dead = true;
        look();
        kill(machine.name);
        onDeath.accept(machine);
    }

    /** It comes up again with a new boot id; what a boot heals is healed. */
    void boot(Machine machine) {
        trail.note(machine.name + " boots");
        kill(machine.name);
        machine.dead = false;
        machine.unheard = false;
        machine.bootId = chance.bytes(16);
        machine.nicDown = false;
        for (int gpu = 0; gpu < Machine.GPUS; gpu++) {
            if (machine.gpus[gpu] != Machine.GpuState.BROKEN) {
                machine.gpus[gpu] = Machine.GpuState.WELL;
            }
        }
        Training job = machine.job;
        if (job != null && !job.gone()) {
            job.restart(agenda.nowNs());
        }
        look();
        onBoot.accept(machine);
    }

    /** Its processes end, and whoever started it starts it again once its nodes work. */
    void abort(Training job) {
        if (!job.gone()) {
            trail.note(job.name + " ends with an error");
            job.abort(agenda.nowNs());
            agenda.after(chance.seconds(40, 120), () -> again(job));
        }
    }

    private void again(Training job) {
        if (!job.gone()) {
            return;
        }
        if (job.couldRun()) {
            trail.note(job.name + " is started again");
            job.restart(agenda.nowNs());
        } else {
            agenda.after(15 * Agenda.SECOND, () -> again(job));
        }
    }

    private void end(Attempt attempt, Attempt.End end) {
        Consumer<Attempt> listener = listeners.remove(attempt);
        if (listener == null) {
            return;
        }
        attempt.end = end;
        attempt.endsNs = agenda.nowNs();
        if (end == Attempt.End.DONE) {
            done(attempt);
        } else if (end == Attempt.End.KILLED && attempt.action == Action.BOUNCE_NIC) {
            Machine machine = byName.get(attempt.node);
            if (machine != null) {
                machine.nicDown = true;
            }
        }
        look();
        trail.note("ENDED " + attempt + ": " + end);
        onEnd.accept(attempt);
        listener.accept(attempt);
    }

    private void done(Attempt attempt) {
        Machine machine = byName.get(attempt.node);
        switch (attempt.action) {
            case RESTART_RANKS -> restartRanks(attempt);
            case RELAUNCH_UNIT -> {
                Training job = job(attempt.job);
                if (job != null) {
                    job.restart(agenda.nowNs());
                }
            }
            case KILL_LEAKED -> heal(machine, attempt, Machine.GpuState.LEAKED);
            case RESET_GPU -> heal(machine, attempt, Machine.GpuState.NEEDS_RESET);
            case BOUNCE_NIC -> {
                if (machine != null && machine.bounceHeals) {
                    machine.nicDown = false;
                }
            }
            case STEP_CLOCK -> {
                if (machine != null && machine.stepHeals) {
                    machine.clockOff = false;
                }
            }
            case DRAIN -> {
                String node = attempt.parameters.getOrDefault("node", "");
                drained.putIfAbsent(node, new Drained(HEALER, attempt.parameters.getOrDefault("reason", "")));
                onScheduler.accept(node);
            }
            case UNDRAIN -> {
                String node = attempt.parameters.getOrDefault("node", "");
                drained.remove(node);
                onScheduler.accept(node);
            }
            case REQUEUE -> {
                Training job = job(attempt.job);
                if (job != null) {
                    job.restart(agenda.nowNs());
                    onScheduler.accept(job.name);
                }
            }
            case LOOK, COLLECT_EVIDENCE, RESTART_PERSISTENCED -> {}
        }
    }

    private void restartRanks(Attempt attempt) {
        Training job = job(attempt.job);
        if (job == null) {
            return;
        }
        List<ProcessName> named = ProcessName.parse(attempt.parameters.getOrDefault("processes", ""));
        Machine machine = byName.get(attempt.node);
        boolean hit = named.stream()
                .anyMatch(process -> machine != null
                        && process.startTicks() == job.startTicks()
                        && process.pid() >= job.pid(0)
                        && process.pid() < job.pid(job.world()));
        if (hit) {
            job.restart(agenda.nowNs());
        }
    }

    private static void heal(@Nullable Machine machine, Attempt attempt, Machine.GpuState from) {
        for (int gpu = 0; machine != null && gpu < Machine.GPUS; gpu++) {
            if (machine.gpuName(gpu).equals(attempt.parameters.get("gpu")) && machine.gpus[gpu] == from) {
                machine.gpus[gpu] = Machine.GpuState.WELL;
            }
        }
    }

    /** Attempts that run now. */
    List<Attempt> running() {
        return List.copyOf(listeners.keySet());
    }
}

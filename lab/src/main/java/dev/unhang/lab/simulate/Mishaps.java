package dev.unhang.lab.simulate;

import java.util.List;

/**
 * All that goes wrong by itself: hardware, ranks, crashes of each part, the broker, its clocks, and whoever writes into
 * the command topic what he should not. One at a time, a few seconds apart, and now and then half of the fleet at once.
 * Confined to one thread.
 */
final class Mishaps {

    private final Agenda agenda;
    private final Chance chance;
    private final Trail trail;
    private final SimulatedKafka kafka;
    private final World world;
    private final Deciders deciders;
    private final List<Detector> detectors;
    private final Executors executors;
    private final Adversary adversary;
    private boolean quiet;

    Mishaps(
            Setup setup,
            Agenda agenda,
            Chance chance,
            Trail trail,
            SimulatedKafka kafka,
            World world,
            Deciders deciders,
            List<Detector> detectors,
            Executors executors,
            Adversary adversary) {
        this.agenda = agenda;
        this.chance = chance;
        this.trail = trail;
        this.kafka = kafka;
        this.world = world;
        this.deciders = deciders;
        this.detectors = detectors;
        this.executors = executors;
        this.adversary = adversary;
        agenda.after(chance.seconds(15, 25), this::hardware);
        agenda.after(chance.seconds(15, 40), this::parts);
        agenda.after(chance.seconds(40, 80), this::technician);
        if (chance.perMille(150) || setup.plant() == Plant.WIDE_LIMITS) {
            agenda.after(chance.seconds(30, setup.restlessSeconds() - 20), this::half);
        }
    }

    /** Nothing more goes wrong, and what is broken beyond repair is replaced in a while. */
    void quiet() {
        quiet = true;
        kafka.up(true);
        for (Detector detector : detectors) {
            if (!detector.alive()) {
                detector.takeOver();
            }
        }
        executors.quiet();
        for (Machine machine : world.machines) {
            if (machine.dead || machine.unheard) {
                agenda.after(chance.seconds(20, 90), () -> world.boot(machine));
            }
        }
        for (Attempt attempt : world.running()) {
            Machine machine = world.machine(attempt.node);
            agenda.after(chance.seconds(60, 150), () -> {
                if (attempt.runs() && machine != null) {
                    world.boot(machine);
                } else if (attempt.runs()) {
                    executors.restartScheduler();
                }
            });
        }
    }

    /** Somebody repairs what was taken out of service, drained by whomever. */
    private void technician() {
        agenda.after(chance.seconds(20, 50), this::technician);
        List<String> out = List.copyOf(world.drained.keySet());
        Machine machine = out.isEmpty() ? null : world.machine(chance.of(out));
        if (machine != null && !machine.dead && !machine.well()) {
            trail.note(machine.name + " is repaired by a technician");
            machine.repair();
            world.look();
        }
    }

    private void hardware() {
        if (quiet) {
            return;
        }
        agenda.after(chance.seconds(2, world.machines.size() > 100 ? 6 : 20), this::hardware);
        fault(chance.of(world.machines));
    }

    private void fault(Machine machine) {
        if (machine.dead) {
            return;
        }
        switch (chance.between(0, 11)) {
            case 0, 1 -> gpu(machine, Machine.GpuState.NEEDS_RESET);
            case 2 -> gpu(machine, Machine.GpuState.BROKEN);
            case 3 -> gpu(machine, Machine.GpuState.LEAKED);
            case 4, 5 -> {
                trail.note("the port of " + machine.name + " goes down");
                machine.nicDown = true;
                machine.bounceHeals = chance.perMille(700);
            }
            case 6 -> {
                trail.note("the clock of " + machine.name + " is off");
                machine.clockOff = true;
                machine.stepHeals = chance.perMille(700);
            }
            case 7 -> {
                world.die(machine);
                agenda.after(chance.seconds(40, 200), () -> {
                    if (machine.dead) {
                        world.boot(machine);
                    }
                });
            }
            case 8 -> {
                trail.note("nobody hears " + machine.name);
                machine.unheard = true;
                agenda.after(chance.seconds(10, 90), () -> machine.unheard = false);
            }
            default -> {
                Training job = machine.job;
                if (job != null && job.moves()) {
                    int rank = job.rank(machine, chance.between(0, 1));
                    trail.note("rank " + rank + " of " + job.name + " on " + machine.name + " stops");
                    job.stop(rank, agenda.nowNs());
                }
            }
        }
        world.look();
    }

    private void gpu(Machine machine, Machine.GpuState state) {
        int gpu = chance.between(0, Machine.GPUS - 1);
        trail.note("GPU " + gpu + " of " + machine.name + ": " + state);
        machine.gpus[gpu] = state;
        Training job = machine.job;
        if (job != null && state != Machine.GpuState.LEAKED && chance.perMille(600)) {
            agenda.after(chance.seconds(1, 20), () -> {
                if (!machine.works()) {
                    world.abort(job);
                }
            });
        }
    }

    private void half() {
        trail.note("half of the fleet fails at once");
        for (int number = 0; number < world.machines.size(); number += 2) {
            Machine machine = world.machines.get(number);
            if (chance.perMille(700)) {
                gpu(machine, Machine.GpuState.NEEDS_RESET);
            } else {
                machine.nicDown = true;
            }
        }
        world.look();
    }

    private void parts() {
        if (quiet) {
            return;
        }
        agenda.after(chance.seconds(1, 20), this::parts);
        switch (chance.between(0, 14)) {
            case 0 -> deciders.crash(Decider.Crash.NOW);
            case 1, 2 -> deciders.crash(Decider.Crash.BEFORE_WRITE);
            case 3, 4 -> deciders.crash(Decider.Crash.AFTER_WRITE);
            case 5 -> deciders.zombie();
            case 6, 7 -> detector(chance.of(detectors));
            case 8 -> broker();
            case 9 -> {
                trail.note("other brokers lead");
                kafka.changeLeaders(chance);
            }
            case 10 -> {
                long byMs = chance.any(-3_600_000L, -5_000L, 700L, 30_000L, 86_400_000L);
                trail.note("a broker's clock jumps by " + byMs + " ms");
                kafka.jumpClock(chance.between(0, 2), byMs);
            }
            case 11 -> executors.crashOne();
            case 12 -> executors.pauseOne();
            default -> adversary.strike();
        }
    }

    private void detector(Detector detector) {
        if (!detector.alive()) {
            return;
        }
        if (chance.perMille(300)) {
            trail.note("a detector stands still for a while");
            detector.pause(chance.seconds(1, 12));
            return;
        }
        trail.note("a detector dies");
        detector.crash();
        agenda.after(chance.seconds(1, chance.perMille(150) ? 90 : 10), () -> {
            if (!detector.alive()) {
                detector.takeOver();
            }
        });
    }

    private void broker() {
        if (!kafka.up()) {
            return;
        }
        trail.note("no broker answers");
        kafka.up(false);
        agenda.after(chance.seconds(1, 30), () -> {
            trail.note("the brokers answer again");
            kafka.up(true);
        });
    }
}

package dev.unhang.lab.simulate;

import dev.unhang.events.v1.SchedulerFact;

/** What the healer's look at the scheduler finds: changes within seconds, and each minute all. Confined to one thread. */
final class Scheduler {

    private static final String NAME = "slurm";

    private final Agenda agenda;
    private final Chance chance;
    private final SimulatedKafka kafka;
    private final World world;

    Scheduler(Agenda agenda, Chance chance, SimulatedKafka kafka, World world) {
        this.agenda = agenda;
        this.chance = chance;
        this.kafka = kafka;
        this.world = world;
        agenda.after(chance.seconds(1, 4), this::all);
    }

    /** A node or a job is other than it was. */
    void changed(String subject) {
        agenda.after(chance.seconds(0.5, 5), () -> {
            Training job = world.job(subject);
            if (job != null) {
                tell(job);
            } else {
                tell(subject);
            }
        });
    }

    private void all() {
        agenda.after(60 * Agenda.SECOND, this::all);
        world.drained.keySet().forEach(this::tell);
        for (Training job : world.jobs) {
            if (job.bySlurm) {
                tell(job);
            }
        }
    }

    private void tell(Training job) {
        if (!kafka.up()) {
            return;
        }
        SchedulerFact.Builder fact = SchedulerFact.newBuilder()
                .setScheduler(NAME)
                .setJob(job.schedulerJob)
                .setJobState("RUNNING");
        job.nodes.forEach(node -> fact.addNodes(node.name));
        kafka.inbox.append("", fact.build());
    }

    private void tell(String node) {
        if (!kafka.up()) {
            agenda.after(2 * Agenda.SECOND, () -> tell(node));
            return;
        }
        World.Drained drained = world.drained.get(node);
        kafka.inbox.append(
                "",
                SchedulerFact.newBuilder()
                        .setScheduler(NAME)
                        .setNode(node)
                        .setNodeState(drained == null ? "UP" : "DRAINED")
                        .setReason(drained == null ? "" : drained.reason())
                        .setWho(drained == null ? "" : drained.who())
                        .build());
    }
}

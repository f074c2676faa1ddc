package dev.unhang.lab.simulate;

import dev.unhang.events.v1.JournalEntry;
import dev.unhang.healer.policy.Policy;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The healers that may decide. When one dies the group gives the inbox to another some seconds later; and sometimes it
 * gives it away though the one that had it lives, so that two believe that they decide. Confined to one thread.
 */
final class Deciders {

    private final Agenda agenda;
    private final Chance chance;
    private final Trail trail;
    private final SimulatedKafka kafka;
    private final Policy policy;
    private final Function<JournalEntry, List<SimulatedKafka.CommandRecord>> records;
    private final Plant plant;
    private @Nullable Decider current;
    private int started;
    private boolean electing;

    Deciders(
            Agenda agenda,
            Chance chance,
            Trail trail,
            SimulatedKafka kafka,
            Policy policy,
            Function<JournalEntry, List<SimulatedKafka.CommandRecord>> records,
            Plant plant) {
        this.agenda = agenda;
        this.chance = chance;
        this.trail = trail;
        this.kafka = kafka;
        this.policy = policy;
        this.records = records;
        this.plant = plant;
        begin();
    }

    private void begin() {
        Decider[] self = new Decider[1];
        self[0] = new Decider(
                "healer-" + started++ % 3, agenda, chance, trail, kafka, policy, records, plant, () -> died(self[0]));
        current = self[0];
    }

    private void died(Decider decider) {
        if (decider == current && !electing) {
            electing = true;
            agenda.after(chance.seconds(0.3, chance.perMille(200) ? 12 : 6), () -> {
                electing = false;
                begin();
            });
        }
    }

    void crash(Decider.Crash when) {
        Decider decider = current;
        if (decider != null && decider.alive()) {
            decider.crash(when);
        }
    }

    /** The one that decides stands still, another takes over, and then the first goes on. */
    void zombie() {
        Decider decider = current;
        if (decider != null && decider.alive() && !electing) {
            trail.note("the decider stands still, and the group gives its place away");
            decider.pause(chance.seconds(3, 12));
            agenda.after(chance.seconds(2, 8), () -> {
                if (decider == current) {
                    begin();
                }
            });
        }
    }
}

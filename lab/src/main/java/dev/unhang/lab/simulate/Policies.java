package dev.unhang.lab.simulate;

import dev.unhang.events.v1.IncidentKind;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.policy.Condition;
import dev.unhang.healer.policy.Limits;
import dev.unhang.healer.policy.Mode;
import dev.unhang.healer.policy.Playbook;
import dev.unhang.healer.policy.Policy;
import dev.unhang.healer.policy.Rung;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A policy by seed: ladders as long as the shipped ones and shorter times, so that a run sees their ends. Stateless. */
final class Policies {

    private Policies() {}

    static Policy of(Setup setup) {
        Chance chance = new Chance(setup.seed() * 17 + 3);
        List<Playbook> playbooks = new ArrayList<>();
        add(playbooks, chance, setup, IncidentKind.GPU_FAULT, Action.COLLECT_EVIDENCE, Action.RESET_GPU, Action.DRAIN);
        add(playbooks, chance, setup, IncidentKind.NIC_FAULT, Action.BOUNCE_NIC, Action.DRAIN);
        add(playbooks, chance, setup, IncidentKind.CLOCK_OFFSET, Action.STEP_CLOCK);
        add(playbooks, chance, setup, IncidentKind.LEAKED_CONTEXT, Action.KILL_LEAKED, Action.RESTART_PERSISTENCED);
        add(playbooks, chance, setup, IncidentKind.NODE_SILENT, Action.COLLECT_EVIDENCE, Action.DRAIN);
        for (IncidentKind kind : List.of(
                IncidentKind.JOB_HANG, IncidentKind.RANK_MISSING, IncidentKind.INPUT_STALL, IncidentKind.JOB_SLOW)) {
            add(
                    playbooks,
                    chance,
                    setup,
                    kind,
                    Action.LOOK,
                    Action.COLLECT_EVIDENCE,
                    Action.RESTART_RANKS,
                    Action.DRAIN,
                    Action.REQUEUE);
        }
        boolean wide = setup.plant() == Plant.WIDE_LIMITS;
        return new Policy(
                playbooks,
                new Limits(
                        wide ? 100 : setup.nodesPercent(),
                        wide ? 1000 : setup.nodesAtMost(),
                        wide ? 100 : setup.jobsAtMost(),
                        setup.perIncident(),
                        setup.perNodeADay(),
                        setup.perJobADay(),
                        wide ? 100 : chance.any(10, 50, 100),
                        Duration.ofMinutes(3),
                        Duration.ofMinutes(2),
                        2,
                        "rack"),
                true);
    }

    private static void add(List<Playbook> to, Chance chance, Setup setup, IncidentKind kind, Action... actions) {
        List<Rung> rungs = new ArrayList<>();
        for (Action action : actions) {
            rungs.add(new Rung(
                    action,
                    Condition.ALWAYS,
                    Duration.ofSeconds(30),
                    Duration.ofSeconds(40),
                    Duration.ofSeconds(30),
                    Duration.ofSeconds(20),
                    action.harm() == Action.Harm.NONE ? 1 : setup.attemptsARung(),
                    Map.of()));
        }
        Mode mode = chance.any(Mode.ENFORCE, Mode.ENFORCE, Mode.ENFORCE, Mode.APPROVE, Mode.OBSERVE);
        if (setup.plant() != Plant.NONE) {
            mode = Mode.ENFORCE;
        }
        to.add(new Playbook(
                "simulated-" + kind.name().toLowerCase(java.util.Locale.ROOT),
                kind,
                Condition.ALWAYS,
                mode,
                rungs,
                "no step is left"));
    }
}

package dev.unhang.healer.act;

import dev.unhang.healer.act.slurm.SlurmConfig;
import dev.unhang.healer.command.Action;
import dev.unhang.settings.Settings;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * What the healer does beside itself: the keys {@code scheduler.*}.
 *
 * @param every how long it waits before it asks a scheduler again
 * @param actions what may be run there, whatever a playbook says; none: schedulers are only asked
 */
public record SchedulerConfig(SlurmConfig slurm, Duration every, Set<Action> actions) {

    public SchedulerConfig {
        actions = Set.copyOf(actions);
    }

    public static SchedulerConfig from(Settings settings) {
        Duration every = settings.duration(
                "scheduler.every",
                Duration.ofSeconds(10),
                Duration.ofSeconds(1),
                Duration.ofMinutes(5),
                "How long the healer that decides waits before it asks the scheduler again.");
        List<String> labels = settings.list(
                "scheduler.actions",
                List.of(),
                "What may be run at the scheduler, whatever a playbook says: drain, undrain, requeue. None: it is only"
                        + " asked.");
        EnumSet<Action> actions = EnumSet.noneOf(Action.class);
        for (String label : labels) {
            Action.named(label)
                    .filter(Action::atScheduler)
                    .ifPresentOrElse(
                            actions::add,
                            () -> settings.mistake(
                                    "scheduler.actions",
                                    "scheduler.actions has '" + label + "': it may hold drain, undrain and requeue"));
        }
        return new SchedulerConfig(SlurmConfig.from(settings), every, actions);
    }
}

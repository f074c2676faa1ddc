package dev.unhang.healer.act;

import dev.unhang.healer.act.slurm.SlurmConfig;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.command.GrantSeal;
import dev.unhang.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.PublicKey;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the healer does beside itself: the keys {@code scheduler.*}.
 *
 * @param every how long it waits before it asks a scheduler again
 * @param actions what may be run there, whatever a playbook says; none: schedulers are only asked
 * @param keys public keys of those who may grant that, by their names
 */
public record SchedulerConfig(SlurmConfig slurm, Duration every, Set<Action> actions, Map<String, PublicKey> keys) {

    public SchedulerConfig {
        actions = Set.copyOf(actions);
        keys = Map.copyOf(keys);
    }

    /** Whether there is a scheduler at all. */
    public boolean enabled() {
        return slurm.enabled();
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
        Map<String, PublicKey> keys = keys(settings);
        if (!actions.isEmpty() && keys.isEmpty()) {
            settings.mistake(
                    "scheduler.actions",
                    "scheduler.grant-keys is missing: nothing is run that is not granted under a key that is trusted here");
        }
        return new SchedulerConfig(SlurmConfig.from(settings), every, actions, keys);
    }

    private static Map<String, PublicKey> keys(Settings settings) {
        Map<String, PublicKey> keys = new HashMap<>();
        settings.map(
                        "scheduler.grant-keys",
                        "PEM file with the public key of whoever may grant, under its name; `openssl pkey -pubout` makes it"
                                + " of the healer's own.")
                .forEach((id, file) -> {
                    try {
                        keys.put(id, GrantSeal.publicKey(Files.readString(Path.of(file))));
                    } catch (IOException | InvalidPathException e) {
                        settings.mistake("scheduler.grant-keys." + id, "cannot read the key " + file + ": " + e);
                    } catch (GrantSeal.BadSealException e) {
                        settings.mistake("scheduler.grant-keys." + id, file + ": " + e.getMessage());
                    }
                });
        return keys;
    }
}

package dev.unhang.healer;

import dev.unhang.healer.intake.Brokers;
import dev.unhang.settings.BadSettingsException;
import dev.unhang.settings.Kafka;
import dev.unhang.settings.Settings;

/**
 * The healer's settings, as read from one YAML file. Every mistake is told at once, with its line.
 *
 * @param id of this healer among all: unique, and new with each start unless it is set
 * @param brokers where Kafka is
 * @param judges whether this healer takes telemetry partitions
 * @param decides whether it stands by as a decider
 */
public record HealerConfig(String id, Brokers brokers, boolean judges, boolean decides) {

    /**
     * Asks for the healer's own keys. The caller asks for those of HTTP too and then calls {@link Settings#finish}.
     *
     * @param defaultId host name and something random
     */
    public static HealerConfig from(Settings settings, String defaultId) {
        String id = settings.text(
                "healer.id",
                "",
                "Name of this healer among all that share a Kafka. The host name with something random when left out.");
        if (!id.matches("[A-Za-z0-9._-]{0,100}")) {
            settings.mistake(
                    "healer.id",
                    "healer.id is '" + id + "' and may hold letters, digits, dots, dashes and underscores");
        }
        return new HealerConfig(
                id.isEmpty() ? defaultId : id,
                new Brokers(Kafka.from(settings, true)),
                settings.flag("roles.telemetry", true, "Whether this healer judges nodes: takes telemetry partitions."),
                settings.flag(
                        "roles.decider",
                        true,
                        "Whether this healer may decide. One of those that may does; the others stand by."));
    }

    /** The same, with no other keys allowed. */
    public static HealerConfig read(Settings settings, String defaultId) throws BadSettingsException {
        HealerConfig config = from(settings, defaultId);
        settings.finish();
        return config;
    }
}

package dev.unhang.healer;

import dev.unhang.events.Topic;
import dev.unhang.healer.intake.Brokers;
import dev.unhang.settings.BadSettingsException;
import dev.unhang.settings.Settings;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

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
                brokers(settings),
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

    private static Brokers brokers(Settings settings) {
        String servers =
                settings.text("kafka.bootstrap-servers", "", "The brokers, as host:9092,host:9092. Must be set.");
        if (servers.isEmpty()) {
            settings.mistake(
                    "kafka.bootstrap-servers", "kafka.bootstrap-servers must be set, as kafka-1:9092,kafka-2:9092");
        } else if (!servers.matches("[^:,\\s]+:\\d+(,[^:,\\s]+:\\d+)*|\\[.+")) {
            settings.mistake(
                    "kafka.bootstrap-servers",
                    "kafka.bootstrap-servers is '" + servers + "' and must be host:port, several with commas");
        }
        String prefix = settings.text(
                "kafka.topic-prefix",
                Topic.DEFAULT_PREFIX,
                "What the names of all topics begin with; as the collectors'. Each prefix is a world of its own.");
        if (!prefix.matches("[A-Za-z0-9._-]{0,100}")) {
            settings.mistake(
                    "kafka.topic-prefix",
                    "kafka.topic-prefix is '" + prefix
                            + "' and may hold letters, digits, dots, dashes and underscores");
        }
        String file = settings.optionalText(
                "kafka.properties-file", "A Java properties file for the Kafka client: TLS, SASL and its secrets.");
        return new Brokers(servers, prefix, file == null ? Map.of() : properties(settings, file));
    }

    private static Map<String, String> properties(Settings settings, String file) {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(Path.of(file), StandardCharsets.UTF_8)) {
            properties.load(reader);
        } catch (IOException | IllegalArgumentException e) {
            // The message may name the file; it never holds a line of it.
            settings.mistake(
                    "kafka.properties-file",
                    "kafka.properties-file " + file + " cannot be read: "
                            + e.getClass().getSimpleName());
        }
        Map<String, String> map = new TreeMap<>();
        properties.stringPropertyNames().forEach(name -> map.put(name, properties.getProperty(name)));
        return map;
    }
}

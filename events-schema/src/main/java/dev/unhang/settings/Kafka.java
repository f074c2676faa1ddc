package dev.unhang.settings;

import dev.unhang.events.Topic;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.CommonClientConfigs;

/**
 * Where Kafka is and how to speak to it: the keys {@code kafka.*}, which every daemon has alike. Immutable.
 *
 * @param bootstrapServers {@code host:port}, several with commas; empty where nothing is sent
 * @param topicPrefix of all topics
 * @param extra the content of {@code kafka.properties-file}: TLS, SASL and its secrets
 */
public record Kafka(String bootstrapServers, String topicPrefix, Map<String, String> extra) {

    public Kafka {
        extra = Map.copyOf(extra);
    }

    /**
     * Asks for the keys.
     *
     * @param needed false where nothing is sent: then no broker need be named
     */
    public static Kafka from(Settings settings, boolean needed) {
        String servers =
                settings.text("kafka.bootstrap-servers", "", "The brokers, as host:9092,host:9092. Must be set.");
        if (servers.isEmpty() && needed) {
            settings.mistake(
                    "kafka.bootstrap-servers", "kafka.bootstrap-servers must be set, as kafka-1:9092,kafka-2:9092");
        } else if (!servers.isEmpty() && !servers.matches("[^:,\\s]+:\\d+(,[^:,\\s]+:\\d+)*|\\[.+")) {
            settings.mistake(
                    "kafka.bootstrap-servers",
                    "kafka.bootstrap-servers is '" + servers + "' and must be host:port, several with commas");
        }
        String prefix = settings.text(
                "kafka.topic-prefix",
                Topic.DEFAULT_PREFIX,
                "What the names of all topics begin with; one prefix for collectors and healers. Each is a world of its"
                        + " own.");
        if (!prefix.matches("[A-Za-z0-9._-]{0,100}")) {
            settings.mistake(
                    "kafka.topic-prefix",
                    "kafka.topic-prefix is '" + prefix
                            + "' and may hold letters, digits, dots, dashes and underscores");
        }
        String file = settings.optionalText(
                "kafka.properties-file", "A Java properties file for the Kafka client: TLS, SASL and its secrets.");
        return new Kafka(servers, prefix, file == null ? Map.of() : properties(settings, file));
    }

    /** What any client needs: address and security. A new map each time, to which the caller adds its own. */
    public Map<String, Object> client() {
        Map<String, Object> client = new HashMap<>(extra);
        client.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        return client;
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
        Map<String, String> map = new HashMap<>();
        properties.stringPropertyNames().forEach(name -> map.put(name, properties.getProperty(name)));
        return map;
    }
}

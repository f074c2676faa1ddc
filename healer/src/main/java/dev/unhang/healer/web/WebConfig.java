package dev.unhang.healer.web;

import dev.unhang.settings.Settings;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Where and how the healer answers HTTP. Without TLS of its own yet, so it listens on the loopback address unless told
 * otherwise.
 *
 * @param port 0 lets the system choose one
 * @param tokenFile required: there is no access without a token, and no default token
 * @param idle a connection without traffic for this long is closed
 * @param mostConnections for one more the oldest is closed, so that idle clients cannot take the healer's memory
 */
public record WebConfig(String host, int port, @Nullable Path tokenFile, Duration idle, int mostConnections) {

    /** Asks for the keys {@code http.*}. */
    public static WebConfig from(Settings settings) {
        String host = settings.text(
                "http.host", "127.0.0.1", "address to listen on; 0.0.0.0 for all, then behind a proxy with TLS");
        int port = settings.number("http.port", 8080, 0, 65_535, "port to listen on; 0 lets the system choose");
        String file = settings.text(
                "http.token-file",
                "",
                "file with the bearer token, readable by its owner only; needed by every path but /healthz and /readyz");
        if (file.isEmpty()) {
            settings.mistake(
                    "http.token-file",
                    "http.token-file is missing: create one with"
                            + " `(umask 077; head -c 32 /dev/urandom | base64 > /etc/unhang/token)`");
        }
        Duration idle = settings.duration(
                "http.idle-timeout",
                Duration.ofSeconds(20),
                Duration.ofSeconds(1),
                Duration.ofHours(1),
                "a connection without traffic for this long is closed");
        int most = settings.number(
                "http.most-connections",
                4_096,
                16,
                100_000,
                "open connections at once; for one more the oldest is closed");
        return new WebConfig(host, port, file.isEmpty() ? null : Path.of(file), idle, most);
    }
}

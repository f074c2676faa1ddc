package dev.unhang.collector.source.heartbeat;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Puts heartbeats into a table as their datagrams would. */
public final class TestBeats {

    private TestBeats() {}

    /** Quotes are single, for reading. */
    public static void send(HeartbeatTable table, String json, long nowNs) {
        byte[] bytes = json.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
        Beat beat = Datagram.parse(bytes, bytes.length, nowNs);
        assertThat(beat).as(json).isNotNull();
        assertThat(table.accept(Objects.requireNonNull(beat))).isTrue();
    }
}

package dev.unhang.collector.serve;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.Loss;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;

/** The commands of the local socket: one line in, one JSON object out. Any thread, one at a time. */
public final class LocalCommands {

    /** The longest lease, in seconds: whoever needs longer asks again. */
    static final int MAX_LEASE_SECONDS = 3600;

    private static final Pattern SPACES = Pattern.compile("\\s+");

    private final Served served;
    private final GpuLease lease;

    public LocalCommands(Served served, GpuLease lease) {
        this.served = served;
        this.lease = lease;
    }

    /** Always answers; {@code ok} tells whether it was done. */
    public JsonObject answer(String line) {
        List<String> words = List.of(SPACES.split(line.strip(), -1));
        return switch (words.get(0)) {
            case "status" -> words.size() == 1 ? status() : usage(line);
            case "give-back-gpus" -> words.size() == 1 ? outcome(lease.giveBack()) : usage(line);
            case "release-gpus" -> words.size() == 2 ? release(words.get(1)) : usage(line);
            default -> usage(line);
        };
    }

    private JsonObject release(String seconds) {
        if (!seconds.matches("\\d{1,6}")
                || Integer.parseInt(seconds) < 1
                || Integer.parseInt(seconds) > MAX_LEASE_SECONDS) {
            return refused("release-gpus wants whole seconds from 1 to " + MAX_LEASE_SECONDS + ", not '"
                    + shown(seconds) + "'");
        }
        return outcome(lease.release(Duration.ofSeconds(Integer.parseInt(seconds))));
    }

    /** Health of the collector, for people and for {@code /healthz}. */
    public JsonObject status() {
        boolean alive = alive();
        JsonArray sources = new JsonArray();
        served.health().forEach(health -> {
            JsonObject source = new JsonObject()
                    .put("source", health.source())
                    .put("status", status(health.status().name()))
                    .put("read_ms", health.readMs());
            if (!health.detail().isEmpty()) {
                source.put("detail", health.detail());
            }
            sources.add(source);
        });
        JsonObject lost = new JsonObject();
        for (Loss loss : served.losses().all()) {
            lost.put(loss.getKind(), loss.getCount());
        }
        return new JsonObject()
                .put("ok", alive)
                .put("sample", served.last().getSeq())
                .put("sample_age_ms", served.lastAgeMs())
                .put("boot_id", hex(served.last().getBootId()))
                .put("gpus", served.last().getGpusCount())
                .put("nics", served.last().getNicsCount())
                .put("ranks", served.last().getRanksCount())
                .put("sources", sources)
                .put(
                        "backlog",
                        new JsonObject()
                                .put("records", served.backlog().records())
                                .put("bytes", served.backlog().bytes())
                                .put("oldest_ms", served.backlog().oldestMs()))
                .put("sent", served.sent())
                .put("lost", lost);
    }

    /** A collector is alive while it samples; that the broker is away or a source is stuck is not its fault. */
    boolean alive() {
        return served.last().getSeq() > 0
                && served.lastAgeMs() <= 3 * served.interval().toMillis();
    }

    private static JsonObject outcome(GpuLease.Outcome outcome) {
        return new JsonObject().put("ok", outcome.done()).put("detail", outcome.detail());
    }

    private static JsonObject usage(String line) {
        return refused("'" + shown(line) + "' is no command: release-gpus SECONDS, give-back-gpus, status");
    }

    private static JsonObject refused(String detail) {
        return new JsonObject().put("ok", false).put("detail", detail);
    }

    private static String shown(String text) {
        return text.length() <= 60 ? text : text.substring(0, 60) + "…";
    }

    private static String status(String name) {
        return name.replace("READ_STATUS_", "")
                .toLowerCase(java.util.Locale.ROOT)
                .replace('_', '-');
    }

    private static String hex(ByteString bytes) {
        return HexFormat.of().formatHex(bytes.toByteArray());
    }
}

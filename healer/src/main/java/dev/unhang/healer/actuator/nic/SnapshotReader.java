package dev.unhang.healer.actuator.nic;

import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Ran;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Asks ip for all that it knows of this network namespace. Changes nothing. On the worker's thread. */
final class SnapshotReader {

    private static final Duration DEADLINE = Duration.ofSeconds(10);

    private final Programs programs;

    SnapshotReader(Programs programs) {
        this.programs = programs;
    }

    Snapshot read() throws IOException {
        Map<Snapshot.Part, List<JsonObject>> parts = new EnumMap<>(Snapshot.Part.class);
        for (Snapshot.Part part : Snapshot.Part.values()) {
            String output = answer(part.words());
            try {
                parts.put(part, Snapshot.parse(output));
            } catch (DecodeException e) {
                throw new IOException(
                        "'" + String.join(" ", part.words()) + "' wrote what cannot be read: " + e.getMessage(), e);
            }
        }
        return new Snapshot(parts);
    }

    /**
     * Devices with a route that has a locked metric, which ip tells in its text only, and not in its JSON. A locked
     * minimal time-out is how ip always prints it.
     */
    List<String> lockedRoutes() throws IOException {
        List<String> locked = new ArrayList<>();
        for (String family : List.of("-4", "-6")) {
            answer(List.of("ip", family, "-o", "route", "show", "table", "all"))
                    .lines()
                    .filter(line -> line.replace("rto_min lock ", "").contains(" lock "))
                    .forEach(locked::add);
        }
        return locked;
    }

    private String answer(List<String> words) throws IOException {
        Ran ran = programs.run(DEADLINE, words);
        if (!ran.ok()) {
            throw new IOException("'" + String.join(" ", words) + "' failed: " + ran.why());
        }
        return ran.output();
    }
}

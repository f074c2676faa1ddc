package dev.unhang.healer.actuator.gpu;

import dev.unhang.healer.actuator.repair.SavedFile;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What a reset keeps on disk from before it stops anything until all runs again. Immutable.
 *
 * @param gpus UUIDs of all that are reset
 * @param persistent those whose persistence mode was on
 * @param units those that ran and are stopped for the reset, in the order of stopping
 */
record SavedReset(String bootId, String command, List<String> gpus, List<String> persistent, List<String> units) {

    static final String FILE = "gpu-reset.json";

    SavedReset {
        gpus = List.copyOf(gpus);
        persistent = List.copyOf(persistent);
        units = List.copyOf(units);
    }

    void write(Path folder) throws IOException {
        SavedFile.write(
                folder.resolve(FILE),
                new JsonObject()
                        .put("version", 1)
                        .put("boot_id", bootId)
                        .put("command", command)
                        .put("gpus", new JsonArray(gpus))
                        .put("persistent", new JsonArray(persistent))
                        .put("units", new JsonArray(units))
                        .encodePrettily());
    }

    static Optional<SavedReset> in(Path folder) throws IOException {
        Path file = folder.resolve(FILE);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try {
            JsonObject json = new JsonObject(Files.readString(file));
            return Optional.of(new SavedReset(
                    json.getString("boot_id"),
                    json.getString("command"),
                    texts(json, "gpus"),
                    texts(json, "persistent"),
                    texts(json, "units")));
        } catch (DecodeException | ClassCastException | NullPointerException e) {
            throw new IOException(file + " holds no saved reset: " + e.getMessage(), e);
        }
    }

    private static List<String> texts(JsonObject json, String key) {
        return json.getJsonArray(key).stream().map(String::valueOf).toList();
    }
}

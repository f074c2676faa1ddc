package dev.unhang.healer.actuator.nic;

import dev.unhang.healer.actuator.repair.SavedFile;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What a bounce keeps on disk from before it touches anything until all is put back. While the file is there a bounce has
 * no end. Immutable.
 *
 * @param bootId of the boot in which it was saved: after another one nothing of it is true
 * @param upSeconds since that boot, when it was saved
 * @param command the command whose bounce it is
 * @param port the name of the device
 */
record SavedBounce(String bootId, long upSeconds, String command, String port, Snapshot network) {

    static final String FILE = "nic-bounce.json";

    String text() {
        return new JsonObject()
                .put("version", 1)
                .put("boot_id", bootId)
                .put("up_seconds", upSeconds)
                .put("command", command)
                .put("port", port)
                .put("network", network.toJson())
                .encodePrettily();
    }

    void write(Path folder) throws IOException {
        SavedFile.write(folder.resolve(FILE), text());
    }

    DeviceStack stack() {
        return DeviceStack.above(port, network.part(Snapshot.Part.LINKS));
    }

    /** What lies in the folder, if anything does. */
    static Optional<SavedBounce> in(Path folder) throws IOException {
        Path file = folder.resolve(FILE);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try {
            JsonObject json = new JsonObject(Files.readString(file));
            return Optional.of(new SavedBounce(
                    json.getString("boot_id"),
                    json.getLong("up_seconds"),
                    json.getString("command"),
                    json.getString("port"),
                    Snapshot.of(json.getJsonObject("network"))));
        } catch (DecodeException | ClassCastException | NullPointerException e) {
            throw new IOException(file + " holds no saved network: " + e.getMessage(), e);
        }
    }
}

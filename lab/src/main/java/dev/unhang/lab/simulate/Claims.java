package dev.unhang.lab.simulate;

import com.google.protobuf.ByteString;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Who claimed with which nonce and when, and which grants a decider truly committed: what rule 4 goes by. */
final class Claims {

    /** A claim as it left the actuator. */
    record Made(String command, String node, String startId, long atNs) {}

    private record Granted(String command, ByteString nonce, long epoch) {}

    private final Map<ByteString, Made> made = new HashMap<>();
    private final Set<Granted> granted = new HashSet<>();
    private final Map<String, Long> epochs = new HashMap<>();

    void made(ByteString nonce, Made claim) {
        made.put(nonce, claim);
    }

    void committed(String command, ByteString nonce, long epoch) {
        granted.add(new Granted(command, nonce, epoch));
    }

    /** An actuator has read a true grant with this epoch. */
    void read(String startId, long epoch) {
        epochs.merge(startId, epoch, Math::max);
    }

    @Nullable
    Made of(ByteString nonce) {
        return made.get(nonce);
    }

    boolean granted(String command, ByteString nonce, long epoch) {
        return granted.contains(new Granted(command, nonce, epoch));
    }

    long epochRead(String startId) {
        return epochs.getOrDefault(startId, 0L);
    }
}

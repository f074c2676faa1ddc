package dev.unhang.healer.intake;

import dev.unhang.events.Codec;
import dev.unhang.events.v1.Learned;
import dev.unhang.events.v1.Pulse;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The key of a telemetry record names its node, in what a collector allows as one: letters, digits, dots, dashes and
 * underscores, at most 253 of them. What comes under another key is from no collector of ours and is unreadable: a name
 * of ten thousand characters or with line breaks must not reach findings, logs and screens. Stateless.
 */
final class NodeKey {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,252}");

    private NodeKey() {}

    /** The same, or unreadable when it speaks of a node that cannot be. Healers' own records name no node. */
    static Codec.Decoded checked(@Nullable String key, Codec.Decoded decoded) {
        if (!(decoded instanceof Codec.Decoded.Known known)
                || known.message() instanceof Pulse
                || known.message() instanceof Learned
                || (key != null && NAME.matcher(key).matches())) {
            return decoded;
        }
        return new Codec.Decoded.Unreadable(
                key == null
                        ? "no key: a record of telemetry is keyed by its node"
                        : "the key is no name of a node: letters, digits, dots and dashes, at most 253 of them");
    }
}

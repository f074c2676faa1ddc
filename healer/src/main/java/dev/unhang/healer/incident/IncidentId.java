package dev.unhang.healer.incident;

import dev.unhang.events.v1.IncidentKind;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Names an incident by what opened it, so that a replay of the log gives the same name. Stateless. */
public final class IncidentId {

    private static final int BYTES = 4;

    private IncidentId() {}

    /**
     * {@code KIND-} and 8 hex digits of SHA-256 over kind, subject and inbox offset, each parted by a zero byte.
     *
     * @param offset inbox offset of the first finding
     */
    public static String of(IncidentKind kind, String subject, long offset) {
        String name = Kinds.name(kind);
        String content = name + '\0' + subject + '\0' + offset;
        return name + '-' + HexFormat.of().formatHex(sha256(content), 0, BYTES);
    }

    private static byte[] sha256(String content) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}

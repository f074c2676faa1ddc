package dev.unhang.healer.detect.node;

import com.google.protobuf.ByteString;
import java.util.HexFormat;

/** Identities in the spelling that people know. */
final class Hex {

    private static final HexFormat HEX = HexFormat.of();

    private Hex() {}

    /** The first {@code bytes} bytes as hex digits. */
    static String of(ByteString value, int bytes) {
        return HEX.formatHex(value.toByteArray(), 0, Math.min(bytes, value.size()));
    }

    /** {@code GPU-12345678-…} as NVML spells it; other lengths as plain hex digits behind {@code GPU-}. */
    static String gpu(ByteString uuid) {
        String digits = of(uuid, uuid.size());
        if (digits.length() != 32) {
            return "GPU-" + digits;
        }
        return "GPU-" + digits.substring(0, 8) + "-" + digits.substring(8, 12) + "-" + digits.substring(12, 16) + "-"
                + digits.substring(16, 20) + "-" + digits.substring(20);
    }
}

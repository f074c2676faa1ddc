package dev.unhang.healer.command;

import com.google.protobuf.ByteString;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.TreeMap;

/**
 * Binds a grant to the parameters that were offered: SHA-256 over name and value of each, sorted by name, each as a
 * 32-bit big-endian length and its UTF-8 bytes. Stateless.
 */
public final class ParameterHash {

    private ParameterHash() {}

    public static ByteString of(Map<String, String> parameters) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            for (Map.Entry<String, String> parameter : new TreeMap<>(parameters).entrySet()) {
                put(out, parameter.getKey());
                put(out, parameter.getValue());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("an array cannot fail", e);
        }
        try {
            return ByteString.copyFrom(MessageDigest.getInstance("SHA-256").digest(bytes.toByteArray()));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static void put(DataOutputStream out, String text) throws IOException {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(utf8.length);
        out.write(utf8);
    }
}

package dev.unhang.healer.web;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The bearer token that every path but health wants. It comes from a file that only its owner can read; there is no
 * default. Compared in constant time, over hashes, so that neither its bytes nor its length leak. Immutable.
 */
public final class Token {

    private static final int LEAST = 16;
    private static final int MOST = 512;
    private static final String SCHEME = "bearer ";

    private final byte[] hash;

    private Token(String text) {
        this.hash = sha256(text);
    }

    /** Reads the token; the exception says what is wrong with the file and how to mend it. */
    public static Token read(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IOException("http.token-file " + file + " is not there: create it with"
                    + " `(umask 077; head -c 32 /dev/urandom | base64 > " + file + ")`");
        }
        Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file);
        if (permissions.stream().anyMatch(permission -> !permission.name().startsWith("OWNER_"))) {
            throw new IOException("http.token-file " + file + " is open to others ("
                    + PosixFilePermissions.toString(permissions) + "): run `chmod 600 " + file + "`");
        }
        String text = Files.size(file) > 4096
                ? ""
                : Files.readString(file, StandardCharsets.UTF_8).strip();
        if (text.length() < LEAST || text.length() > MOST || text.chars().anyMatch(c -> c <= ' ' || c > '~')) {
            throw new IOException("http.token-file " + file + " must hold one word of " + LEAST + " to " + MOST
                    + " printable ASCII characters: create it anew with"
                    + " `(umask 077; head -c 32 /dev/urandom | base64 > " + file + ")`");
        }
        return new Token(text);
    }

    static Token of(String text) {
        return new Token(text);
    }

    /** Whether the value of an Authorization header bears this token. */
    boolean isBorneBy(@Nullable String authorization) {
        if (authorization == null || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            return false;
        }
        return MessageDigest.isEqual(
                hash, sha256(authorization.substring(SCHEME.length()).strip()));
    }

    private static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}

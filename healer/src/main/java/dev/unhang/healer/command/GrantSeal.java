package dev.unhang.healer.command;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.unhang.events.v1.Grant;
import dev.unhang.events.v1.SignedGrant;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.Map;

/**
 * Signs grants and checks them: Ed25519 over {@code unhang-grant-v1}, a zero byte, and the grant's bytes as sent. The
 * epoch, the nonce, the node and the hash of the parameters are inside, so a signature holds for one grant only. Keys are
 * PEM files as {@code openssl genpkey -algorithm ed25519} and {@code openssl pkey -pubout} write them. Stateless.
 */
public final class GrantSeal {

    private static final byte[] CONTEXT = "unhang-grant-v1\0".getBytes(StandardCharsets.US_ASCII);
    private static final String ALGORITHM = "Ed25519";

    private GrantSeal() {}

    /** A grant whose seal did not hold, or what a key file says that is none. The message is for a person. */
    public static final class BadSealException extends Exception {
        private static final long serialVersionUID = 1;

        BadSealException(String message) {
            super(message);
        }
    }

    public static SignedGrant sign(Grant grant, PrivateKey key, String keyId) {
        ByteString bytes = grant.toByteString();
        try {
            Signature signature = Signature.getInstance(ALGORITHM);
            signature.initSign(key);
            signature.update(CONTEXT);
            signature.update(bytes.toByteArray());
            return SignedGrant.newBuilder()
                    .setGrant(bytes)
                    .setSignature(ByteString.copyFrom(signature.sign()))
                    .setKeyId(keyId)
                    .build();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a key that was read as Ed25519 cannot sign", e);
        }
    }

    /**
     * The grant inside, once its seal was found whole.
     *
     * @param keys trusted public keys by id
     */
    public static Grant open(SignedGrant sealed, Map<String, PublicKey> keys) throws BadSealException {
        PublicKey key = keys.get(sealed.getKeyId());
        if (key == null) {
            throw new BadSealException("it is signed with key '" + sealed.getKeyId() + "', which is not trusted here");
        }
        try {
            Signature signature = Signature.getInstance(ALGORITHM);
            signature.initVerify(key);
            signature.update(CONTEXT);
            signature.update(sealed.getGrant().toByteArray());
            if (!signature.verify(sealed.getSignature().toByteArray())) {
                throw new BadSealException("its signature is not of key '" + sealed.getKeyId() + "'");
            }
        } catch (GeneralSecurityException e) {
            throw new BadSealException("its signature cannot be read: " + e.getMessage());
        }
        try {
            return Grant.parseFrom(sealed.getGrant());
        } catch (InvalidProtocolBufferException e) {
            throw new BadSealException("what is signed is no grant");
        }
    }

    /** Reads the text of a PEM file with a private key. */
    public static PrivateKey privateKey(String pem) throws BadSealException {
        try {
            return KeyFactory.getInstance(ALGORITHM).generatePrivate(new PKCS8EncodedKeySpec(body(pem, "PRIVATE KEY")));
        } catch (GeneralSecurityException e) {
            throw new BadSealException("it holds no Ed25519 private key; openssl genpkey -algorithm ed25519 makes one");
        }
    }

    /** Reads the text of a PEM file with a public key. */
    public static PublicKey publicKey(String pem) throws BadSealException {
        try {
            return KeyFactory.getInstance(ALGORITHM).generatePublic(new X509EncodedKeySpec(body(pem, "PUBLIC KEY")));
        } catch (GeneralSecurityException e) {
            throw new BadSealException(
                    "it holds no Ed25519 public key; openssl pkey -pubout makes one of a private key");
        }
    }

    private static byte[] body(String pem, String what) throws BadSealException {
        String begin = "-----BEGIN " + what + "-----";
        String end = "-----END " + what + "-----";
        int from = pem.indexOf(begin);
        int to = pem.indexOf(end);
        if (from < 0 || to < from) {
            throw new BadSealException("it has no line '" + begin + "' with its end");
        }
        try {
            return Base64.getMimeDecoder()
                    .decode(pem.substring(from + begin.length(), to).strip());
        } catch (IllegalArgumentException e) {
            throw new BadSealException("what stands between its PEM lines is not Base64");
        }
    }
}

package dev.unhang.healer.journal;

import dev.unhang.events.v1.Grant;
import dev.unhang.events.v1.SignedGrant;
import dev.unhang.healer.command.GrantSeal;
import java.security.PrivateKey;

/** The key that grants are signed with, and the name under which actuators trust it. Immutable; never printed. */
public record Seal(PrivateKey key, String keyId) {

    SignedGrant sign(Grant grant) {
        return GrantSeal.sign(grant, key, keyId);
    }

    @Override
    public String toString() {
        return "Seal[" + keyId + "]";
    }
}

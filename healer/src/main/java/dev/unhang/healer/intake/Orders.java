package dev.unhang.healer.intake;

import dev.unhang.healer.journal.Seal;
import dev.unhang.healer.policy.Policy;
import org.jspecify.annotations.Nullable;

/**
 * What an operator wants done, and the key that makes an actuator believe it.
 *
 * @param seal null: grants cannot be signed, so the policy acts on nothing
 */
public record Orders(Policy policy, @Nullable Seal seal) {

    /** Watches, and does nothing. */
    public static final Orders NONE = new Orders(Policy.NONE, null);

    public Orders {
        if (seal == null && policy.acts()) {
            throw new IllegalArgumentException("a policy that acts needs a key to sign grants with");
        }
    }
}

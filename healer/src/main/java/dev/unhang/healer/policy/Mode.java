package dev.unhang.healer.policy;

import java.util.Locale;

/** How far a playbook may go by itself. */
public enum Mode {
    /** People are told, nothing is done. */
    OBSERVE,
    /** Each step that puts something at risk waits for a person's yes. */
    APPROVE,
    /** What no guard refuses is done. */
    ENFORCE;

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}

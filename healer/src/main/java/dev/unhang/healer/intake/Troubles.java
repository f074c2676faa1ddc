package dev.unhang.healer.intake;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * When a trouble that comes back is told aloud: at once when it is of a new kind, and then once a minute. Its kind is its
 * exception's class, since a message may tell how many milliseconds were waited. Confined to its owner's thread.
 */
public final class Troubles {

    static final long AGAIN_NS = TimeUnit.MINUTES.toNanos(1);

    private final Map<Class<?>, Long> told = new HashMap<>();

    /** Whether it is to be told aloud now; then it counts as told. */
    public boolean aloud(Throwable trouble, long nowNs) {
        Long before = told.get(trouble.getClass());
        if (before != null && nowNs - before < AGAIN_NS) {
            return false;
        }
        told.put(trouble.getClass(), nowNs);
        return true;
    }
}

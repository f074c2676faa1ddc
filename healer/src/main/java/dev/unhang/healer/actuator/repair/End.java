package dev.unhang.healer.actuator.repair;

import dev.unhang.events.v1.ActionEnd;

/**
 * How a repair ended.
 *
 * @param detail a sentence for a person
 */
public record End(ActionEnd how, String detail) {

    public static End done(String detail) {
        return new End(ActionEnd.ACTION_DONE, detail);
    }

    public static End failed(String detail) {
        return new End(ActionEnd.ACTION_FAILED, detail);
    }

    /** Nothing was touched. */
    public static End refused(String detail) {
        return new End(ActionEnd.ACTION_REFUSED, detail);
    }

    /** It may still be running. */
    public static End timedOut(String detail) {
        return new End(ActionEnd.ACTION_TIMED_OUT, detail);
    }
}

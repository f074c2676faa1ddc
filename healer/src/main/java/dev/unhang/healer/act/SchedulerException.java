package dev.unhang.healer.act;

/** Why a scheduler did not do or tell what was asked. The message is a sentence for a person. */
public final class SchedulerException extends Exception {

    private static final long serialVersionUID = 1;

    /** What is known of the thing that was asked. */
    public enum Kind {
        /** Nothing was changed: what is there does not allow it. */
        REFUSED,
        /** The scheduler said no. */
        FAILED,
        /** The scheduler was not reached, so nothing was changed. */
        UNREACHABLE,
        /** No answer in time: it may have been done, or may still be. */
        UNKNOWN
    }

    private final Kind kind;

    public SchedulerException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    public SchedulerException(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    public static SchedulerException refused(String message) {
        return new SchedulerException(Kind.REFUSED, message);
    }

    public Kind kind() {
        return kind;
    }

    /** The words, which are never absent. */
    public String words() {
        return String.valueOf(getMessage());
    }
}

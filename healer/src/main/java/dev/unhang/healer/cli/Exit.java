package dev.unhang.healer.cli;

/** The exit codes of every command. Scripts rely on them. */
public final class Exit {

    public static final int WELL = 0;
    /** Something is wrong: a confirmed incident is open, or the healer is blind. */
    public static final int WRONG = 1;
    /** The command line or a configuration is wrong, or names what does not exist. */
    public static final int USAGE = 2;
    /** The healer was not reached, or could not answer. */
    public static final int NOT_REACHED = 3;
    /** The healer refused: no valid token, or not in this state. */
    public static final int REFUSED = 4;

    private Exit() {}

    /** A command ends without success: what to tell and with which code. */
    public static final class CommandFailedException extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final int code;

        public CommandFailedException(int code, String message) {
            super(message, null, false, false);
            this.code = code;
        }

        public int code() {
            return code;
        }
    }
}

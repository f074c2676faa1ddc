package dev.unhang.healer.actuator.protocol;

import java.util.Locale;

/** Why an actuator or executor does not do what an offer or a grant says. */
public enum Refusal {
    /** One action at a time. */
    BUSY("another command is at work here"),
    LOCAL_STOP("the stop file of this node is there"),
    UNKNOWN_ACTION("there is no such action in this version"),
    NOT_ALLOWED("the action is not in the allowlist of this node"),
    BAD_PARAMETERS("its parameters are not those of its action"),
    PRECONDITION("what it needs does not hold"),
    /** What an offer needs was not known in time. */
    NO_ANSWER("what it needs could not be read in time"),
    NO_GRANT("no grant came within 5 s of the claim"),
    LATE_GRANT("the grant came more than 5 s after the claim"),
    BAD_SEAL("the seal of the grant does not hold"),
    WRONG_NODE("it is for another node"),
    OLD_EPOCH("the grant is of a decider that was replaced"),
    WRONG_ACTION("the grant is for another action than was offered"),
    WRONG_PARAMETERS("the grant is for other parameters than were offered"),
    USED_NONCE("the grant was used before"),
    /** An executor's of the same name; no error. */
    OTHERS_CLAIM("the grant answers another claim of this command"),
    WITHDRAWN("the command was withdrawn before its grant was read"),
    UNKNOWN_COMMAND("the grant is for a command that has no open claim here");

    private final String sentence;

    Refusal(String sentence) {
        this.sentence = sentence;
    }

    /** The name in results and logs, as {@code old-epoch}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public String sentence() {
        return sentence;
    }

    /** The whole for a person; {@code more} may be empty. */
    String told(String more) {
        return label() + ": " + sentence + (more.isEmpty() ? "" : " (" + more + ")");
    }
}

package dev.unhang.lab.simulate;

/**
 * Faults that are put into a run on purpose, one for each rule, to show that its checker can fail. Each is in the wiring
 * of the simulation; the code under test stays as it is.
 */
public enum Plant {
    NONE(0),
    /** The decider follows limits far above those that were set. */
    WIDE_LIMITS(1),
    /** An actuator says that an action has ended while it still runs. */
    ENDS_TOO_EARLY(2),
    /** A decider's grants leave before its journal does, and it dies between. */
    GRANT_BEFORE_JOURNAL(3),
    /** An actuator does what any grant says, whatever it has claimed. */
    OBEYS_ANY_GRANT(4),
    /** A detector calls well what an action has ended on. */
    BELIEVES_RESULTS(5),
    /** What people say does not reach the decider. */
    DEAF_TO_PEOPLE(6),
    /** A decider forgets at each take-over what was tried before. */
    FORGETS_ATTEMPTS(7),
    /** The state loses what the journal has. */
    TORN_STATE(8),
    /** An executor gives back each node that it is asked about, whoever drained it. */
    UNDRAINS_ALL(9);

    private final int rule;

    Plant(int rule) {
        this.rule = rule;
    }

    /** The rule that must be seen broken. */
    public int rule() {
        return rule;
    }

    static Plant of(int rule) {
        for (Plant plant : values()) {
            if (plant.rule == rule) {
                return plant;
            }
        }
        throw new IllegalArgumentException("there is no fault for rule " + rule + ": the rules are 1 to 9");
    }
}

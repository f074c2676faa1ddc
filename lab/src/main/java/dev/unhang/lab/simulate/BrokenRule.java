package dev.unhang.lab.simulate;

/** One of the nine rules was seen broken. The message says how, for a person. */
final class BrokenRule extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final int rule;

    BrokenRule(int rule, String how) {
        super(how);
        this.rule = rule;
    }

    /** 1 to 9, as in docs/design.md; 0 for a promise of the simulated parts themselves. */
    int rule() {
        return rule;
    }
}

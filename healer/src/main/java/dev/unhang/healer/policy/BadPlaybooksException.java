package dev.unhang.healer.policy;

import java.util.List;

/** All mistakes of one playbook file, each a sentence with its line. */
public final class BadPlaybooksException extends Exception {

    private static final long serialVersionUID = 1;

    private final transient List<String> mistakes;

    BadPlaybooksException(List<String> mistakes) {
        super(String.join("\n", mistakes));
        this.mistakes = List.copyOf(mistakes);
    }

    /** In the order of their lines. */
    public List<String> mistakes() {
        return mistakes == null ? List.of() : mistakes;
    }
}

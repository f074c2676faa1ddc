package dev.unhang.settings;

import java.util.List;

/** A settings file has mistakes. The message names all of them, each with its line and its mend. */
public final class BadSettingsException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient List<String> mistakes;

    BadSettingsException(String file, List<String> mistakes) {
        super(file + " has " + mistakes.size() + (mistakes.size() == 1 ? " mistake:" : " mistakes:") + "\n  "
                + String.join("\n  ", mistakes));
        this.mistakes = List.copyOf(mistakes);
    }

    /** One sentence a mistake. */
    public List<String> mistakes() {
        return mistakes;
    }
}

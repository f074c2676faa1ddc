package dev.unhang.healer.actuator.repair;

/**
 * How a program ended.
 *
 * @param exit its exit status; -1 when it did not end by itself
 * @param output what it wrote to its standard output
 * @param errors what it wrote to its standard error
 * @param ending whether it ended by itself
 */
public record Ran(int exit, String output, String errors, Ending ending) {

    /** By whom it ended. */
    public enum Ending {
        BY_ITSELF,
        /** It is not installed, or could not be started. */
        NOT_STARTED,
        /** It was killed at its deadline. */
        KILLED,
        /** It outlived even the kill: the kernel holds it, and what it does may go on. */
        HELD_BY_KERNEL
    }

    public boolean ok() {
        return ending == Ending.BY_ITSELF && exit == 0;
    }

    /** All that it wrote. */
    public String text() {
        return errors.isEmpty() ? output : output + '\n' + errors;
    }

    /** For a person: how it ended, with the first words that it wrote. */
    public String why() {
        String said = text().strip().replaceAll("\\s+", " ");
        String words = said.isEmpty() ? "" : ": " + (said.length() <= 300 ? said : said.substring(0, 300) + "…");
        return switch (ending) {
            case BY_ITSELF -> "exit " + exit + words;
            case NOT_STARTED -> "it could not be started" + words;
            case KILLED -> "it did not end in time and was killed" + words;
            case HELD_BY_KERNEL -> "it did not end in time and cannot be killed, the kernel holds it" + words;
        };
    }
}

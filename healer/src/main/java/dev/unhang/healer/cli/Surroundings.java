package dev.unhang.healer.cli;

import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Where a command runs: its outputs, its environment, and whether a person sits before it.
 *
 * @param ask puts a question to the person and gives the answer; null where nobody can be asked
 * @param terminal whether the output is a terminal
 * @param patience how long a command waits for the decider's answer to a person's decision
 */
public record Surroundings(
        PrintStream out,
        PrintStream err,
        Map<String, String> environment,
        boolean terminal,
        @Nullable Asker ask,
        Supplier<Instant> now,
        Duration patience) {

    /** Puts a question to a person. */
    public interface Asker {
        @Nullable
        String ask(String question);
    }

    /** Colours only on a terminal that can, and not where NO_COLOR is set. */
    boolean colours() {
        return terminal
                && environment.getOrDefault("NO_COLOR", "").isEmpty()
                && !"dumb".equals(environment.get("TERM"));
    }

    String bold(String text, int colour) {
        return colours() ? "\u001b[1;" + colour + "m" + text + "\u001b[0m" : text;
    }

    String who() {
        String user = environment.getOrDefault("USER", "");
        return user.isBlank() ? System.getProperty("user.name", "unknown") : user;
    }
}

package dev.unhang.healer.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.unhang.healer.cli.Exit.CommandFailedException;
import dev.unhang.settings.Settings;
import java.io.IOException;
import java.io.StringWriter;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands by which a person decides. Each becomes one record in the log, with who and why; the decider's answer comes back from there. */
abstract class DecisionCommand extends AskingCommand {

    private static final JsonFactory JSON = new JsonFactory();
    private static final long ASK_EVERY_MS = 150;

    @Option(names = "--why", paramLabel = "REASON", description = "The reason; it stands in the journal.")
    @Nullable
    String why;

    private final boolean whyIsNeeded;

    DecisionCommand(Surroundings here, boolean whyIsNeeded) {
        super(here);
        this.whyIsNeeded = whyIsNeeded;
    }

    /** As the healer knows it: the command's own name. */
    private String verb() {
        return Objects.requireNonNull(spec, "a command is run by its command line")
                .name();
    }

    String target() {
        return "";
    }

    @Nullable
    Duration lasts() {
        return null;
    }

    @Override
    HealerClient.Reply ask(HealerClient healer) {
        String id = UUID.randomUUID().toString();
        healer.post("/api/v1/decisions", body(id, reason()));
        long deadline = System.nanoTime() + here.patience().toNanos();
        while (true) {
            HealerClient.Reply answered = healer.find("/api/v1/decisions/" + id);
            if (answered != null) {
                return answered;
            }
            if (System.nanoTime() >= deadline) {
                throw new CommandFailedException(
                        Exit.NOT_REACHED,
                        "the decision " + id + " stands in the log, but no decider has answered it within "
                                + Telling.duration(here.patience())
                                + ": it will count as soon as one reads it; see `unhang status`");
            }
            try {
                Thread.sleep(ASK_EVERY_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CommandFailedException(Exit.NOT_REACHED, "interrupted while waiting for the decider");
            }
        }
    }

    @Override
    int exit(Answer answer) {
        return answer.flag("refused") ? Exit.REFUSED : Exit.WELL;
    }

    @Override
    void tell(Answer answer) {
        for (String sentence : answer.texts("sentences")) {
            line((answer.flag("refused") ? "Refused: " : "Done: ") + Telling.sentence(sentence));
        }
    }

    private String reason() {
        String reason = why;
        if (reason == null && whyIsNeeded && here.ask() != null) {
            reason = here.ask().ask("Why? (it stands in the journal) ");
        }
        if (whyIsNeeded && (reason == null || reason.isBlank())) {
            throw new CommandFailedException(Exit.USAGE, verb() + " needs a reason: say it with --why");
        }
        return reason == null ? "" : reason;
    }

    private String body(String id, String reason) {
        StringWriter body = new StringWriter();
        try (JsonGenerator json = JSON.createGenerator(body)) {
            json.writeStartObject();
            json.writeStringField("id", id);
            json.writeStringField("verb", verb());
            json.writeStringField("who", here.who());
            if (!target().isEmpty()) {
                json.writeStringField("target", target());
            }
            if (!reason.isEmpty()) {
                json.writeStringField("why", reason);
            }
            Duration lasts = lasts();
            if (lasts != null) {
                json.writeNumberField("forSeconds", lasts.toSeconds());
            }
            json.writeEndObject();
        } catch (IOException e) {
            throw new IllegalStateException("a string cannot fail to be written to", e);
        }
        return body.toString();
    }

    /** Decisions on one node. */
    abstract static class OnNode extends DecisionCommand {
        @Parameters(paramLabel = "NODE", description = "A node, by the name that its collector gives.")
        String node = "";

        OnNode(Surroundings here, boolean whyIsNeeded) {
            super(here, whyIsNeeded);
        }

        @Override
        String target() {
            return node;
        }
    }

    @Command(name = "pause", description = "Stops the healer from starting any action.")
    static final class Pause extends DecisionCommand {
        Pause(Surroundings here) {
            super(here, true);
        }
    }

    @Command(name = "resume", description = "Lets the healer act again, as far as its mode allows.")
    static final class Resume extends DecisionCommand {
        Resume(Surroundings here) {
            super(here, false);
        }
    }

    /** Decisions on one incident. */
    abstract static class OnIncident extends DecisionCommand {
        @Parameters(paramLabel = "ID", description = "An incident, as job-hang-1a2b3c4d.")
        String id = "";

        OnIncident(Surroundings here, boolean whyIsNeeded) {
            super(here, whyIsNeeded);
        }

        @Override
        String target() {
            return id;
        }
    }

    @Command(name = "approve", description = "Says yes to the step that an incident waits with.")
    static final class Approve extends OnIncident {
        Approve(Surroundings here) {
            super(here, false);
        }
    }

    @Command(name = "deny", description = "Says no to the step that an incident waits with.")
    static final class Deny extends OnIncident {
        Deny(Surroundings here) {
            super(here, true);
        }
    }

    @Command(name = "dismiss", description = "Closes an incident that is none.")
    static final class Dismiss extends OnIncident {
        Dismiss(Surroundings here) {
            super(here, true);
        }
    }

    @Command(name = "forget", description = "Forgets a node that is gone for good.")
    static final class Forget extends OnNode {
        Forget(Surroundings here) {
            super(here, true);
        }
    }

    @Command(name = "take", description = "Takes a node out of the healer's hands, until it is given back.")
    static final class Take extends OnNode {
        Take(Surroundings here) {
            super(here, true);
        }
    }

    @Command(name = "give", description = "Gives a node back to the healer.")
    static final class Give extends OnNode {
        Give(Surroundings here) {
            super(here, false);
        }
    }

    @Command(name = "maintenance", description = "Announces work on a node, for a while.")
    static final class Maintenance extends OnNode {
        @Option(
                names = "--for",
                required = true,
                paramLabel = "TIME",
                description = "How long, as 30m or 2h; 0s ends it.")
        String lasts = "";

        Maintenance(Surroundings here) {
            super(here, true);
        }

        @Override
        Duration lasts() {
            try {
                return Settings.parseDuration(lasts);
            } catch (IllegalArgumentException | ArithmeticException e) {
                throw new CommandFailedException(
                        Exit.USAGE, "--for is '" + lasts + "' and must be a duration as 30m or 2h; 0s ends it");
            }
        }
    }
}

package dev.unhang.healer.cli;

import dev.unhang.healer.cli.Exit.CommandFailedException;
import dev.unhang.healer.text.SafeText;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The command line {@code unhang}: its root, what hangs on it, and how each failure ends. */
public final class Commands {

    private static final int MOST_MESSAGE = 2_000;
    private static final int MOST_LINES = 200;

    private Commands() {}

    @Command(
            name = "unhang",
            mixinStandardHelpOptions = true,
            usageHelpAutoWidth = true,
            description = "Watches GPU training clusters and heals them.",
            footerHeading = "%nExit codes: ",
            footer = "0 well, 1 something is wrong, 2 usage or configuration, 3 healer not reached, 4 refused.%n"
                    + "Which healer: UNHANG_URL and UNHANG_TOKEN, else the one that `unhang local` started.")
    private static final class Root {}

    /** A command line whose commands print and ask through {@code here}; callers add what lives elsewhere. */
    public static CommandLine commandLine(Surroundings here) {
        CommandLine root = new CommandLine(new Root());
        root.addSubcommand(new StatusCommand(here));
        root.addSubcommand(new IncidentsCommand(here));
        root.addSubcommand(new ExplainCommand(here));
        root.addSubcommand(new DecisionCommand.Approve(here));
        root.addSubcommand(new DecisionCommand.Deny(here));
        root.addSubcommand(new DecisionCommand.Dismiss(here));
        root.addSubcommand(new DecisionCommand.Forget(here));
        root.addSubcommand(new DecisionCommand.Pause(here));
        root.addSubcommand(new DecisionCommand.Resume(here));
        root.addSubcommand(new DecisionCommand.Maintenance(here));
        root.addSubcommand(new DecisionCommand.Take(here));
        root.addSubcommand(new DecisionCommand.Give(here));
        root.addSubcommand(new HealerCommand.Run(here));
        root.addSubcommand(new ActuatorCommand(here));
        root.addSubcommand(new CommandLine(new HealerCommand.Config()).addSubcommand(new HealerCommand.Check(here)));
        root.addSubcommand(new CommandLine(new PlaybooksCommand.Root())
                .addSubcommand(new PlaybooksCommand.Check(here))
                .addSubcommand(new PlaybooksCommand.Explain(here)));
        return root;
    }

    /** Runs one command line and answers with its exit code. */
    public static int run(CommandLine root, Surroundings here, String... arguments) {
        root.setOut(new PrintWriter(here.out(), true, StandardCharsets.UTF_8));
        root.setErr(new PrintWriter(here.err(), true, StandardCharsets.UTF_8));
        root.setColorScheme(CommandLine.Help.defaultColorScheme(
                here.colours() ? CommandLine.Help.Ansi.ON : CommandLine.Help.Ansi.OFF));
        root.setExecutionExceptionHandler((failure, command, parsed) -> failed(here, failure));
        root.setParameterExceptionHandler((wrong, given) -> {
            here.err().println("unhang: " + SafeText.of(String.valueOf(wrong.getMessage()), MOST_MESSAGE));
            here.err().println("see `" + wrong.getCommandLine().getCommandSpec().qualifiedName() + " --help`");
            return Exit.USAGE;
        });
        if (arguments.length == 0) {
            root.usage(here.err());
            return Exit.USAGE;
        }
        int code = root.execute(arguments);
        here.out().flush();
        return code;
    }

    private static int failed(Surroundings here, @Nullable Exception failure) throws Exception {
        if (failure instanceof CommandFailedException told) {
            String indent = "unhang: ";
            for (String line : String.valueOf(told.getMessage()).split("\n", MOST_LINES)) {
                here.err().println(indent + SafeText.of(line, MOST_MESSAGE));
                indent = "";
            }
            return told.code();
        }
        if (failure == null) {
            throw new IllegalStateException("no failure to tell");
        }
        throw failure;
    }
}

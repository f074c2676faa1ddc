package dev.unhang.healer.cli;

import dev.unhang.healer.text.SafeText;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What every command that asks a healer has in common. */
@Command(mixinStandardHelpOptions = true, usageHelpAutoWidth = true)
abstract class AskingCommand implements Callable<Integer> {

    @Option(names = "--json", description = "Print the healer's answer as JSON.")
    boolean json;

    @Spec
    @Nullable
    CommandSpec spec;

    final Surroundings here;

    AskingCommand(Surroundings here) {
        this.here = here;
    }

    @Override
    public Integer call() {
        HealerClient.Reply reply = ask(HealerClient.of(here.environment()));
        if (json) {
            here.out().println(SafeText.json(reply.text()));
        } else {
            tell(reply.answer());
        }
        return exit(reply.answer());
    }

    abstract HealerClient.Reply ask(HealerClient healer);

    /** Prints the answer for a person. */
    abstract void tell(Answer answer);

    int exit(Answer answer) {
        return Exit.WELL;
    }

    void line(String safe) {
        here.out().println(safe);
    }
}

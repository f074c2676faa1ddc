package dev.unhang.healer.replay;

import dev.unhang.healer.policy.BadPlaybooksException;
import dev.unhang.healer.policy.PlaybookText;
import dev.unhang.healer.policy.Policy;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code unhang replay TRACE...}: what the healer would decide on recorded telemetry, as fast as it can be read. Exit 0
 * when all were read, 2 when one could not be.
 */
@Command(
        name = "replay",
        mixinStandardHelpOptions = true,
        description = "What the healer would decide on recorded telemetry; each trace is a world of its own.")
public final class ReplayCommand implements Callable<Integer> {

    private static final int UNREADABLE = 2;

    private final LongSupplier nanos;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(arity = "1..*", paramLabel = "TRACE", description = "Trace files (JSON lines, gzip or plain).")
    private List<Path> traces = new ArrayList<>();

    @Option(
            names = "--without-heartbeats",
            description = "As if no training loop reported its steps and phases: counters only.")
    private boolean withoutHeartbeats;

    @Option(
            names = "--playbooks",
            paramLabel = "F",
            description =
                    "Your playbooks: tells which actions would have been offered, were there somebody to run them.")
    private @Nullable Path playbooks;

    @Option(names = "--json", description = "One JSON object a line instead of a table.")
    private boolean json;

    /**
     * Made by the program's root.
     *
     * @param nanos a monotonic clock, for the time that each trace took
     */
    public ReplayCommand(LongSupplier nanos) {
        this.nanos = nanos;
    }

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        ReplayOutput output = new ReplayOutput(out, json);
        output.heading();
        int exit = 0;
        Policy policy;
        try {
            policy = playbooks == null
                    ? Policy.NONE
                    : PlaybookText.read(playbooks.toString(), Files.readString(playbooks), PlaybookText.shipped());
        } catch (IOException | BadPlaybooksException e) {
            spec.commandLine().getErr().println("unhang replay: " + e.getMessage());
            spec.commandLine().getErr().flush();
            return UNREADABLE;
        }
        for (Path trace : traces) {
            try {
                replay(trace, policy, output);
            } catch (IOException | UncheckedIOException e) {
                out.flush();
                spec.commandLine().getErr().println("unhang replay: " + e.getMessage());
                spec.commandLine().getErr().flush();
                exit = UNREADABLE;
            }
        }
        out.flush();
        return exit;
    }

    private void replay(Path trace, Policy policy, ReplayOutput output) throws IOException {
        long began = nanos.getAsLong();
        Replay.Summary summary = Replay.run(trace, !withoutHeartbeats, policy, (name, line) -> {
            try {
                output.line(name, line);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        output.summary(summary, (nanos.getAsLong() - began) / 1_000_000);
    }
}

package dev.unhang.healer;

import dev.unhang.healer.cli.Commands;
import dev.unhang.healer.cli.Surroundings;
import dev.unhang.healer.replay.ReplayCommand;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** Where the healer and the command line start: the one place that knows the real clock, outputs and environment. */
public final class Main {

    private Main() {}

    public static void main(String[] arguments) {
        Surroundings here = new Surroundings(
                utf8(FileDescriptor.out),
                utf8(FileDescriptor.err),
                System.getenv(),
                isTerminal(1),
                isTerminal(0) && isTerminal(2) ? Main::ask : null,
                Instant::now,
                Duration.ofSeconds(5));
        CommandLine root = Commands.commandLine(here);
        root.addSubcommand(new ReplayCommand(System::nanoTime));
        System.exit(Commands.run(root, here, arguments));
    }

    /** Java 17 would print in the locale's charset, and a daemon's locale is often none. */
    private static PrintStream utf8(FileDescriptor descriptor) {
        return new PrintStream(new FileOutputStream(descriptor), true, StandardCharsets.UTF_8);
    }

    /** System.console() says something else from JDK 22 on; the kernel says the same everywhere. */
    private static boolean isTerminal(int descriptor) {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor))
                    .toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException e) {
            return false;
        }
    }

    private static @Nullable String ask(String question) {
        System.err.print(question);
        System.err.flush();
        try {
            return new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
        } catch (IOException e) {
            return null;
        }
    }
}

package dev.unhang.healer.cli;

import dev.unhang.healer.Healer;
import dev.unhang.healer.cli.Exit.CommandFailedException;
import dev.unhang.healer.text.SafeText;
import dev.unhang.settings.BadSettingsException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.HexFormat;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The daemon, and the check of its file. */
final class HealerCommand {

    private HealerCommand() {}

    /** {@code unhang healer --config F}: runs until it is told to stop. */
    @Command(name = "healer", mixinStandardHelpOptions = true, description = "Runs a healer until it is told to stop.")
    static final class Run implements Callable<Integer> {

        @Option(names = "--config", required = true, paramLabel = "F", description = "Its YAML file.")
        Path file = Path.of("");

        private final Surroundings here;

        Run(Surroundings here) {
            this.here = here;
        }

        @Override
        public Integer call() throws InterruptedException {
            Healer.Config config = read(file, here);
            Healer healer;
            try {
                healer = Healer.start(config, Clock.systemUTC(), System::nanoTime);
            } catch (IOException e) {
                throw new CommandFailedException(Exit.USAGE, String.valueOf(e.getMessage()));
            }
            Runtime.getRuntime().addShutdownHook(new Thread(healer::close, "stop"));
            return healer.awaitEnd() ? Exit.WELL : Exit.WRONG;
        }
    }

    /** {@code unhang config check F}: all mistakes at once, with their lines. */
    @Command(
            name = "check",
            mixinStandardHelpOptions = true,
            description = "Checks a healer's YAML file, and the token file that it names.")
    static final class Check implements Callable<Integer> {

        @Parameters(paramLabel = "F", description = "A healer's YAML file.")
        Path file = Path.of("");

        @Option(names = "--json", description = "Print JSON.")
        boolean json;

        private final Surroundings here;

        Check(Surroundings here) {
            this.here = here;
        }

        @Override
        public Integer call() {
            read(file, here);
            here.out().println(json ? "{\"well\":true}" : SafeText.of(file.toString(), Telling.SENTENCE) + " is well");
            return Exit.WELL;
        }
    }

    @Command(name = "config", mixinStandardHelpOptions = true, description = "Checks settings.")
    static final class Config {}

    private static Healer.Config read(Path file, Surroundings here) {
        try {
            return Healer.Config.read(file, here.environment(), id());
        } catch (BadSettingsException e) {
            throw new CommandFailedException(Exit.USAGE, String.valueOf(e.getMessage()));
        } catch (NoSuchFileException e) {
            throw new CommandFailedException(Exit.USAGE, file + " is not there");
        } catch (IOException e) {
            throw new CommandFailedException(Exit.USAGE, file + ": " + e.getMessage());
        }
    }

    /** New with each start, so that two healers of one host are never taken for one. */
    private static String id() {
        String host;
        try {
            host = InetAddress.getLocalHost().getHostName().replaceAll("[^A-Za-z0-9._-]", "-");
        } catch (UnknownHostException e) {
            host = "healer";
        }
        byte[] random = new byte[4];
        new SecureRandom().nextBytes(random);
        return host + '-' + HexFormat.of().formatHex(random);
    }
}

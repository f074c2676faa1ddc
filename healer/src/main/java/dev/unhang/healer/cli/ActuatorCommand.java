package dev.unhang.healer.cli;

import dev.unhang.healer.actuator.Actuator;
import dev.unhang.healer.actuator.ActuatorConfig;
import dev.unhang.healer.cli.Exit.CommandFailedException;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.text.SafeText;
import dev.unhang.settings.BadSettingsException;
import dev.unhang.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.apache.kafka.common.KafkaException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code unhang actuator --config F}: runs until it is told to stop. */
@Command(
        name = "actuator",
        mixinStandardHelpOptions = true,
        description = "Runs this node's actuator until it is told to stop: it does what a healer grants and this node"
                + " allows.")
final class ActuatorCommand implements Callable<Integer> {

    private static final Path PROC = Path.of("/proc");

    @Option(names = "--config", required = true, paramLabel = "F", description = "Its YAML file.")
    Path file = Path.of("");

    @Option(names = "--check", description = "Check the settings and the key files that they name, and end.")
    boolean check;

    private final Surroundings here;

    ActuatorCommand(Surroundings here) {
        this.here = here;
    }

    @Override
    public Integer call() throws InterruptedException {
        ActuatorConfig config = read();
        if (check) {
            String allowed =
                    config.actions().stream().map(Action::label).sorted().collect(Collectors.joining(", "));
            here.out()
                    .println(SafeText.of(file.toString(), Telling.SENTENCE) + " is well: node "
                            + SafeText.of(config.node(), Telling.SENTENCE) + " allows "
                            + (allowed.isEmpty() ? "nothing" : allowed));
            return Exit.WELL;
        }
        String version = Actuator.class.getPackage().getImplementationVersion();
        Actuator actuator;
        try {
            actuator = Actuator.start(
                    config, version == null ? "development" : version, PROC, Clock.systemUTC(), System::nanoTime);
        } catch (IOException e) {
            throw new CommandFailedException(Exit.WRONG, "the boot id cannot be read: " + e.getMessage());
        } catch (KafkaException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new CommandFailedException(Exit.WRONG, "no client of Kafka can be made: " + cause.getMessage());
        }
        Runtime.getRuntime().addShutdownHook(new Thread(actuator::close, "stop"));
        return actuator.awaitEnd() ? Exit.WELL : Exit.WRONG;
    }

    private ActuatorConfig read() {
        try {
            String host = Files.readString(PROC.resolve("sys/kernel/hostname")).strip();
            return ActuatorConfig.read(Settings.read(file, here.environment()), host);
        } catch (BadSettingsException e) {
            throw new CommandFailedException(Exit.USAGE, String.valueOf(e.getMessage()));
        } catch (NoSuchFileException e) {
            throw new CommandFailedException(Exit.USAGE, file + " is not there");
        } catch (IOException e) {
            throw new CommandFailedException(Exit.USAGE, file + ": " + e.getMessage());
        }
    }
}

package dev.unhang.lab;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A real Slurm on this machine ({@code scripts/slurm.sh}), nodes node-1 and so on. Confined to the test's thread. */
final class SlurmCluster implements AutoCloseable {

    private final Path folder;
    private final Process script;
    private final BufferedReader answers;
    private final Writer words;

    /** Starts it, and returns once all nodes are idle. */
    SlurmCluster(Path folder, int nodes) throws IOException {
        this.folder = folder;
        script = new ProcessBuilder("bash", "scripts/slurm.sh", folder.toString(), Integer.toString(nodes))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        answers = new BufferedReader(new InputStreamReader(script.getInputStream(), StandardCharsets.UTF_8));
        words = script.outputWriter(StandardCharsets.UTF_8);
        await("ready");
    }

    Path configFile() {
        return folder.resolve("slurm.conf");
    }

    void stopController() throws IOException {
        say("stop-controller");
    }

    void startController() throws IOException {
        say("start-controller");
    }

    /** Runs a program of Slurm to its end, as a person would; what it prints, without the last line break. */
    String person(String... command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("SLURM_CONF", configFile().toString());
        Process program = builder.start();
        String said = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8).stripTrailing();
        if (program.waitFor() != 0) {
            throw new AssertionError(String.join(" ", command) + " ended with " + program.exitValue() + ": " + said);
        }
        return said;
    }

    /** Submits a batch job whose output is appended to a file; its number. */
    String submit(Path output, String script, String... options) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of("sbatch", "--parsable", "-o", output.toString(), "--open-mode=append"));
        command.addAll(List.of(options));
        command.addAll(List.of("--wrap", script));
        return person(command.toArray(new String[0]));
    }

    private void say(String word) throws IOException {
        words.write(word + "\n");
        words.flush();
        await("done");
    }

    private void await(String answer) throws IOException {
        @Nullable String line = answers.readLine();
        if (!answer.equals(line)) {
            close();
            throw new IOException("slurm.sh says '" + line + "' and not '" + answer + "'; its logs are in " + folder);
        }
    }

    @Override
    public void close() throws IOException {
        // At the end of its input it ends all that it started.
        words.close();
        try {
            if (!script.waitFor(20, TimeUnit.SECONDS)) {
                script.destroy();
            }
        } catch (InterruptedException e) {
            script.destroy();
            Thread.currentThread().interrupt();
        }
    }
}

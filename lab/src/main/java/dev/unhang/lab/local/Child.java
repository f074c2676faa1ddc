package dev.unhang.lab.local;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One daemon as a child process. Its output is passed on with its name before each line, and the last lines are kept.
 * It has a session of its own, so that Ctrl-C reaches only us and we stop the children in order; and the kernel stops it
 * if we are killed. One daemon thread reads its output.
 */
final class Child {

    private static final int KEPT_LINES = 20;
    private static final int MOST_CHARACTERS = 2_000;

    private final String name;
    private final Process process;
    private final Thread reader;
    private final Deque<String> last = new ArrayDeque<>();

    private Child(String name, Process process, PrintStream out) {
        this.name = name;
        this.process = process;
        this.reader = new Thread(() -> read(out), name + "-output");
        reader.setDaemon(true);
    }

    /**
     * Starts it. The thread that calls must live as long as the child shall: the kernel ends the child with it.
     *
     * @param without variables of our environment that the child must not see
     */
    static Child start(String name, List<String> command, Set<String> without, PrintStream out) throws IOException {
        List<String> whole = new ArrayList<>();
        if (Files.isExecutable(Path.of("/usr/bin/setsid"))) {
            whole.add("/usr/bin/setsid");
        }
        if (Files.isExecutable(Path.of("/usr/bin/setpriv"))) {
            whole.addAll(List.of("/usr/bin/setpriv", "--pdeathsig", "TERM"));
        }
        whole.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(whole).redirectErrorStream(true);
        builder.environment().keySet().removeAll(without);
        Process process = builder.start();
        process.getOutputStream().close();
        Child child = new Child(name, process, out);
        child.reader.start();
        return child;
    }

    String name() {
        return name;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Calls back once, on a thread of the JDK's, when it has ended for whatever reason. */
    void onEnd(Consumer<Child> told) {
        var unused = process.onExit().thenRun(() -> told.accept(this));
    }

    /** How it ended, and its last lines. Waits a moment for those. */
    String lastWords() throws InterruptedException {
        reader.join(TimeUnit.SECONDS.toMillis(2));
        String how = process.isAlive() ? "runs" : "ended with exit code " + process.exitValue();
        synchronized (last) {
            return "the " + name + " " + how
                    + (last.isEmpty() ? " and said nothing" : "; its last words:\n  " + String.join("\n  ", last));
        }
    }

    /** SIGTERM; SIGKILL when it has not ended by then. Answers whether it ended by itself. */
    boolean stop(int seconds) throws InterruptedException {
        // Process.destroy() would also close its output, and its last words with it.
        process.toHandle().destroy();
        boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
        if (!ended) {
            process.destroyForcibly().waitFor();
        }
        reader.join(TimeUnit.SECONDS.toMillis(2));
        return ended;
    }

    private void read(PrintStream out) {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String shown = line.length() <= MOST_CHARACTERS ? line : line.substring(0, MOST_CHARACTERS) + "…";
                synchronized (last) {
                    last.addLast(shown);
                    if (last.size() > KEPT_LINES) {
                        last.removeFirst();
                    }
                }
                out.println(name + " | " + shown);
            }
        } catch (IOException e) {
            // The pipe is gone with its process, whose end is told elsewhere.
            out.println(name + " | (its output ended: " + e.getMessage() + ")");
        }
    }
}

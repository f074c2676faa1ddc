package dev.unhang.lab;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An {@link EmbeddedKafka} in a process of its own, that a test can kill, stop, and set wrong. Its port and its data
 * stay the same over restarts. Confined to the thread that uses it; one daemon thread reads its output.
 */
public final class KafkaProcess implements AutoCloseable {

    private static final long DEADLINE_SECONDS = 60;

    private final Path data;
    private final String host;
    private final int port;
    // One a process: what a killed one still says is not an answer of the next.
    private BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private @Nullable Process process;

    /** {@code port} 0 takes a free one. */
    public KafkaProcess(Path data, String host, int port) throws IOException {
        this.data = data;
        this.host = host;
        this.port = port == 0 ? EmbeddedKafka.freePort(host) : port;
    }

    /** What clients need: {@code host:port}. */
    public String bootstrapServers() {
        return host + ":" + port;
    }

    /** Starts it with the class path of this process, and returns once it answers clients. */
    public void start() throws IOException, InterruptedException {
        BlockingQueue<String> own = new LinkedBlockingQueue<>();
        answers = own;
        Process started = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        EmbeddedKafka.class.getName(),
                        "--host",
                        host,
                        "--port",
                        Integer.toString(port),
                        "--data",
                        data.toString()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        process = started;
        Thread reader = new Thread(() -> read(started, own), "broker-output");
        reader.setDaemon(true);
        reader.start();
        await("ready ");
    }

    /** Sets its wall clock ahead of the system's, in milliseconds, and returns once it holds. */
    public void shiftStamps(long ms) throws IOException, InterruptedException {
        Writer commands = running().outputWriter(StandardCharsets.UTF_8);
        commands.write("shift " + ms + "\n");
        commands.flush();
        await("shifted ");
    }

    /** SIGKILL. */
    public void kill() throws InterruptedException {
        running().destroyForcibly().waitFor();
        process = null;
    }

    /** SIGTERM, and waits for its end; it can be started again. */
    public void stop() {
        Process stopping = process;
        process = null;
        if (stopping == null) {
            return;
        }
        stopping.destroy();
        try {
            if (!stopping.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
                stopping.destroyForcibly();
            }
        } catch (InterruptedException e) {
            stopping.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        stop();
    }

    private Process running() {
        Process running = process;
        if (running == null) {
            throw new IllegalStateException("the broker on " + bootstrapServers() + " does not run");
        }
        return running;
    }

    private void await(String prefix) throws IOException, InterruptedException {
        String answer = answers.poll(DEADLINE_SECONDS, TimeUnit.SECONDS);
        if (answer == null || !answer.startsWith(prefix)) {
            throw new IOException("the broker on " + bootstrapServers() + " said "
                    + (answer == null ? "nothing for " + DEADLINE_SECONDS + " s" : "'" + answer + "'") + " where '"
                    + prefix.strip() + "' was awaited");
        }
    }

    private static void read(Process from, BlockingQueue<String> answers) {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(from.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                answers.add(line);
            }
            answers.add("its end");
        } catch (IOException e) {
            if (from.isAlive()) {
                throw new UncheckedIOException(e);
            }
        }
    }
}

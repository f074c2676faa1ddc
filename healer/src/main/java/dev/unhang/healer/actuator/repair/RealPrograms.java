package dev.unhang.healer.actuator.repair;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Runs programs as children of this process, with {@code LC_ALL=C}, no input, and at most 8 MiB kept of each stream. A
 * program at its deadline is killed with all that it started; if it outlives that by 5 s, the kernel holds it. Confined to
 * the worker's thread, with two more while a program runs, that read what it writes.
 */
public final class RealPrograms implements Programs {

    private static final int MOST_BYTES = 8 << 20;
    private static final Duration PATIENCE_AFTER_KILL = Duration.ofSeconds(5);

    /** A child that the program left behind may keep its pipe open for ever. */
    private static final Duration PATIENCE_WITH_PIPES = Duration.ofSeconds(2);

    private final LongSupplier nanoTime;

    public RealPrograms(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    @Override
    public Ran run(Duration deadline, List<String> words) {
        Process process;
        try {
            ProcessBuilder builder = new ProcessBuilder(words);
            builder.environment().put("LC_ALL", "C");
            process = builder.start();
            process.getOutputStream().close();
        } catch (IOException e) {
            return new Ran(-1, "", String.valueOf(e.getMessage()), Ran.Ending.NOT_STARTED);
        }
        Stream output = new Stream(process.getInputStream(), words.get(0) + "-output");
        Stream errors = new Stream(process.getErrorStream(), words.get(0) + "-errors");
        boolean ended = ended(process, deadline);
        if (!ended) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        Ran.Ending ending = ended
                ? Ran.Ending.BY_ITSELF
                : ended(process, PATIENCE_AFTER_KILL) ? Ran.Ending.KILLED : Ran.Ending.HELD_BY_KERNEL;
        return new Ran(ended ? process.exitValue() : -1, output.text(), errors.text(), ending);
    }

    @Override
    public void pause(Duration duration) {
        long end = nanos() + duration.toNanos();
        boolean interrupted = false;
        for (long left = duration.toNanos(); left > 0; left = end - nanos()) {
            LockSupport.parkNanos(this, left);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public long nanos() {
        return nanoTime.getAsLong();
    }

    private boolean ended(Process process, Duration patience) {
        long end = nanos() + patience.toNanos();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return process.waitFor(Math.max(0, end - nanos()), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Reads one stream to its end, so that the program never waits for us. */
    private static final class Stream {

        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final Thread thread;

        Stream(InputStream in, String name) {
            thread = new Thread(() -> read(in), name);
            thread.setDaemon(true);
            thread.start();
        }

        private void read(InputStream in) {
            byte[] some = new byte[8192];
            try (in) {
                for (int n = in.read(some); n >= 0; n = in.read(some)) {
                    synchronized (bytes) {
                        bytes.write(some, 0, Math.min(n, MOST_BYTES - bytes.size()));
                    }
                }
            } catch (IOException e) {
                // The program was killed; what it had written stays.
            }
        }

        String text() {
            try {
                thread.join(PATIENCE_WITH_PIPES.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            synchronized (bytes) {
                return bytes.toString(StandardCharsets.UTF_8);
            }
        }
    }
}

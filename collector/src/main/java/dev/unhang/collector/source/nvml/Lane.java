package dev.unhang.collector.source.nvml;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A thread that makes one call at a time, so that a call that hangs holds up nothing else. The owner starts a call, waits
 * as long as it cares to, and looks again later; it never starts a second one while the first is out. The thread is a
 * daemon: a call that never returns does not keep the process.
 *
 * @param <T> what a call gives
 */
final class Lane<T> implements AutoCloseable {

    /** The driver's code runs on it, whatever small stacks the JVM was told to give its own threads. */
    private static final long STACK_BYTES = 1 << 20;

    private final ExecutorService thread;
    private final LongSupplier nanoTime;
    private @Nullable Future<T> out;
    private long sinceNs;

    Lane(String name, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.thread = Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(null, task, name, STACK_BYTES);
            thread.setDaemon(true);
            return thread;
        });
    }

    void start(Callable<T> call) {
        if (busy()) {
            throw new IllegalStateException("a call is still out");
        }
        sinceNs = nanoTime.getAsLong();
        out = thread.submit(call);
    }

    boolean busy() {
        return out != null && !out.isDone();
    }

    /** How long the present call has been out, ms. */
    long outForMs() {
        return TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - sinceNs);
    }

    /**
     * Waits until the call is back, at most so long; null where it is still out or none was started. An answer is given
     * once.
     */
    @Nullable
    T await(long nanos) {
        Future<T> waitedFor = out;
        if (waitedFor == null) {
            return null;
        }
        try {
            T answer = waitedFor.get(Math.max(0, nanos), TimeUnit.NANOSECONDS);
            out = null;
            return answer;
        } catch (TimeoutException e) {
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        } catch (ExecutionException e) {
            out = null;
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IllegalStateException("a call of NVML ended with " + cause, cause);
        }
    }

    /** Drops an answer that came too late to be of use. */
    void forgetAnswer() {
        if (!busy()) {
            out = null;
        }
    }

    @Override
    public void close() {
        thread.shutdown();
    }
}

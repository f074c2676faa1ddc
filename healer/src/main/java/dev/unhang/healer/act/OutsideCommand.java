package dev.unhang.healer.act;

import dev.unhang.healer.act.SchedulerException.Kind;
import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.timelimiter.TimeLimiter;
import io.github.resilience4j.timelimiter.TimeLimiterConfig;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Runs programs of one outside service, guarded on real time: a deadline after which the process is killed, at most
 * {@value #AT_ONCE} at once, and a breaker that opens when half of the last {@value #CALLS} calls were not answered and
 * then lets none through for {@value #OPEN_S} s. Never through a shell: arguments are passed as they are. Any thread may
 * call, and blocks no longer than the deadline.
 */
public final class OutsideCommand implements AutoCloseable {

    private static final int AT_ONCE = 4;
    private static final int CALLS = 6;
    private static final int OPEN_S = 15;

    /** A cluster of ten thousand nodes takes one megabyte. */
    private static final int MOST_BYTES = 64 << 20;

    private final String service;
    private final Duration deadline;
    private final Function<Answer, Optional<Kind>> trouble;
    private final UnaryOperator<Map<String, String>> environment;
    private final CircuitBreaker breaker;
    private final Bulkhead bulkhead;
    private final TimeLimiter limiter;
    private final ExecutorService readers;

    /** How a program ended, and what it printed. */
    public record Answer(int status, String out, String err) {}

    /**
     * For one service.
     *
     * @param service its name, for people
     * @param deadline of each call
     * @param trouble what it means when an answer only says that the service gave none; empty for a real answer
     * @param environment changes the variables that a program sees; given ours
     */
    public OutsideCommand(
            String service,
            Duration deadline,
            Function<Answer, Optional<Kind>> trouble,
            UnaryOperator<Map<String, String>> environment) {
        this.service = service;
        this.deadline = deadline;
        this.trouble = trouble;
        this.environment = environment;
        this.breaker = CircuitBreaker.of(
                service,
                CircuitBreakerConfig.custom()
                        .slidingWindowSize(CALLS)
                        .minimumNumberOfCalls(CALLS / 2)
                        .failureRateThreshold(50)
                        .waitDurationInOpenState(Duration.ofSeconds(OPEN_S))
                        .permittedNumberOfCallsInHalfOpenState(1)
                        .build());
        this.bulkhead = Bulkhead.of(
                service,
                BulkheadConfig.custom()
                        .maxConcurrentCalls(AT_ONCE)
                        .maxWaitDuration(Duration.ZERO)
                        .build());
        this.limiter = TimeLimiter.of(
                TimeLimiterConfig.custom().timeoutDuration(deadline).build());
        this.readers = Executors.newCachedThreadPool(work -> {
            Thread thread = new Thread(work, service + "-output");
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * Runs a program to its end; a status other than 0 is an answer.
     *
     * @throws SchedulerException UNREACHABLE when nothing was asked or nobody answered, UNKNOWN when the deadline passed
     */
    public Answer run(List<String> command) throws SchedulerException {
        if (!bulkhead.tryAcquirePermission()) {
            throw new SchedulerException(
                    Kind.UNREACHABLE, service + " is not asked: " + AT_ONCE + " calls wait for its answer already");
        }
        try {
            return throughBreaker(command);
        } finally {
            bulkhead.onComplete();
        }
    }

    private Answer throughBreaker(List<String> command) throws SchedulerException {
        if (!breaker.tryAcquirePermission()) {
            throw new SchedulerException(
                    Kind.UNREACHABLE,
                    service + " is not asked: half of the last calls were not answered, so it is left alone for "
                            + OPEN_S + " s");
        }
        try {
            Answer answer = withinDeadline(command);
            Optional<Kind> nobody = trouble.apply(answer);
            if (nobody.isPresent()) {
                throw new SchedulerException(
                        nobody.get(), service + " does not answer: " + command.get(0) + " says: " + words(answer));
            }
            breaker.onSuccess(0, TimeUnit.NANOSECONDS);
            return answer;
        } catch (SchedulerException e) {
            breaker.onError(0, TimeUnit.NANOSECONDS, e);
            throw e;
        } catch (InterruptedException e) {
            breaker.releasePermission();
            Thread.currentThread().interrupt();
            throw new SchedulerException(Kind.UNKNOWN, "this healer stops while it waits for " + command.get(0), e);
        }
    }

    private Answer withinDeadline(List<String> command) throws SchedulerException, InterruptedException {
        Process process;
        try {
            ProcessBuilder builder = new ProcessBuilder(command);
            Map<String, String> seen = environment.apply(Map.copyOf(builder.environment()));
            builder.environment().clear();
            builder.environment().putAll(seen);
            process = builder.start();
        } catch (IOException e) {
            throw new SchedulerException(
                    Kind.UNREACHABLE,
                    service + " cannot be asked: " + command.get(0) + " does not start (" + e.getMessage()
                            + "). Install the client of " + service + " beside the healer, or name its folder",
                    e);
        }
        try {
            return limiter.executeFutureSupplier(() -> answer(process));
        } catch (TimeoutException e) {
            throw new SchedulerException(
                    Kind.UNKNOWN,
                    command.get(0) + " did not end within " + deadline.toSeconds()
                            + " s and was killed; what it asked for may be done or not",
                    e);
        } catch (ExecutionException e) {
            throw new SchedulerException(
                    Kind.UNKNOWN,
                    "what " + command.get(0) + " says cannot be read: "
                            + (e.getCause() == null ? e : e.getCause()).getMessage(),
                    e);
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("the time limiter throws nothing else", e);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private CompletableFuture<Answer> answer(Process process) {
        CompletableFuture<String> out = CompletableFuture.supplyAsync(() -> text(process.getInputStream()), readers);
        CompletableFuture<String> err = CompletableFuture.supplyAsync(() -> text(process.getErrorStream()), readers);
        return process.onExit()
                .thenCombine(out, (ended, said) -> said)
                .thenCombine(err, (said, complained) -> new Answer(process.exitValue(), said, complained));
    }

    private static String text(InputStream stream) {
        try (stream) {
            byte[] bytes = stream.readNBytes(MOST_BYTES + 1);
            if (bytes.length > MOST_BYTES) {
                throw new CompletionException(new IOException("it is more than " + (MOST_BYTES >> 20) + " MiB"));
            }
            return new String(bytes, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What a program complains of, in one line. */
    public static String words(Answer answer) {
        String said =
                (answer.err().isBlank() ? answer.out() : answer.err()).strip().replaceAll("\\s*\\n\\s*", "; ");
        String shown = said.length() > 500 ? said.substring(0, 500) + "..." : said;
        return shown.isEmpty() ? "nothing, and ended with status " + answer.status() : shown;
    }

    @Override
    public void close() {
        readers.shutdownNow();
    }
}

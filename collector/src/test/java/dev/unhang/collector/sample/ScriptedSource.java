package dev.unhang.collector.sample;

import dev.unhang.collector.source.Source;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

/** A source that does as it is told; counts its calls. */
final class ScriptedSource implements Source {

    /** What the next read does. */
    interface Script {
        Reading read() throws IOException;
    }

    volatile Script script;
    final AtomicInteger calls = new AtomicInteger();
    final AtomicInteger closed = new AtomicInteger();
    private final String name;

    ScriptedSource(String name, Script script) {
        this.name = name;
        this.script = script;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Duration deadline() {
        return Duration.ofMillis(800);
    }

    @Override
    public Reading read() throws IOException {
        calls.incrementAndGet();
        return script.read();
    }

    @Override
    public void close() {
        closed.incrementAndGet();
    }

    /** Waits on what a test holds; an interrupt ends it as an error of the source. */
    static <T> T waitFor(Callable<T> what) throws IOException {
        try {
            return what.call();
        } catch (Exception e) {
            throw new IOException(e);
        }
    }
}

package dev.unhang.healer.actuator.action;

import dev.unhang.healer.actuator.process.NodeProcesses;
import dev.unhang.healer.actuator.process.ProcessStat;
import dev.unhang.healer.command.ProcessName;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Real processes of a test, which end with it. */
final class Children implements AutoCloseable {

    static final Path PROC = Path.of("/proc");
    static final NodeProcesses NODE = new NodeProcesses(PROC);

    private final List<Process> started = new ArrayList<>();

    /** A child that says {@code ready} once it runs what it should run. */
    Process start(Map<String, String> environment, String script) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("sh", "-c", script);
        builder.environment().putAll(environment);
        Process child = builder.start();
        started.add(child);
        while (child.getInputStream().read() != '\n') {
            if (!child.isAlive()) {
                throw new IOException("the child ended with " + child.exitValue());
            }
        }
        return child;
    }

    static ProcessName name(Process child) throws IOException {
        ProcessStat stat = NODE.stat((int) child.pid()).orElseThrow();
        return new ProcessName(NODE.bootId(), stat.pid(), stat.startTicks());
    }

    /** Returns once the kernel shows it in state T. */
    static void stop(Process child) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-STOP", Long.toString(child.pid())).start().waitFor();
        for (int i = 0; i < 500; i++) {
            if (NODE.stat((int) child.pid()).orElseThrow().stopped()) {
                return;
            }
            TimeUnit.MILLISECONDS.sleep(10);
        }
        throw new IllegalStateException("it does not stop");
    }

    @Override
    public void close() {
        started.forEach(child -> child.descendants().forEach(ProcessHandle::destroyForcibly));
        started.forEach(Process::destroyForcibly);
    }
}

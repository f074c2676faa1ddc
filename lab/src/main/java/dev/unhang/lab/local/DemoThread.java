package dev.unhang.lab.local;

import dev.unhang.lab.TracePlayer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;

/** Plays one trace beside the machine, at the trace's own pace, on a thread of its own. */
final class DemoThread {

    private final Thread thread;

    DemoThread(Path trace, String servers, Consumer<String> say) {
        this.thread = new Thread(
                () -> {
                    try (TracePlayer player = new TracePlayer(servers)) {
                        say.accept("playing " + trace);
                        player.play(trace);
                        say.accept("the trace has ended, and its nodes have said goodbye");
                    } catch (IOException e) {
                        say.accept("the trace cannot be played: " + e.getMessage());
                    } catch (InterruptedException e) {
                        say.accept("the trace was stopped");
                    }
                },
                "demo");
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    void end() throws InterruptedException {
        thread.interrupt();
        thread.join(5_000);
    }
}

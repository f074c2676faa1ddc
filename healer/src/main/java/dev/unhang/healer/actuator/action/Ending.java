package dev.unhang.healer.actuator.action;

import dev.unhang.healer.actuator.process.NodeProcesses;
import dev.unhang.healer.actuator.process.ProcessStat;
import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.command.ProcessName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Ends processes: SIGTERM, a wait, SIGKILL. One in state T gets SIGKILL at once, since it would see no SIGTERM before it
 * goes on. On the worker's thread.
 */
final class Ending {

    /** A process that is killed and there after this long is held by the kernel. */
    private static final Duration AFTER_KILL = Duration.ofSeconds(5);

    private static final Duration LOOK_EACH = Duration.ofMillis(50);

    private final NodeProcesses node;
    private final Programs programs;
    private final Duration patience;

    /** @param patience between SIGTERM and SIGKILL */
    Ending(NodeProcesses node, Programs programs, Duration patience) {
        this.node = node;
        this.programs = programs;
        this.patience = patience;
    }

    End run(List<ProcessName> processes, long deadlineNs, BooleanSupplier cancelled) {
        List<String> story = new ArrayList<>();
        List<ProcessName> asked = new ArrayList<>();
        for (ProcessName process : processes) {
            Optional<ProcessStat> stat = node.living(process);
            boolean kill = stat.isPresent() && stat.get().stopped();
            boolean sent = stat.isPresent() && node.signal(process, kill);
            story.add((stat.isEmpty() ? "process " + process.pid() : stat.get().shown())
                    + (sent
                            ? kill ? " stood in state T and was killed" : " was told to end"
                            : " had ended, or may not be signalled"));
            if (sent && !kill) {
                asked.add(process);
            }
        }
        long latestKill = deadlineNs - AFTER_KILL.toNanos();
        await(asked, Math.min(programs.nanos() + patience.toNanos(), latestKill), cancelled);
        for (ProcessName process : asked) {
            node.living(process).ifPresent(stat -> {
                node.signal(process, true);
                story.add(stat.shown() + " did not end within " + patience.toSeconds() + " s and was killed");
            });
        }
        await(processes, programs.nanos() + AFTER_KILL.toNanos(), () -> false);
        List<String> left = processes.stream()
                .map(node::living)
                .flatMap(Optional::stream)
                .map(stat -> stat.shown() + " is still there in state " + stat.state())
                .toList();
        String told = String.join("; ", story);
        if (left.isEmpty()) {
            return End.done(told);
        }
        String still = told + "; " + String.join(", ", left);
        return left.stream().anyMatch(each -> each.endsWith(" D"))
                ? End.timedOut(still + ": the kernel holds it, and it ends when the kernel lets go")
                : End.failed(still);
    }

    private void await(List<ProcessName> processes, long untilNs, BooleanSupplier cancelled) {
        while (programs.nanos() < untilNs
                && !cancelled.getAsBoolean()
                && processes.stream().anyMatch(process -> node.living(process).isPresent())) {
            programs.pause(LOOK_EACH);
        }
    }
}

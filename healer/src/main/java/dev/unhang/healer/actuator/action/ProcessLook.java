package dev.unhang.healer.actuator.action;

import dev.unhang.healer.actuator.process.NodeProcesses;
import dev.unhang.healer.actuator.process.ProcessStat;
import dev.unhang.healer.actuator.process.SystemCall;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Ran;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What a process is at: state, wait channel, kernel stack, a count of its threads by state and wait channel and by system
 * call, the GPU and network devices that it holds, and py-spy's Python stacks where that is installed. Reads only: py-spy is
 * asked not to pause the process. No environment and no command line is among it.
 */
final class ProcessLook {

    private static final int LONGEST = 16 << 10;
    private static final Duration PY_SPY = Duration.ofSeconds(10);

    private final NodeProcesses node;
    private final Programs programs;
    private final String pySpy;

    ProcessLook(NodeProcesses node, Programs programs, String pySpy) {
        this.node = node;
        this.programs = programs;
        this.pySpy = pySpy;
    }

    /** By name; what cannot be read is left out. */
    Map<String, String> at(int pid) {
        Map<String, String> found = new LinkedHashMap<>();
        node.stat(pid).ifPresent(stat -> found.put("state", String.valueOf(stat.state())));
        for (String file : List.of("wchan", "stack")) {
            node.text(pid, file, LONGEST).filter(text -> !text.isEmpty()).ifPresent(text -> found.put(file, text));
        }
        String threads = threads(pid);
        if (!threads.isEmpty()) {
            found.put("threads", threads);
        }
        String calls = calls(pid);
        if (!calls.isEmpty()) {
            found.put("calls", calls);
        }
        List<String> devices = node.devices(pid).stream()
                .filter(path -> path.startsWith("/dev/nvidia") || path.startsWith("/dev/infiniband"))
                .toList();
        if (!devices.isEmpty()) {
            found.put("devices", String.join(" ", devices));
        }
        python(pid).ifPresent(stacks -> found.put("python", stacks));
        return found;
    }

    /** As {@code 12 S futex_wait_queue, 1 D nvidia_ioctl}. */
    private String threads(int pid) {
        Map<String, Integer> counts = new TreeMap<>();
        for (int thread : node.threads(pid)) {
            String task = "task/" + thread + "/";
            Optional<Character> state = node.text(pid, task + "stat", 4096).flatMap(ProcessLook::state);
            String wchan = node.text(pid, task + "wchan", 128).orElse("");
            state.ifPresent(letter -> counts.merge(letter + " " + wchan, 1, Integer::sum));
        }
        return counts.entrySet().stream()
                .map(each -> each.getValue() + " " + each.getKey().strip())
                .collect(Collectors.joining(", "));
    }

    /** As {@code 1 fsync of a file, 11 futex}. */
    private String calls(int pid) {
        Map<String, Integer> counts = new TreeMap<>();
        for (int thread : node.threads(pid)) {
            node.text(pid, "task/" + thread + "/syscall", 256)
                    .flatMap(text -> SystemCall.parse(text, System.getProperty("os.arch", "")))
                    .ifPresent(call -> counts.merge(words(pid, call), 1, Integer::sum));
        }
        return counts.entrySet().stream()
                .map(each -> each.getValue() + " " + each.getKey())
                .collect(Collectors.joining(", "));
    }

    private String words(int pid, SystemCall call) {
        return call.descriptor() < 0
                ? call.name()
                : node.descriptor(pid, call.descriptor())
                        .map(kind -> call.name() + " of " + kind)
                        .orElse(call.name());
    }

    private static Optional<Character> state(String stat) {
        int close = stat.lastIndexOf(')');
        return close > 0 && close + 2 < stat.length() ? Optional.of(stat.charAt(close + 2)) : Optional.empty();
    }

    private Optional<String> python(int pid) {
        Optional<ProcessStat> stat = node.stat(pid);
        if (pySpy.isEmpty() || stat.isEmpty()) {
            return Optional.empty();
        }
        Ran ran = programs.run(PY_SPY, List.of(pySpy, "dump", "--nonblocking", "--pid", Integer.toString(pid)));
        return ran.ok() ? Optional.of(stacksOnly(ran.output())) : Optional.empty();
    }

    /** Without py-spy's first lines: they hold the command line, and users put secrets there too. */
    static String stacksOnly(String output) {
        String stacks =
                output.lines().dropWhile(line -> !line.startsWith("Thread ")).collect(Collectors.joining("\n"));
        return stacks.length() <= LONGEST ? stacks : stacks.substring(0, LONGEST);
    }
}

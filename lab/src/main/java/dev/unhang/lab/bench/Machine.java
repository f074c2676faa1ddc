package dev.unhang.lab.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** What a reader must know of the machine to judge a figure. */
final class Machine {

    private static final Path CPUS = Path.of("/proc/cpuinfo");
    private static final Path LOAD = Path.of("/proc/loadavg");

    private Machine() {}

    /** Cores, processor, JDK, and how busy the machine is now. */
    static String describe() throws IOException {
        return String.format(
                Locale.ROOT,
                "%d cores (%s), Java %s, load %s",
                Runtime.getRuntime().availableProcessors(),
                model(Files.readAllLines(CPUS)),
                Runtime.version().feature(),
                load());
    }

    /** Processes that ran or waited to run, on average over the last minute. */
    static String load() throws IOException {
        return Files.readString(LOAD).split(" ", 2)[0];
    }

    /** The first processor's name; {@code unknown} on an architecture whose list has none. */
    static String model(List<String> cpuinfo) {
        for (String line : cpuinfo) {
            if (line.startsWith("model name")) {
                return line.substring(line.indexOf(':') + 1).strip();
            }
        }
        return "unknown";
    }
}

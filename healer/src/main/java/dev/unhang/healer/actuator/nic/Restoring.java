package dev.unhang.healer.actuator.nic;

import dev.unhang.healer.actuator.nic.Snapshot.Part;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Ran;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Puts back what a network lacks, looks again, and goes on until it is as it was or time is up. May run beside another
 * that does the same. On the worker's thread.
 */
final class Restoring {

    private static final Duration ONE_COMMAND = Duration.ofSeconds(10);
    private static final Duration BETWEEN = Duration.ofMillis(300);

    /** Duplicate address detection takes a second or two; after that the kernel has made what it makes by itself. */
    private static final Duration KERNELS_OWN = Duration.ofSeconds(4);

    private final Programs programs;
    private final SnapshotReader reader;
    private final LongSupplier upSeconds;

    /** @param upSeconds seconds since boot */
    Restoring(Programs programs, LongSupplier upSeconds) {
        this.programs = programs;
        this.reader = new SnapshotReader(programs);
        this.upSeconds = upSeconds;
    }

    /**
     * How it ended.
     *
     * @param carrier whether the port has a carrier
     * @param differences what is not as it was; empty when all is
     * @param failures commands that failed, with ip's words
     */
    record Outcome(boolean carrier, List<String> differences, List<String> failures) {

        Outcome {
            differences = List.copyOf(differences);
            failures = List.copyOf(failures);
        }

        boolean restored() {
            return differences.isEmpty();
        }
    }

    /** The first few of what is missing, with what ip said to it. */
    static String told(Outcome outcome) {
        List<String> all = new ArrayList<>(outcome.differences());
        all.addAll(outcome.failures());
        return String.join("; ", all.subList(0, Math.min(6, all.size()))) + (all.size() > 6 ? "; and more" : "");
    }

    /**
     * @param patience how long to try
     * @param forCarrier how long to wait for a carrier, which is part of {@code patience}
     */
    Outcome run(Snapshot saved, DeviceStack stack, long savedAtUpSeconds, Duration patience, Duration forCarrier) {
        long start = programs.nanos();
        Outcome last = new Outcome(false, List.of("nothing could be read"), List.of());
        while (true) {
            long spent = programs.nanos() - start;
            List<String> failures = new ArrayList<>();
            try {
                last = round(saved, stack, savedAtUpSeconds, spent > KERNELS_OWN.toNanos(), failures);
            } catch (IOException e) {
                last = new Outcome(false, List.of(String.valueOf(e.getMessage())), failures);
            }
            boolean wantsCarrier = !last.carrier() && spent < forCarrier.toNanos();
            if ((last.restored() && !wantsCarrier) || spent > patience.toNanos()) {
                return last;
            }
            programs.pause(BETWEEN);
        }
    }

    private Outcome round(Snapshot saved, DeviceStack stack, long savedAt, boolean late, List<String> failures)
            throws IOException {
        Snapshot now = reader.read();
        long elapsed = Math.max(0, upSeconds.getAsLong() - savedAt);
        for (PutBack.Step step : new PutBack(saved, now, stack, elapsed).steps(late)) {
            Ran ran = programs.run(ONE_COMMAND, step.command());
            if (!ran.ok() && !ran.text().contains("File exists")) {
                failures.add("'" + String.join(" ", step.command()) + "': " + ran.why());
            }
        }
        now = reader.read();
        boolean carrier = Links.named(now.part(Part.LINKS), stack.port())
                .map(link -> Links.has(link, "LOWER_UP"))
                .orElse(false);
        return new Outcome(carrier, new PutBack(saved, now, stack, elapsed).differences(carrier), failures);
    }
}

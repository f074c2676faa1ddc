package dev.unhang.lab;

import dev.unhang.healer.actuator.nic.BounceNic;
import dev.unhang.healer.actuator.nic.NicSettings;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Ran;
import dev.unhang.healer.actuator.repair.RealPrograms;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * The repair of a NIC as a process of its own, so that a test can kill it in the middle: {@code bounce STATE NIC BROKERS
 * [WORDS]} or {@code restore STATE}. It says {@code STOPPED} and waits for ever before the first command that contains
 * WORDS.
 */
public final class BounceProcess {

    private BounceProcess() {}

    public static void main(String[] args) {
        Programs programs = new StoppingBefore(args.length > 4 && !args[4].isEmpty() ? args[4] : "no such command");
        List<String> brokers = args.length > 3 && !args[3].isEmpty() ? List.of(args[3].split(",")) : List.of();
        BounceNic repair = new BounceNic(
                programs, new NicSettings(Path.of(args[1]), brokers, Path.of("/proc"), Path.of("/sys"), false));
        if ("restore".equals(args[0])) {
            System.out.println("RESTORED " + repair.restoreAtStart().orElse("nothing"));
        } else {
            var end = repair.run("nic-fault-0a1b2c3d-1", args[2]);
            System.out.println(end.how() + " " + end.detail());
        }
    }

    private record StoppingBefore(String words, Programs real) implements Programs {

        StoppingBefore(String words) {
            this(words, new RealPrograms(System::nanoTime));
        }

        @Override
        public Ran run(Duration deadline, List<String> command) {
            if (String.join(" ", command).contains(words)) {
                System.out.println("STOPPED");
                System.out.flush();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            return real.run(deadline, command);
        }

        @Override
        public void pause(Duration duration) {
            real.pause(duration);
        }

        @Override
        public long nanos() {
            return real.nanos();
        }
    }
}

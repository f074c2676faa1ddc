package dev.unhang.healer.actuator.action;

import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.Offer;
import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Ran;
import dev.unhang.healer.actuator.repair.Repair;
import dev.unhang.healer.command.Action;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Restarts nvidia-persistenced, and looks for up to 30 s whether persistence mode is on at each GPU. */
public final class RestartPersistenced implements Repair {

    private static final String UNIT = "nvidia-persistenced.service";
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration QUESTION = Duration.ofSeconds(10);
    private static final Duration LOOK_EACH = Duration.ofSeconds(1);

    private final Programs programs;
    private final Unit unit;
    private final String nvidiaSmi;

    public RestartPersistenced(Programs programs, String systemctl, String nvidiaSmi) {
        this.programs = programs;
        this.unit = new Unit(programs, systemctl, UNIT);
        this.nvidiaSmi = nvidiaSmi;
    }

    @Override
    public Action action() {
        return Action.RESTART_PERSISTENCED;
    }

    @Override
    public Optional<String> refusal(Offer offer) {
        return unit.refusal();
    }

    @Override
    public End run(Offer offer, long deadlineNs, BooleanSupplier cancelled) {
        Optional<String> refusal = refusal(offer);
        if (refusal.isPresent()) {
            return End.refused(refusal.get());
        }
        End restarted = unit.restart(deadlineNs);
        if (restarted.how() != ActionEnd.ACTION_DONE) {
            return restarted;
        }
        long until = Math.min(programs.nanos() + PATIENCE.toNanos(), deadlineNs);
        String seen = "";
        do {
            Ran asked =
                    programs.run(QUESTION, List.of(nvidiaSmi, "--query-gpu=persistence_mode", "--format=csv,noheader"));
            seen = asked.ok() ? "persistence mode is " + asked.output().strip().replace("\n", ", ") : asked.why();
            if (asked.ok() && enabled(asked.output())) {
                return End.done(restarted.detail() + "; persistence mode is on at every GPU");
            }
            programs.pause(LOOK_EACH);
        } while (programs.nanos() < until && !cancelled.getAsBoolean());
        return End.failed(restarted.detail() + ", but " + seen);
    }

    /** One line a GPU, as nvidia-smi prints them. */
    static boolean enabled(String output) {
        return !output.isBlank() && output.lines().allMatch(line -> line.strip().equals("Enabled"));
    }
}

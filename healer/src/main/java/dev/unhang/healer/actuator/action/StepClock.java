package dev.unhang.healer.actuator.action;

import dev.unhang.events.v1.Offer;
import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Ran;
import dev.unhang.healer.actuator.repair.Repair;
import dev.unhang.healer.command.Action;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.BooleanSupplier;

/**
 * Has chrony correct the clock at once. Only a chronyd that follows a source may: the others would step to nowhere.
 * Source of figures: {@code chronyc -c tracking}, 14 fields, of which the fifth is what is still to be corrected in
 * seconds and the last is the leap status.
 */
public final class StepClock implements Repair {

    private static final Duration QUESTION = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration LOOK_EACH = Duration.ofMillis(500);
    private static final double WELL_SECONDS = 0.01;

    private final Programs programs;
    private final String chronyc;

    public StepClock(Programs programs, String chronyc) {
        this.programs = programs;
        this.chronyc = chronyc;
    }

    @Override
    public Action action() {
        return Action.STEP_CLOCK;
    }

    @Override
    public Optional<String> refusal(Offer offer) {
        Ran tracking = tracking();
        if (!tracking.ok()) {
            return Optional.of("chronyc does not answer: " + tracking.why());
        }
        return offset(tracking.output()).isPresent()
                ? Optional.empty()
                : Optional.of("chronyd follows no source of time: " + tracking.why());
    }

    @Override
    public End run(Offer offer, long deadlineNs, BooleanSupplier cancelled) {
        Optional<String> refusal = refusal(offer);
        if (refusal.isPresent()) {
            return End.refused(refusal.get());
        }
        Ran stepped = programs.run(QUESTION, List.of(chronyc, "-a", "makestep"));
        if (!stepped.ok() || !stepped.output().contains("200 OK")) {
            return End.failed("chronyc makestep: " + stepped.why());
        }
        long until = Math.min(programs.nanos() + PATIENCE.toNanos(), deadlineNs);
        String seen = "";
        do {
            Ran tracking = tracking();
            OptionalDouble left = offset(tracking.output());
            seen = left.isEmpty() ? tracking.why() : String.format(Locale.ROOT, "%.6f s", left.getAsDouble());
            if (tracking.ok() && left.isPresent() && Math.abs(left.getAsDouble()) < WELL_SECONDS) {
                return End.done("the clock was stepped; " + seen + " are left to correct");
            }
            programs.pause(LOOK_EACH);
        } while (programs.nanos() < until && !cancelled.getAsBoolean());
        return End.failed("chrony took the step, but after 10 s there is still to correct: " + seen);
    }

    private Ran tracking() {
        return programs.run(QUESTION, List.of(chronyc, "-c", "tracking"));
    }

    /** Seconds still to correct; empty where chronyd is not synchronised, or the text is no tracking. */
    static OptionalDouble offset(String tracking) {
        String[] field = tracking.strip().split(",", -1);
        if (field.length < 14 || field[field.length - 1].equals("Not synchronised") || field[2].equals("0")) {
            return OptionalDouble.empty();
        }
        try {
            return OptionalDouble.of(Double.parseDouble(field[4]));
        } catch (NumberFormatException e) {
            return OptionalDouble.empty();
        }
    }
}

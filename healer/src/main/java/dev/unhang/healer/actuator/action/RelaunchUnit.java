package dev.unhang.healer.actuator.action;

import dev.unhang.events.v1.Offer;
import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Repair;
import dev.unhang.healer.command.Action;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** Restarts a systemd unit that this node's own configuration names, as the one that starts a training job. */
public final class RelaunchUnit implements Repair {

    private final Programs programs;
    private final String systemctl;
    private final Set<String> units;

    public RelaunchUnit(Programs programs, String systemctl, Set<String> units) {
        this.programs = programs;
        this.systemctl = systemctl;
        this.units = Set.copyOf(units);
    }

    @Override
    public Action action() {
        return Action.RELAUNCH_UNIT;
    }

    @Override
    public Optional<String> refusal(Offer offer) {
        String unit = offer.getParametersOrDefault("unit", "");
        return units.contains(unit)
                ? new Unit(programs, systemctl, unit).refusal()
                : Optional.of("unit '" + unit + "' is not under `units` in this node's configuration");
    }

    @Override
    public End run(Offer offer, long deadlineNs, BooleanSupplier cancelled) {
        return refusal(offer)
                .map(End::refused)
                .orElseGet(() ->
                        new Unit(programs, systemctl, offer.getParametersOrDefault("unit", "")).restart(deadlineNs));
    }
}

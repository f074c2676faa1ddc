package dev.unhang.healer.actuator.action;

import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Ran;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Restarts one systemd unit through {@code systemctl}. On the worker's thread. */
final class Unit {

    private static final Duration QUESTION = Duration.ofSeconds(5);

    private final Programs programs;
    private final String systemctl;
    private final String name;

    Unit(Programs programs, String systemctl, String name) {
        this.programs = programs;
        this.systemctl = systemctl;
        this.name = name;
    }

    /** Why systemd could not restart it; changes nothing. */
    Optional<String> refusal() {
        Ran shown = programs.run(QUESTION, List.of(systemctl, "show", "--property=LoadState", "--value", "--", name));
        if (!shown.ok()) {
            return Optional.of("systemctl does not answer: " + shown.why());
        }
        String state = shown.output().strip();
        return state.equals("loaded")
                ? Optional.empty()
                : Optional.of("systemd has no such unit: " + name + " is '" + state + "'");
    }

    /** Restarts it, and looks whether it then runs. A restart that systemd has taken up goes on without systemctl. */
    End restart(long deadlineNs) {
        Duration left = Duration.ofNanos(Math.max(0, deadlineNs - programs.nanos()));
        Ran restarted = programs.run(left, List.of(systemctl, "restart", "--", name));
        if (restarted.ending() == Ran.Ending.KILLED || restarted.ending() == Ran.Ending.HELD_BY_KERNEL) {
            return End.timedOut("systemctl restart " + name + ": " + restarted.why() + "; systemd may still be at it");
        }
        if (!restarted.ok()) {
            return End.failed("systemctl restart " + name + ": " + meaning(restarted.text()) + restarted.why());
        }
        Ran active = programs.run(QUESTION, List.of(systemctl, "is-active", "--", name));
        return active.ok()
                ? End.done(name + " was restarted and is active")
                : End.failed(name + " was restarted and is " + active.output().strip() + " now");
    }

    private static String meaning(String text) {
        return text.contains("attempted too often") || text.contains("start-limit-hit")
                ? "systemd's start limit is reached, and a person must clear it with systemctl reset-failed; "
                : "";
    }
}

package dev.unhang.healer.actuator.nic;

import dev.unhang.events.v1.Offer;
import dev.unhang.healer.actuator.nic.Snapshot.Part;
import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Ran;
import dev.unhang.healer.actuator.repair.Repair;
import dev.unhang.healer.actuator.repair.SavedFile;
import dev.unhang.healer.command.Action;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes a port down, waits 2 s, sets it up, and puts back what the kernel forgot meanwhile: routes, IPv6 addresses,
 * permanent neighbours, of the port and of what is made on it. All of it is on disk before the port goes down, a watchdog
 * outside this process puts it back if we do not, and so does the next start. On the worker's thread, one at a time.
 */
public final class BounceNic implements Repair {

    private static final Logger log = LoggerFactory.getLogger(BounceNic.class);

    private static final Duration ONE_COMMAND = Duration.ofSeconds(10);
    private static final Duration DOWN = Duration.ofSeconds(2);
    private static final Duration CARRIER = Duration.ofSeconds(30);
    private static final Duration PATIENCE = Duration.ofSeconds(45);

    /** From the start of the watchdog to the down: a process that was paused in between must not go on. */
    private static final Duration FRESH = Duration.ofSeconds(5);

    /** A saved network that the watchdog put back is not put back again after this long: the node has moved on. */
    private static final long STALE_SECONDS = 120;

    private final Programs programs;
    private final NicSettings settings;
    private final SnapshotReader reader;
    private final PortName names;
    private final Path saved;

    public BounceNic(Programs programs, NicSettings settings) {
        this.programs = programs;
        this.settings = settings;
        this.reader = new SnapshotReader(programs);
        this.names = new PortName(settings.sys());
        this.saved = settings.state().resolve(SavedBounce.FILE);
    }

    /** What is known just before: either a reason against it, or all that is needed. */
    private record Before(Snapshot network, DeviceStack stack, Optional<String> refusal) {}

    @Override
    public Action action() {
        return Action.BOUNCE_NIC;
    }

    @Override
    public Optional<String> refusal(Offer offer) {
        return refusal(offer.getParametersOrDefault("nic", ""));
    }

    /** A port that is down cannot wait: once it began, neither the deadline nor a stop of the actuator ends it. */
    @Override
    public End run(Offer offer, long deadlineNs, BooleanSupplier cancelled) {
        if (cancelled.getAsBoolean() || deadlineNs - programs.nanos() < PATIENCE.toNanos() + DOWN.toNanos()) {
            return End.refused("there is less time than the "
                    + PATIENCE.plus(DOWN).toSeconds() + " s that a bounce with all its restoring may take");
        }
        return run(offer.getCommandId(), offer.getParametersOrDefault("nic", ""));
    }

    /** Why this port must not be bounced now; empty when it may. */
    public Optional<String> refusal(String nic) {
        try {
            return before(nic).refusal();
        } catch (IOException e) {
            return Optional.of("what the port carries cannot be read: " + e.getMessage());
        } catch (IllegalArgumentException | IllegalStateException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private Before before(String nic) throws IOException {
        if (Files.exists(saved)) {
            return refused("an earlier bounce has no end yet: " + saved + " is still there");
        }
        List<String> devices = names.devices(nic);
        if (devices.size() != 1) {
            return refused(devices.isEmpty() ? "there is no port " + nic + " here" : nic + " may be any of " + devices);
        }
        String device = devices.get(0);
        Snapshot network = reader.read();
        Optional<JsonObject> link = Links.named(network.part(Part.LINKS), device);
        if (link.isEmpty()) {
            return refused("there is no device " + device + " in this network namespace");
        }
        DeviceStack stack = DeviceStack.above(device, network.part(Part.LINKS));
        Surroundings surroundings =
                new SurroundingsReader(programs, settings.proc(), settings.sys(), settings.brokers()).read(stack);
        return new Before(network, stack, Refusals.of(network, stack, link.get(), surroundings));
    }

    private static Before refused(String why) {
        return new Before(new Snapshot(Map.of()), DeviceStack.above("", List.of()), Optional.of(why));
    }

    /** Does it, and always leaves the network as it was or says what is missing. */
    public End run(String command, String nic) {
        SavedBounce bounce;
        Watchdog watchdog = new Watchdog(programs, settings.state(), settings.proc(), settings.systemd());
        try {
            Before before = before(nic);
            if (before.refusal().isPresent()) {
                return End.refused(before.refusal().get());
            }
            long upSeconds = upSeconds();
            bounce =
                    new SavedBounce(bootId(), upSeconds, command, before.stack().port(), before.network());
            bounce.write(settings.state());
            long start = programs.nanos();
            watchdog.start(command, PutBack.everything(bounce.network(), before.stack()));
            if (programs.nanos() - start > FRESH.toNanos() || !watchdog.isAlive()) {
                throw new IOException("the watchdog was ready too late, or died");
            }
        } catch (IOException e) {
            callOff();
            return End.failed("nothing was touched: " + e.getMessage());
        } catch (IllegalArgumentException | IllegalStateException e) {
            callOff();
            return End.refused(String.valueOf(e.getMessage()));
        }
        return downAndUp(bounce, watchdog);
    }

    private End downAndUp(SavedBounce bounce, Watchdog watchdog) {
        Ran down = programs.run(ONE_COMMAND, List.of("ip", "link", "set", "dev", bounce.port(), "down"));
        if (down.ok()) {
            programs.pause(DOWN);
        }
        Ran up = programs.run(ONE_COMMAND, List.of("ip", "link", "set", "dev", bounce.port(), "up"));
        if (up.ok()) {
            try {
                watchdog.portIsUp();
            } catch (IOException e) {
                log.warn("the watchdog will act although the port is up: {}", e.getMessage());
            }
        }
        Restoring.Outcome outcome = new Restoring(programs, this::upSeconds)
                .run(bounce.network(), bounce.stack(), bounce.upSeconds(), PATIENCE, CARRIER);
        End end = end(bounce.port(), down, up, outcome);
        return finish(outcome, end);
    }

    private static End end(String port, Ran down, Ran up, Restoring.Outcome outcome) {
        String state = outcome.restored()
                ? "addresses, routes, neighbours and rules are as before"
                : "not all is as before: " + Restoring.told(outcome);
        if (!down.ok()) {
            return End.failed(port + " could not be taken down (" + down.why() + "); " + state);
        }
        if (!up.ok()) {
            return End.failed(port + " could not be set up (" + up.why() + "); " + state);
        }
        if (!outcome.carrier()) {
            return End.failed(port + " was down for 2 s and has no carrier 30 s after it was set up; " + state);
        }
        return outcome.restored()
                ? End.done(port + " was down for 2 s and has a carrier again; " + state)
                : End.failed(port + " was down for 2 s and has a carrier again, but " + state);
    }

    /** What was not put back is kept for a person, where no start takes it for an open bounce. */
    private End finish(Restoring.Outcome outcome, End end) {
        if (outcome.restored()) {
            callOff();
            return end;
        }
        Path kept = settings.state().resolve("nic-bounce-not-restored.json");
        try {
            SavedFile.write(kept, Files.readString(saved));
        } catch (IOException e) {
            log.warn("the saved network could not be kept: {}", e.getMessage());
        }
        callOff();
        return new End(end.how(), end.detail() + "; what was saved is in " + kept);
    }

    /** Ends the bounce: the watchdog stops and no start restores it. */
    private void callOff() {
        try {
            SavedFile.delete(saved);
        } catch (IOException e) {
            log.error(
                    "{} cannot be deleted ({}): the watchdog and the next start will put back what it holds",
                    saved,
                    e.getMessage());
        }
    }

    /**
     * Puts back what a bounce of an earlier start left, if one did.
     */
    @Override
    public Optional<String> restoreAtStart() {
        Optional<SavedBounce> left;
        try {
            left = SavedBounce.in(settings.state());
        } catch (IOException e) {
            return Optional.of("the network of an unfinished bounce cannot be put back: " + e.getMessage());
        }
        if (left.isEmpty()) {
            return Optional.empty();
        }
        SavedBounce bounce = left.get();
        String which = "the bounce of " + bounce.port() + " (command " + bounce.command() + ") was left unfinished";
        if (!bounce.bootId().equals(bootId())) {
            callOff();
            return Optional.of(which + " before the node booted again; nothing of it is left to put back");
        }
        long restoredAt = Watchdog.restoredAt(settings.state());
        if (restoredAt >= 0 && upSeconds() - restoredAt > STALE_SECONDS) {
            callOff();
            return Optional.of(which + "; the watchdog put the network back " + (upSeconds() - restoredAt)
                    + " s ago, and nothing was touched now");
        }
        Restoring.Outcome outcome = new Restoring(programs, this::upSeconds)
                .run(bounce.network(), bounce.stack(), bounce.upSeconds(), PATIENCE, Duration.ofSeconds(5));
        End end = finish(
                outcome,
                outcome.restored()
                        ? End.done(which + "; its network is as before again")
                        : End.failed(which + "; its network is not as before: " + Restoring.told(outcome)));
        return Optional.of(end.detail());
    }

    private String bootId() {
        try {
            return Files.readString(settings.proc().resolve("sys/kernel/random/boot_id"))
                    .strip();
        } catch (IOException e) {
            throw new IllegalStateException("the boot id cannot be read: " + e.getMessage(), e);
        }
    }

    private long upSeconds() {
        try {
            String uptime = Files.readString(settings.proc().resolve("uptime"));
            return Long.parseLong(uptime.substring(0, uptime.indexOf('.')));
        } catch (IOException e) {
            throw new IllegalStateException("the time since boot cannot be read: " + e.getMessage(), e);
        }
    }
}

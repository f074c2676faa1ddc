package dev.unhang.healer.actuator.gpu;

import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.Offer;
import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.OpenFiles;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Ran;
import dev.unhang.healer.actuator.repair.Repair;
import dev.unhang.healer.actuator.repair.SavedFile;
import dev.unhang.healer.command.Action;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Resets a GPU that nobody uses. Who only watches it lets go first: configured units are stopped, the collector is asked,
 * persistence mode is switched off. All of that is on disk before, and is given back on every path, by the next start if
 * this process dies. On the worker's thread, one at a time.
 */
public final class ResetGpu implements Repair {

    private static final Duration LEASE = Duration.ofMinutes(10);
    private static final Duration TO_LET_GO = Duration.ofSeconds(10);
    private static final Duration LOOK = Duration.ofMillis(500);

    private final Programs programs;
    private final GpuSettings settings;
    private final NvidiaTools tools;
    private final Holders holders;
    private final CollectorLease lease;
    private final Path saved;

    public ResetGpu(Programs programs, GpuSettings settings) {
        this.programs = programs;
        this.settings = settings;
        this.tools = new NvidiaTools(programs);
        this.holders = new Holders(tools, settings);
        this.lease = new CollectorLease(settings.collectorSocket());
        this.saved = settings.state().resolve(SavedReset.FILE);
    }

    @Override
    public Action action() {
        return Action.RESET_GPU;
    }

    @Override
    public Optional<String> refusal(Offer offer) {
        return refusal(offer.getParametersOrDefault("gpu", ""));
    }

    /** A reset that was begun is not broken off: what it leaves is worse than what it found. */
    @Override
    public End run(Offer offer, long deadlineNs, BooleanSupplier cancelled) {
        if (cancelled.getAsBoolean()
                || deadlineNs - programs.nanos()
                        < settings.deadline().plus(TO_LET_GO).toNanos()) {
            return End.refused("there is less time than the "
                    + settings.deadline().plus(TO_LET_GO).toSeconds() + " s that a reset may take");
        }
        return run(offer.getCommandId(), offer.getParametersOrDefault("gpu", ""));
    }

    /** Why this GPU must not be reset now; empty when it may. */
    public Optional<String> refusal(String uuid) {
        try {
            String why = target(uuid).refusal();
            return why.isEmpty() ? Optional.empty() : Optional.of(why);
        } catch (IOException | IllegalArgumentException | IllegalStateException e) {
            return Optional.of("whether it may be reset cannot be told: " + e.getMessage());
        }
    }

    private ResetTarget target(String uuid) throws IOException {
        if (Files.exists(saved)) {
            return new ResetTarget(Map.of(), "an earlier reset has no end yet: " + saved + " is still there");
        }
        ResetTarget target = ResetTarget.find(uuid, tools, settings);
        if (!target.refusal().isEmpty()) {
            return target;
        }
        List<String> strangers = holders.strangers(target);
        if (!strangers.isEmpty()) {
            return new ResetTarget(Map.of(), "in use by " + String.join(", ", strangers));
        }
        return target;
    }

    /** Does it, and gives back whatever had to let go. */
    public End run(String command, String uuid) {
        ResetTarget target;
        SavedReset before;
        try {
            target = target(uuid);
            if (!target.refusal().isEmpty()) {
                return End.refused(target.refusal());
            }
            before = new SavedReset(bootId(), command, target.uuids(), target.persistent(), activeClients(target));
            before.write(settings.state());
        } catch (IOException | IllegalArgumentException | IllegalStateException e) {
            return End.failed("nothing was touched: " + e.getMessage());
        }
        End end;
        try {
            end = resetFreed(target, before);
        } catch (IOException | IllegalArgumentException | IllegalStateException e) {
            end = End.failed("the GPU was not reset: " + e.getMessage());
        }
        List<String> notRestored = restore(before);
        if (end.how() == ActionEnd.ACTION_DONE) {
            end = verified(target);
        }
        return finish(end, notRestored);
    }

    /** Units that run now; persistenced among them when it holds one of the GPUs. */
    private List<String> activeClients(ResetTarget target) {
        List<String> units = new ArrayList<>(
                settings.clients().stream().filter(tools::isActive).toList());
        boolean persistencedHolds = holders.all(target).stream()
                .anyMatch(holder ->
                        "nvidia-persiste".equals(holder.name()) || Holders.isOf(holder, settings.persistenced()));
        if (persistencedHolds && tools.isActive(settings.persistenced())) {
            units.add(settings.persistenced());
        }
        return units;
    }

    private End resetFreed(ResetTarget target, SavedReset before) throws IOException {
        for (String unit : before.units()) {
            Ran stopped = tools.stop(unit);
            if (!stopped.ok()) {
                return End.failed("the GPU was not reset: " + unit + " could not be stopped, " + stopped.why());
            }
        }
        Optional<String> held = lease.release(LEASE);
        if (held.isPresent()) {
            return End.failed("the GPU was not reset: " + held.get());
        }
        List<String> troubles = new ArrayList<>();
        for (String gpu : before.persistent()) {
            Ran off = tools.persistence(gpu, false);
            if (!off.ok()) {
                troubles.add("persistence mode of " + gpu + " could not be switched off, " + off.why());
            }
        }
        List<String> left = left(target);
        if (!left.isEmpty()) {
            return End.failed("the GPU was not reset: it is still in use by " + String.join(", ", left));
        }
        return judged(tools.reset(target.uuids(), settings.deadline()), target, troubles);
    }

    /** Who still has it open once all have had their time to let go. Fabric Manager stays, as it must before Hopper. */
    private List<String> left(ResetTarget target) throws IOException {
        long end = programs.nanos() + TO_LET_GO.toNanos();
        while (true) {
            List<String> left = new ArrayList<>(tools.computing(target.uuids()));
            for (OpenFiles.Holder holder : holders.all(target)) {
                if (!"nv-fabricmanage".equals(holder.name()) && !Holders.isOf(holder, settings.fabricManager())) {
                    left.add(holder.shown());
                }
            }
            if (left.isEmpty() || programs.nanos() - end > 0) {
                return left;
            }
            programs.pause(LOOK);
        }
    }

    private End judged(Ran ran, ResetTarget target, List<String> troubles) {
        if (ran.ok() && !ran.text().contains("could not be reset")) {
            return End.done("");
        }
        String more = troubles.isEmpty() ? "" : "; " + String.join("; ", troubles);
        if (ran.ending() == Ran.Ending.HELD_BY_KERNEL) {
            return End.timedOut(
                    "the reset did not end within " + settings.deadline().toSeconds()
                            + " s and cannot be killed: the kernel holds it, and it may still be running; the node needs a reboot"
                            + more);
        }
        if (ran.ending() == Ran.Ending.KILLED) {
            return End.failed(
                    "the reset did not end within " + settings.deadline().toSeconds()
                            + " s and was killed; what state the GPU is in is not known" + more);
        }
        if (ran.text().contains("In use by another client") || ran.text().contains("in use by another process")) {
            List<String> names =
                    holders.all(target).stream().map(OpenFiles.Holder::shown).toList();
            return End.failed("the driver refused: in use by another client, "
                    + (names.isEmpty()
                            ? "and no process has it open; nvidia_drm or another module of the kernel may hold it"
                            : String.join(", ", names))
                    + more);
        }
        return End.failed("the driver did not reset it, "
                + GpuAnswer.trouble(ran).map(why -> why + ", ").orElse("") + ran.why() + more);
    }

    private End verified(ResetTarget target) {
        for (String gpu : target.uuids()) {
            Ran ran = tools.query(gpu);
            if (!ran.ok()) {
                return End.failed("the driver says that " + gpu + " was reset, but it cannot be read since: "
                        + GpuAnswer.trouble(ran).orElse(ran.why()));
            }
            String recovery = GpuAnswer.parse(ran.output()).recovery();
            if (!recovery.isEmpty() && !"N/A".equals(recovery) && !"None".equalsIgnoreCase(recovery)) {
                return End.failed(gpu + " was reset, and the driver still asks for '" + recovery + "'");
            }
        }
        return End.done(String.join(", ", target.uuids()) + (target.uuids().size() == 1 ? " was" : " were")
                + " reset and answers; the driver asks for nothing more");
    }

    /** Gives back what was taken, each thing whatever became of the others. What could not be given back, a sentence each. */
    private List<String> restore(SavedReset before) {
        List<String> troubles = new ArrayList<>();
        List<String> units = new ArrayList<>(before.units());
        Collections.reverse(units);
        boolean persistenced = units.remove(settings.persistenced());
        if (persistenced) {
            started(settings.persistenced(), troubles);
        }
        for (String gpu : before.persistent()) {
            Ran on = tools.persistence(gpu, true);
            if (!on.ok()) {
                troubles.add("persistence mode of " + gpu + " could not be switched on again, " + on.why());
            }
        }
        lease.giveBack().ifPresent(why -> troubles.add("the collector has not taken the GPUs again, " + why));
        units.forEach(unit -> started(unit, troubles));
        return troubles;
    }

    private void started(String unit, List<String> troubles) {
        Ran ran = tools.start(unit);
        if (!ran.ok()) {
            troubles.add(unit + " could not be started again, " + ran.why());
        }
    }

    /** What could not be given back stays saved, so that the next start tries once more. */
    private End finish(End end, List<String> notRestored) {
        if (!notRestored.isEmpty()) {
            String detail = end.detail() + "; but " + String.join("; ", notRestored);
            return end.how() == ActionEnd.ACTION_DONE ? End.failed(detail) : new End(end.how(), detail);
        }
        try {
            SavedFile.delete(saved);
        } catch (IOException e) {
            return new End(end.how(), end.detail() + "; " + saved + " cannot be deleted: " + e.getMessage());
        }
        return end;
    }

    /**
     * Gives back what a reset of an earlier start left stopped, if one did.
     */
    @Override
    public Optional<String> restoreAtStart() {
        Optional<SavedReset> left;
        try {
            left = SavedReset.in(settings.state());
        } catch (IOException e) {
            return Optional.of("what an unfinished reset stopped is not known: " + e.getMessage());
        }
        if (left.isEmpty()) {
            return Optional.empty();
        }
        String which = "the reset of " + String.join(", ", left.get().gpus()) + " (command "
                + left.get().command() + ") was left unfinished";
        List<String> troubles = left.get().bootId().equals(bootId()) ? restore(left.get()) : List.of();
        try {
            SavedFile.delete(saved);
        } catch (IOException e) {
            return Optional.of(which + "; " + saved + " cannot be deleted: " + e.getMessage());
        }
        if (!troubles.isEmpty()) {
            return Optional.of(which + "; not all could be given back: " + String.join("; ", troubles));
        }
        return Optional.of(
                left.get().bootId().equals(bootId())
                        ? which + "; units, persistence mode and the collector's lease are as before again"
                        : which + " before the node booted again; nothing of it is left to give back");
    }

    private String bootId() {
        try {
            return Files.readString(settings.proc().resolve("sys/kernel/random/boot_id"))
                    .strip();
        } catch (IOException e) {
            throw new IllegalStateException("the boot id cannot be read: " + e.getMessage(), e);
        }
    }
}

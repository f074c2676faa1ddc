package dev.unhang.healer.actuator.action;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.ProbeResult;
import dev.unhang.healer.actuator.process.NodeProcesses;
import dev.unhang.healer.actuator.repair.End;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Repair;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.command.ProcessName;
import java.time.Clock;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Reads what the named processes are at, and tells it as one {@code ProbeResult} a process. */
public final class Look implements Repair {

    private final NodeProcesses node;
    private final ProcessLook look;
    private final Programs programs;
    private final Clock clock;
    private final Consumer<Message> telemetry;

    /** @param pySpy the program; empty for none */
    public Look(NodeProcesses node, Programs programs, String pySpy, Clock clock, Consumer<Message> telemetry) {
        this.node = node;
        this.look = new ProcessLook(node, programs, pySpy);
        this.programs = programs;
        this.clock = clock;
        this.telemetry = telemetry;
    }

    @Override
    public Action action() {
        return Action.LOOK;
    }

    @Override
    public Optional<String> refusal(Offer offer) {
        return Named.of(offer, node).refusal();
    }

    @Override
    public End run(Offer offer, long deadlineNs, BooleanSupplier cancelled) {
        Named named = Named.of(offer, node);
        if (named.refusal().isPresent()) {
            return End.refused(named.refusal().get());
        }
        List<ProcessName> processes = named.processes();
        int told = 0;
        for (ProcessName process : processes) {
            if (programs.nanos() >= deadlineNs || cancelled.getAsBoolean()) {
                return End.failed("looked at " + told + " of " + processes.size() + " processes, then time was up");
            }
            Map<String, String> findings = look.at(process.pid());
            if (node.living(process).isPresent()) {
                telemetry.accept(result(offer.getCommandId(), process, findings));
                told++;
            }
        }
        return told == processes.size()
                ? End.done("looked at " + told + (told == 1 ? " process" : " processes"))
                : End.failed(
                        "looked at " + told + " of " + processes.size() + " processes, the others ended meanwhile");
    }

    private ProbeResult result(String command, ProcessName process, Map<String, String> findings) {
        Instant now = clock.instant();
        return ProbeResult.newBuilder()
                .setProbeId(command)
                .setKind("look")
                .setBootId(ByteString.copyFrom(HexFormat.of().parseHex(process.bootId())))
                .setPid(process.pid())
                .setStartTicks(process.startTicks())
                .putAllFindings(findings)
                .setWallNs(now.getEpochSecond() * 1_000_000_000L + now.getNano())
                .build();
    }
}

package dev.unhang.healer.actuator.action;

import dev.unhang.events.v1.Offer;
import dev.unhang.healer.actuator.process.NodeProcesses;
import dev.unhang.healer.command.ProcessName;
import java.util.List;
import java.util.Optional;

/** The processes that a command names, or why they are not those. */
record Named(List<ProcessName> processes, Optional<String> refusal) {

    private static final int MOST = 256;

    /** Each must be there, and be the one that is meant. */
    static Named of(Offer offer, NodeProcesses node) {
        List<ProcessName> processes;
        try {
            processes = ProcessName.parse(offer.getParametersOrDefault("processes", ""));
        } catch (IllegalArgumentException e) {
            return new Named(List.of(), Optional.of("parameter processes: " + e.getMessage()));
        }
        if (processes.size() > MOST) {
            return new Named(List.of(), Optional.of(processes.size() + " processes are more than " + MOST));
        }
        return new Named(
                processes,
                processes.stream().map(node::doubt).flatMap(Optional::stream).findFirst());
    }
}

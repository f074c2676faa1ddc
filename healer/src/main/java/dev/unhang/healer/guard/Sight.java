package dev.unhang.healer.guard;

import dev.unhang.events.v1.GpuReport;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.NicReport;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.RankReport;
import dev.unhang.events.v1.Watch;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.incident.Kinds;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.UUID;

/** Only what is seen now may be touched: read again from the last report of the node, right before the act. Stateless. */
final class Sight {

    /** A node's report is sent at least each 10 s; older than this, ms of log time, it is no sight. */
    static final long FRESH_MS = 15_000;

    private Sight() {}

    static Optional<String> blind(Question question) {
        return question.covered() ? Optional.empty() : Optional.of("its telemetry is not covered by any healer");
    }

    /** What an actuator does, it does to a node that speaks. */
    static Optional<String> stale(Question question) {
        if (question.deed() == null || question.deed().aim().executor().equals(Action.AT_SCHEDULER)) {
            return Optional.empty();
        }
        String node = question.deed().aim().executor();
        long ageMs = question.world().sightings().ageMs(node, question.world().nowMs());
        NodeReport report = question.world().sightings().report(node);
        if (report == null || ageMs > FRESH_MS) {
            return Optional.of("nothing was reported of node " + node + " within " + FRESH_MS / 1000 + " s");
        }
        boolean aboutSilence = question.incident().getKind() == IncidentKind.NODE_SILENT;
        return report.getWatch() == Watch.WATCH_SILENT && !aboutSilence
                ? Optional.of("node " + node + " is silent")
                : Optional.empty();
    }

    static Optional<String> duplicate(Question question) {
        for (String name : question.nodes()) {
            Incident duplicate =
                    question.world().ledger().openIn(Kinds.slot(IncidentKind.DUPLICATE_NODE, "node:" + name));
            if (duplicate != null) {
                return Optional.of("two machines call themselves " + name + ": " + duplicate.getId());
            }
        }
        return Optional.empty();
    }

    static Optional<String> managementNic(Question question) {
        if (question.deed() == null || question.deed().aim().action() != Action.BOUNCE_NIC) {
            return Optional.empty();
        }
        String node = question.deed().aim().executor();
        String id = question.deed().aim().parameters().getOrDefault("nic", "");
        NodeReport report = question.world().sightings().report(node);
        if (report != null) {
            for (NicReport nic : report.getNicsList()) {
                if (nic.getId().equals(id)) {
                    if (!nic.hasDefaultRoute()) {
                        return Optional.of("whether " + nic.getName() + " carries the default route is not known");
                    }
                    return nic.getDefaultRoute()
                            ? Optional.of(nic.getName() + " carries the default route of " + node)
                            : Optional.empty();
                }
            }
        }
        return Optional.of("port " + id + " is not in the last report of " + node);
    }

    static Optional<String> liveProcesses(Question question) {
        if (question.deed() == null || question.deed().aim().action() != Action.RESET_GPU) {
            return Optional.empty();
        }
        String node = question.deed().aim().executor();
        String gpu = question.deed().aim().parameters().getOrDefault("gpu", "");
        NodeReport report = question.world().sightings().report(node);
        if (report == null) {
            return Optional.of("who uses " + gpu + " is not known");
        }
        for (RankReport rank : report.getRanksList()) {
            if (rank.getGoneMs() == 0
                    && rank.getGpusList().stream().anyMatch(uuid -> gpu.equals(name(uuid.toByteArray())))) {
                return Optional.of("rank " + rank.getRank() + " (process " + rank.getPid() + ") uses " + gpu);
            }
        }
        for (GpuReport each : report.getGpusList()) {
            if (gpu.equals(name(each.getUuid().toByteArray()))) {
                return each.getPidsCount() == 0
                        ? Optional.empty()
                        : Optional.of("processes use " + gpu + ": " + each.getPidsList());
            }
        }
        return Optional.of(gpu + " is not in the last report of " + node);
    }

    /** As NVML writes it. */
    private static String name(byte[] uuid) {
        if (uuid.length != 16) {
            return "";
        }
        ByteBuffer bytes = ByteBuffer.wrap(uuid);
        return "GPU-" + new UUID(bytes.getLong(), bytes.getLong());
    }
}
